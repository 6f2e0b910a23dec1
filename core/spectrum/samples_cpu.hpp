// The extended samples of a few channels of a window, as rows of float or double.
#pragma once

#include "core/base/rows.hpp"
#include "core/spectrum/spectrum.hpp"

namespace convoy::spectrum {

template <class T>
class ExtendedSamples {
  public:
    explicit ExtendedSamples(const Problem& problem) : p_(problem) {}

    /// dst[r] = extended frames `span` of the window's lanes (outer, inner + r), r < rows; planar windows
    /// have inner 0 and rows 1. `lanes`: which lanes of the job the window holds. Frames beyond the signal
    /// that no transform uses may be any finite value.
    void load(const Window& in, const Lanes& lanes, Index outer, Index inner, Index rows, Span span,
              T* const* dst) const;

    /// Whether the samples of `span` can be used where they lie, which is at in.at<T>(outer, span.first).
    bool in_place(const Window& in, Span span) const;

  private:
    LaneScale scale_of(const Lanes& lanes, Index outer, Index inner) const;
    const Problem& p_;
};

}  // namespace convoy::spectrum
