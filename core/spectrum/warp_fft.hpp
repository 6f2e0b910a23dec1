// A complex FFT of 256, 512 or 1024 points by half a warp or a whole one: each lane keeps 16 or 32 points in
// registers, and the lanes exchange once. Plain arithmetic that the kernel and host tests share.
//
// With N = P L, n = l + L j and k = p + P q (Cooley and Tukey 1965):
//   X[p + P q] = sum_l w_L^(l q)  w_N^(l p)  sum_j w_P^(j p) x[l + L j]
// Lane l does the inner sums (P points), then lane p the outer ones (L points) of p, and of p + L where P = 2
// L.
#pragma once

#include "core/base/padding.hpp"

#ifdef __CUDA_ARCH__  // loops over registers have to be straight code there
#define CONVOY_UNROLL _Pragma("unroll")
#else
#define CONVOY_UNROLL
#endif

namespace convoy::spectrum::gpu {

template <class T>
struct alignas(2 * sizeof(T)) Complex {
    T re, im;
};

template <class T>
CONVOY_HD constexpr Complex<T> operator+(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class T>
CONVOY_HD constexpr Complex<T> operator-(Complex<T> a, Complex<T> b) {
    return {a.re - b.re, a.im - b.im};
}
template <class T>
CONVOY_HD constexpr Complex<T> operator*(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// a exp(-2 pi i k / 32), 0 <= k < 16. With k known when it is compiled, no more is left of it than is
/// needed.
template <class T>
CONVOY_HD constexpr Complex<T> turned(Complex<T> a, int k) {
    constexpr double cosines[9] = {1.0,
                                   0.98078528040323044913,
                                   0.92387953251128675613,
                                   0.83146961230254523708,
                                   0.70710678118654752440,
                                   0.55557023301960222474,
                                   0.38268343236508977173,
                                   0.19509032201612826785,
                                   0.0};
    if (k == 0) return a;
    if (k == 8) return {a.im, -a.re};
    const T c = static_cast<T>(k < 8 ? cosines[k] : -cosines[16 - k]);
    const T s = static_cast<T>(cosines[k < 8 ? 8 - k : k - 8]);
    return {a.re * c + a.im * s, a.im * c - a.re * s};
}

/// k with its bits in reverse order, k < size, a power of two.
CONVOY_HD constexpr int reversed(int k, int size) {
    int r = 0;
    for (int bit = 1; bit < size; bit *= 2)
        r = 2 * r + ((k & bit) != 0 ? 1 : 0);
    return r;
}

/// Transforms Size (at most 32) numbers in place; bin k is left at reversed(k, Size).
template <int Size, class T>
CONVOY_HD constexpr void transform_registers(Complex<T> (&a)[Size]) {
    CONVOY_UNROLL
    for (int half = Size / 2; half >= 1; half /= 2) {
        CONVOY_UNROLL
        for (int i = 0; i < Size; ++i) {
            if ((i & half) != 0) continue;
            const Complex<T> difference = a[i] - a[i + half];
            a[i] = a[i] + a[i + half];
            a[i + half] = turned(difference, (i & (half - 1)) * (16 / half));
        }
    }
}

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
