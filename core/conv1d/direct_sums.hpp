// The outputs that transforms cannot promise, summed in double; and where silence ends, so that it costs
// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::conv1d {

/// Where the samples stand that are not zero; returns how many, or most + 1 where they are more than `most`,
/// and their places unknown.
template <class T>
Index nonzeros(const T* x, Index count, Index most, std::int32_t* at);

/// The first sample that is not zero; count for none.
template <class T>
Index nonzero_begin(const T* x, Index count);
/// One past the last sample that is not zero; 0 for none.
template <class T>
Index nonzero_end(const T* x, Index count);

/// The first of x[from .. count - 1] that is below `least`; count for none.
template <class T>
Index first_below(const T* x, Index from, Index count, T least);

/// Outputs that are looked at, and mended, together: a few registers of the widest.
inline constexpr Index together = 32;

/// Direct sums in double.
class DirectSums {
  public:
    explicit DirectSums(const std::vector<double>& taps);

    /// y[i] = sum_k taps[k] x[i + M-1 - k] for i < count, as sums of runs of about 2 sqrt(M) taps, so that no
    /// order of signs and sizes breaks the promise. Of the samples x[0 .. count + M - 2] only those of
    /// `nonzero` are used: the others are zero.
    template <class S>
    void run(const S* x, Span nonzero, Index count, S* y) const;

    /// The same from samples x[at[0]], x[at[1]], ... alone, the others of x[0 .. count + M - 2] being zero;
    /// count is at most `together`.
    template <class S>
    void sparse(const S* x, const std::int32_t* at, Index samples, Index count, S* y) const;
    /// The most samples for which sparse() keeps the promise.
    Index sparse_at_most() const { return run_; }

    Index taps() const { return static_cast<Index>(reversed_.size()); }

  private:
    std::vector<double> reversed_;  // oldest sample first
    std::vector<double> padded_;    // newest sample first, `together` zeros before and after
    Index run_;
};

}  // namespace convoy::conv1d
