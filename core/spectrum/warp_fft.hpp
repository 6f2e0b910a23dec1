// A complex FFT of 256, 512 or 1024 points by half a warp or a whole one: each lane keeps 16 or 32 points in
// registers, and the lanes exchange once. Plain arithmetic that the kernel and host tests share.
//
// With N = P L, n = l + L j and k = p + P q (Cooley and Tukey 1965):
//   X[p + P q] = sum_l w_L^(l q)  w_N^(l p)  sum_j w_P^(j p) x[l + L j]
// Lane l does the inner sums (P points), then lane p the outer ones (L points) of p, and of p + L where P = 2
// L.
#pragma once

#include "core/fft/registers.hpp"

namespace convoy::spectrum::gpu {

using fft::Complex;
using fft::reversed;
using fft::transform_registers;

template <class T, int N>
struct WarpFft {
    static_assert(N == 256 || N == 512 || N == 1024);
    static constexpr int lanes = N == 1024 ? 32 : 16;
    static constexpr int points = N / lanes;     // of a lane
    static constexpr int sums = points / lanes;  // outer sums of a lane
    static constexpr int exchange =
        points * (lanes + 1);  // complex numbers; the 1 keeps lanes on different banks

    /// Inner sums of the lane: a[j] = x[lane + lanes j] goes to the exchange. twiddles[p * lanes + l] =
    /// w_N^(l p).
    CONVOY_HD static void inner(Complex<T> (&a)[points], int lane, const Complex<T>* twiddles,
                                Complex<T>* to) {
        transform_registers(a);
        CONVOY_UNROLL
        for (int p = 0; p < points; ++p)
            to[p * (lanes + 1) + lane] = a[reversed(p, points)] * twiddles[p * lanes + lane];
    }

    /// Outer sums of the lane, once all lanes have written.
    CONVOY_HD static void outer(Complex<T> (&a)[sums][lanes], int lane, const Complex<T>* from) {
        CONVOY_UNROLL
        for (int s = 0; s < sums; ++s) {
            CONVOY_UNROLL
            for (int l = 0; l < lanes; ++l)
                a[s][l] = from[(lane + s * lanes) * (lanes + 1) + l];
            transform_registers(a[s]);
        }
    }

    /// Writes them in natural order, once all lanes have read.
    CONVOY_HD static void natural(const Complex<T> (&a)[sums][lanes], int lane, Complex<T>* to) {
        CONVOY_UNROLL
        for (int s = 0; s < sums; ++s)
            CONVOY_UNROLL
        for (int q = 0; q < lanes; ++q)
            to[lane + s * lanes + points * q] = a[s][reversed(q, lanes)];
    }
};

/// X[k] and X[h - k] of a real series of 2 h samples from Z[k] and Z[h - k], Z being the transform of h
/// complex numbers (even samples real, odd ones imaginary); w = exp(-i pi k / h).
template <class T>
struct Pair {
    Complex<T> low, high;
};
template <class T>
CONVOY_HD constexpr Pair<T> real_pair(Complex<T> a, Complex<T> b, Complex<T> w) {
    const T half = T(0.5);
    const Complex<T> even{half * (a.re + b.re), half * (a.im - b.im)};
    const Complex<T> odd = w * Complex<T>{half * (a.im + b.im), half * (b.re - a.re)};
    return {{even.re + odd.re, even.im + odd.im}, {even.re - odd.re, odd.im - even.im}};
}

}  // namespace convoy::spectrum::gpu
