// The outputs of a block that a transform cannot promise: which they are, what summing them would cost, and
// their sums.
#pragma once

#include <cstdint>
#include <vector>

#include "core/conv1d/direct_sums.hpp"
#include "core/conv1d/fft_guard.hpp"

namespace convoy::conv1d {

template <class S>
class Repair {
  public:
    /// Outputs i < count over the samples x[0 .. count + M - 2].
    struct Outputs {
        const S* x;
        Index count;
        std::int32_t* places;  // room() of them, to work in
    };

    explicit Repair(const std::vector<double>& taps) : sums_(taps) {}

    Index room() const { return sums_.sparse_at_most() + 1; }

    /// Products that sums for the outputs that are not guaranteed `least` take; past `most` they are not
    /// counted on.
    Index products(const Outputs& outputs, const Bounds<S>& bounds, double least, Index most) const;

    /// Sums the outputs that are not guaranteed `least` into y, which holds outputs 0, every, 2 every, ... (a
    /// power of two). False where there was nothing to sum.
    bool mend(const Outputs& outputs, const Bounds<S>& bounds, double least, Index every, S* y) const;

    /// Every `step`th output whose window holds NaN or Inf becomes what a sum would make of it; y as for
    /// mend().
    void spoil(const S* x, Index count, Index step, Index every, S* y) const;

  private:
    /// Neighbouring outputs of which one is not guaranteed what it needs: `together` of them, or, where all
    /// their windows are zero, any number.
    struct Failing {
        Index first, count;
        Span nonzero;    // of the samples of their windows: those before and after are zero
        Index samples;   // among them that are not zero, standing at `places`; -1 where they are many
        Index products;  // that summing them takes; 0 for silence only
    };
    template <class F>
    void each_failing(const Outputs& outputs, const Bounds<S>& bounds, double least, F&& f) const;
    Failing failing(const Outputs& outputs, Index first, Index count, Span nonzero) const;

    DirectSums sums_;
};

}  // namespace convoy::conv1d
