// Complex FFTs of any length, several at once: one transform a SIMD lane, so that every length is as fast as
// its arithmetic allows, and a transform's bits depend on its own samples only.
#pragma once

#include <vector>

#include "core/base/signal.hpp"

namespace convoy::fft {

/// Transforms that share one call; sample n of transform l is at [n * lanes + l].
inline constexpr Index lanes = 8;

/// X[k] = sum_n x[n] exp(-2 pi i n k / length), in natural order, for float or double. Stockham's algorithm
/// with radices 4, 2, 3, 5 and whole primes above those (the time of a prime p grows as its square).
template <class T>
class MixedRadix {
  public:
    explicit MixedRadix(Index length);
    Index length() const { return length_; }

    /// Real and imaginary parts of `lanes` transforms, each [length][lanes].
    struct Block {
        T* re;
        T* im;
    };
    /// Transforms x; both blocks, 64-byte aligned, are used up, and the one returned holds the result.
    Block forward(Block x, Block spare) const;

    /// One pass: radix r, m = (what is left of the length) / r groups of twiddles, s = stride in samples.
    struct Pass {
        Index radix, groups, stride;
        std::vector<T> twiddles;  // [groups][radix - 1] pairs of cosine and -sine
        std::vector<T> roots;     // of 1, [radix] pairs: for large primes
    };

  private:
    Index length_;
    std::vector<Pass> passes_;
};

}  // namespace convoy::fft
