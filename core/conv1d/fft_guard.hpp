// Which outputs of an FFT block are as good as direct sums: cheap lower bounds on what each output sums up.
//
// The promise for output i is |error| <= 4 u (2 + sqrt(M)) S_i with S_i = sum_k |h_k| |x_(i+M-1-k)|. An FFT's
// rounding errors are in proportion to the whole block, so they are small enough where S_i is large enough.
// S_i itself costs as much as the filter; the guard bounds it from the sum A and the largest magnitude B of
// each segment of Q samples. Where a segment meets the taps h, for any weight w,
//
//   sum |h| |x| >= w A - sum (w - |h|)^+ B >= w (A - slack B)    if sum (1 - |h| / w)^+ <= slack,
//
// whichever samples meet whichever taps. One slack is chosen for the filter and for each distance between
// outputs and segment the largest weight that it allows.
#pragma once

#include <vector>

#include "core/base/signal.hpp"
#include "core/conv1d/direct_sums.hpp"

namespace convoy::conv1d {

/// What a stretch of samples is like.
template <class T>
struct Level {
    T peak;    // largest magnitude
    T energy;  // sum of squares; not finite where a sample is not (or its square is too large)
    T least;   // smallest lower bound among the outputs
};

/// Lower bounds of what outputs sum up, one for each `group` of them, and the smallest.
template <class T>
struct Bounds {
    const T* values;
    Index group;
    T least;
    enum How { segments, sliding, exact } how;
};

template <class T>
class Guard {
  public:
    explicit Guard(const std::vector<double>& taps);
    /// With a group of 8 to 128 outputs, a power of two.
    Guard(const std::vector<double>& taps, Index group);

    /// Outputs that have a bound in common, Q.
    Index group() const { return group_; }
    /// Room that bounds for so many outputs need.
    Index room(Index outputs) const;

    /// Looks at x[0 .. outputs + M - 2]; bounds[j] <= S_i for each output i of group j comes out in `bounds`.
    Level<T> look(const T* x, Index outputs, T* bounds) const;

    /// The smallest bound among outputs of noise of variance 1.
    double noise() const { return noise_; }

    /// What others need to do the same: bounds are sums of weights()[d] max(0, A - slack() B) over the
    /// segments first() + d past the one in which a group of outputs begins.
    const std::vector<T>& weights() const { return weights_; }
    Index first() const { return first_; }
    T slack() const { return slack_; }

  private:
    void take(double slack, std::vector<T> weights);

    Index taps_;
    double noise_ = 0;
    Index group_;
    T slack_ = 0;
    // Of segments first, first + 1, ... past the one in which the group of outputs begins.
    Index first_ = 1;
    std::vector<T> weights_;
};

/// y = |x|.
template <class T>
void magnitudes(const T* x, Index count, T* y);

/// The least of x[i] * by - less among each `together` of x, or floor[i / group] where that is more, comes
/// out in `least`; returns the smallest.
template <class T>
T lowered(const T* x, Index count, T by, T less, const T* floor, Index group, T* least);

}  // namespace convoy::conv1d
