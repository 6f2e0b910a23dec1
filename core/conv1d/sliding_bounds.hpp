// Lower bounds on what outputs sum up that are sharper than the guard's, and still far from the cost of the
// sums.
//
// The guard's segments lie at fixed places, so a weight has to hold for every way in which taps can lie over
// a segment (fft_guard.hpp). Here segments slide with the outputs, by steps of 2 or 4 samples: the same
// bound, but each weight holds for 2 or 4 ways only. Filters whose taps swing, as those of a low-pass filter
// do, gain most. Sums and largest magnitudes of sliding segments cost two steps of doubling, whatever the
// length of the signal.
#pragma once

#include <vector>

#include "core/base/signal.hpp"
#include "core/conv1d/fft_guard.hpp"

namespace convoy::conv1d {

template <class T>
class SlidingBounds {
  public:
    explicit SlidingBounds(const std::vector<double>& taps);

    /// False for filters so long that the bounds would cost as much as a transform.
    bool any() const { return !weights_.empty(); }
    /// Outputs that have a bound in common.
    Index group() const { return step_; }
    /// Room that bounds for so many outputs need.
    Index room(Index outputs) const;

    /// Looks at x[0 .. outputs + M - 2]; bounds[j] <= sum_k |h_k| |x_(i+M-1-k)| for each output i of group j.
    Level<T> look(const T* x, Index outputs, T* bounds) const;

  private:
    void take(double slack, std::vector<T> weights);

    Index taps_, step_ = 1, first_ = 1;
    T slack_ = 0;
    std::vector<T>
        weights_;  // of segments of 4 steps, the first of which begins first_ steps after the window
};

}  // namespace convoy::conv1d
