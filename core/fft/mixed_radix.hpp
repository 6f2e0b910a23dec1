// Complex FFTs of any length, several at once: one transform a SIMD lane, so that every length is as fast as
// its arithmetic allows, and a transform's bits depend on its own samples only.
#pragma once

#include <vector>

#include "core/base/signal.hpp"

namespace convoy::fft {

/// X[k] = sum_n x[n] exp(-2 pi i n k / length), in natural order, for float or double. Stockham's algorithm
/// with radices 4, 2, 3, 5 and whole primes above those (the time of a prime p grows as its square).
template <class T>
class MixedRadix {
  public:
    explicit MixedRadix(Index length);
    Index length() const { return length_; }

    /// Transforms that share one call.
    static constexpr Index lanes() { return 8; }

    /// Transforms the batch z. Both batches, aligned to 64 bytes, are used up; the one returned holds the
    /// result.
    T* forward(T* z, T* spare) const;

    /// One pass: radix r, m = (what is left of the length) / r groups of twiddles, s = stride in samples.
    struct Pass {
        Index radix, groups, stride;
        std::vector<T> twiddles;  // [groups][radix - 1] pairs of cosine and -sine
        std::vector<T> roots;     // of 1, [radix] pairs: for large primes
    };

    const std::vector<Pass>& passes() const { return passes_; }

  private:
    Index length_;
    std::vector<Pass> passes_;
};

}  // namespace convoy::fft
