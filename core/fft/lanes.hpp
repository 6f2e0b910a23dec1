// Fast Fourier transforms of many series at once: one series in each lane of a SIMD register.
//
// A batch of n complex numbers per lane lies as z[(2 k + part) * lanes + lane], part 0 being real and 1
// imaginary: the registers of one complex number are neighbours. Every lane goes through the same operations
// in the same order, so a series has the same bits whichever lane it is in, and whichever lane count the CPU
// has.
//
// Decimation in frequency forwards and in time backwards (Gentleman and Sande 1966; Cooley and Tukey 1965),
// radix 4 with one last step of radix 2, 4 or 8: no bit reversal is needed for a convolution, where the order
// of the spectrum does not matter.
#pragma once

#include <vector>

#include "core/base/signal.hpp"

namespace convoy::fft {

/// e^(-2 pi i k / n) in double, by octant: exact at multiples of an eighth, at most 1 ulp elsewhere.
struct Turn {
    double cos, sin;  // sin is negative in the first half turn
};
Turn turn(Index k, Index n);

/// The same values from a table: for the many factors of a long transform.
class Turns {
  public:
    explicit Turns(Index n);  // a power of two
    /// turn(k, n), 0 <= k < n.
    Turn operator()(Index k) const {
        if (quarter_ == 0) return turn(k, n_);
        const double c = cos_[k % quarter_], s = cos_[quarter_ - k % quarter_];
        switch (k / quarter_) {
            case 0:
                return {c, -s};
            case 1:
                return {-s, -c};
            case 2:
                return {-c, s};
            default:
                return {s, c};
        }
    }

  private:
    Index n_, quarter_;
    std::vector<double> cos_;  // of the first quarter turn, both ends
};

/// Lanes of T that the CPU's registers hold (AVX-512: 16 float, 8 double).
template <class T>
Index simd_lanes();

/// Transforms of length n, a power of two, in each lane. Immutable once made; may be shared by threads.
/// Batches (2 n lanes() values) must be aligned to 64 bytes.
template <class T>
class LaneFft {
  public:
    explicit LaneFft(Index n);

    Index size() const { return n_; }
    Index lanes() const { return lanes_; }
    /// Values in a batch.
    Index batch() const { return 2 * n_ * lanes_; }

    /// z becomes its transform, sum_j z_j e^(-2 pi i j k / n), bin k at position `position()[k]`.
    void forward(T* z) const;
    /// The inverse of forward() from the same order, without the factor 1/n.
    void inverse(T* z) const;
    /// forward(), product with the spectra h (a batch in the order of forward()), inverse(): a circular
    /// convolution, in one walk that keeps the batch in cache.
    void convolve(T* z, const T* h) const;

    /// Factors of the passes, for code that runs the passes itself (lanes-inl.hpp).
    const T* twiddles() const { return twiddles_.data(); }

    /// Where forward() puts bin k.
    const std::vector<Index>& position() const { return position_; }

    /// Bins 0 .. n/2 of two real series each lane: z is forward() of a + i b; a and b come out as batches of
    /// n/2 + 1 complex numbers in natural order.
    void real_pair(const T* z, T* a, T* b) const;

  private:
    Index n_, lanes_;
    std::vector<T> twiddles_;  // by pass: length n, n/4, ..., for each j: w^j, w^2j, w^3j
    std::vector<Index> position_;
};

}  // namespace convoy::fft
