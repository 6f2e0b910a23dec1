// Which outputs of an FFT block are as good as direct sums: cheap lower bounds on what each output sums up.
//
// The promise for output i is |error| <= 4 u (2 + sqrt(M)) S_i with S_i = sum_k |h_k| |x_(i+M-1-k)|. An FFT's
// rounding errors are in proportion to the whole block, so they are small enough where S_i is large enough.
// S_i itself costs as much as the filter; the guard takes a few runs of 2^q neighbouring taps and, of each,
// the smallest magnitude t:
//
//   S_i >= sum over runs of t * (|x_j| + ... + |x_(j + 2^q - 1)|),
//
// where the sums of 2^q neighbours take q additions a sample. The runs are chosen once a filter.
#pragma once

#include <vector>

#include "core/base/signal.hpp"

namespace convoy::conv1d {

/// What a stretch of samples is like.
template <class T>
struct Level {
    T peak;    // largest magnitude
    T energy;  // sum of squares; not finite where a sample is not (or its square is too large)
    T least;   // smallest lower bound among the outputs
};

template <class T>
class Guard {
  public:
    explicit Guard(const std::vector<double>& taps);

    /// Values past the samples that `bounds` must have room for.
    static constexpr Index slack = 64;

    /// Looks at x[0 .. outputs + M - 2]; bounds[i] <= S_i for i < outputs comes out in `bounds` (room for
    /// outputs + M - 1 + slack).
    Level<T> look(const T* x, Index outputs, T* bounds) const;

    /// y[i] = sum_k taps[k] x[i + M-1 - k] for i < count, by direct sums in double: as runs of about
    /// 2 sqrt(M) taps, so that no order of signs and sizes breaks the promise.
    void direct(const T* x, Index count, T* y) const;

    /// sqrt(sum h^2).
    double norm() const { return norm_; }

  private:
    Index taps_;
    double norm_;
    int doublings_ = 0;  // q
    std::vector<Index> offsets_;
    std::vector<T> weights_;
    std::vector<double> reversed_;  // taps, oldest sample first
    Index run_;
};

extern template class Guard<float>;
extern template class Guard<double>;

}  // namespace convoy::conv1d
