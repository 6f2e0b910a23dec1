// Complex numbers and small Fourier transforms in registers. Plain arithmetic that kernels and host tests
// share.
#pragma once

#include "core/base/padding.hpp"

#ifdef __CUDA_ARCH__  // loops over registers have to be straight code there
#define CONVOY_UNROLL _Pragma("unroll")
#else
#define CONVOY_UNROLL
#endif

namespace convoy::fft {

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

/// A number of a table that stays as it is while a kernel runs: the compiler may load it early.
template <class T>
CONVOY_HD inline Complex<T> from_table(const Complex<T>* at) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == 4) {
        const float2 v = __ldg(reinterpret_cast<const float2*>(at));
        return {v.x, v.y};
    } else {
        const double2 v = __ldg(reinterpret_cast<const double2*>(at));
        return {v.x, v.y};
    }
#else
    return *at;
#endif
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

}  // namespace convoy::fft
