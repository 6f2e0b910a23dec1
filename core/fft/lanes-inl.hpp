// The butterflies of lanes.hpp for one SIMD target. Included by sources that Highway compiles once a target
// (hwy/foreach_target.h), inside which everything here is a template on the vector tag D.
#if defined(CONVOY_FFT_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOY_FFT_LANES_INL
#undef CONVOY_FFT_LANES_INL
#else
#define CONVOY_FFT_LANES_INL
#endif

#include <hwy/highway.h>

#include "core/base/signal.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A register of complex numbers.
template <class D>
struct Complex {
    hn::Vec<D> re, im;
};

template <class D, class T>
HWY_INLINE Complex<D> load(D d, const T* z) {
    return {hn::Load(d, z), hn::Load(d, z + hn::Lanes(d))};
}
template <class D, class T>
HWY_INLINE void store(D d, Complex<D> c, T* z) {
    hn::Store(c.re, d, z);
    hn::Store(c.im, d, z + hn::Lanes(d));
}
template <class D, class T>
HWY_INLINE Complex<D> broadcast(D d, const T* w) {
    return {hn::Set(d, w[0]), hn::Set(d, w[1])};
}
template <class D>
HWY_INLINE Complex<D> operator+(Complex<D> a, Complex<D> b) {
    return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class D>
HWY_INLINE Complex<D> operator-(Complex<D> a, Complex<D> b) {
    return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class D>
HWY_INLINE Complex<D> operator*(Complex<D> a, Complex<D> w) {
    return {hn::MulSub(a.re, w.re, hn::Mul(a.im, w.im)), hn::MulAdd(a.re, w.im, hn::Mul(a.im, w.re))};
}
/// a times the conjugate of w.
template <class D>
HWY_INLINE Complex<D> turn_back(Complex<D> a, Complex<D> w) {
    return {hn::MulAdd(a.re, w.re, hn::Mul(a.im, w.im)), hn::MulSub(a.im, w.re, hn::Mul(a.re, w.im))};
}
/// a - i b and a + i b.
template <class D>
HWY_INLINE Complex<D> minus_i(Complex<D> a, Complex<D> b) {
    return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}
template <class D>
HWY_INLINE Complex<D> plus_i(Complex<D> a, Complex<D> b) {
    return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}

/// Transform of four numbers in place, natural order; `forward` by e^(-i), else e^(+i).
template <bool forward, class D>
HWY_INLINE void four(Complex<D>& a, Complex<D>& b, Complex<D>& c, Complex<D>& d) {
    const Complex<D> s = a + c, t = a - c, u = b + d, v = b - d;
    a = s + u;
    c = s - u;
    b = forward ? minus_i(t, v) : plus_i(t, v);
    d = forward ? plus_i(t, v) : minus_i(t, v);
}

/// The last step of the forward transform, or the first of the inverse: R numbers, natural order, no
/// twiddles.
template <int R, bool forward, class D>
HWY_INLINE void last(D d, Complex<D>* z) {
    if constexpr (R == 2) {
        const Complex<D> a = z[0];
        z[0] = a + z[1];
        z[1] = a - z[1];
    } else if constexpr (R == 4) {
        four<forward>(z[0], z[1], z[2], z[3]);
    } else {
        static_assert(R == 8);
        using T = hn::TFromD<D>;
        const auto half = hn::Set(d, static_cast<T>(0.70710678118654752440));
        Complex<D> s[4], t[4];
        for (int j = 0; j < 4; ++j) {
            s[j] = z[j] + z[j + 4];
            t[j] = z[j] - z[j + 4];
        }
        const Complex<D> p = t[1], q = t[3];
        const hn::Vec<D> zero = hn::Zero(d);
        if constexpr (forward) {  // by e^(-i pi j / 4)
            t[1] = {hn::Mul(hn::Add(p.re, p.im), half), hn::Mul(hn::Sub(p.im, p.re), half)};
            t[2] = {t[2].im, hn::Sub(zero, t[2].re)};
            t[3] = {hn::Mul(hn::Sub(q.im, q.re), half), hn::Mul(hn::Sub(zero, hn::Add(q.re, q.im)), half)};
        } else {
            t[1] = {hn::Mul(hn::Sub(p.re, p.im), half), hn::Mul(hn::Add(p.re, p.im), half)};
            t[2] = {hn::Sub(zero, t[2].im), t[2].re};
            t[3] = {hn::Mul(hn::Sub(zero, hn::Add(q.re, q.im)), half), hn::Mul(hn::Sub(q.re, q.im), half)};
        }
        four<forward>(s[0], s[1], s[2], s[3]);
        four<forward>(t[0], t[1], t[2], t[3]);
        for (int j = 0; j < 4; ++j) {
            z[2 * j] = s[j];
            z[2 * j + 1] = t[j];
        }
    }
}

/// One radix-4 pass over a sub-transform of length n: forward, decimation in frequency.
template <class D, class T>
HWY_INLINE void pass_forward(D d, T* HWY_RESTRICT z, Index n, const T* HWY_RESTRICT w) {
    const Index step = 2 * static_cast<Index>(hn::Lanes(d)), quarter = n / 4 * step;
    for (T* const end = z + quarter; z != end; z += step, w += 6) {
        Complex<D> a = load(d, z), b = load(d, z + quarter), c = load(d, z + 2 * quarter),
                   e = load(d, z + 3 * quarter);
        four<true>(a, b, c, e);
        store(d, a, z);
        store(d, b * broadcast(d, w), z + quarter);
        store(d, c * broadcast(d, w + 2), z + 2 * quarter);
        store(d, e * broadcast(d, w + 4), z + 3 * quarter);
    }
}

/// Its inverse: decimation in time, conjugate twiddles.
template <class D, class T>
HWY_INLINE void pass_inverse(D d, T* HWY_RESTRICT z, Index n, const T* HWY_RESTRICT w) {
    const Index step = 2 * static_cast<Index>(hn::Lanes(d)), quarter = n / 4 * step;
    for (T* const end = z + quarter; z != end; z += step, w += 6) {
        Complex<D> a = load(d, z), b = turn_back(load(d, z + quarter), broadcast(d, w)),
                   c = turn_back(load(d, z + 2 * quarter), broadcast(d, w + 2)),
                   e = turn_back(load(d, z + 3 * quarter), broadcast(d, w + 4));
        four<false>(a, b, c, e);
        store(d, a, z);
        store(d, b, z + quarter);
        store(d, c, z + 2 * quarter);
        store(d, e, z + 3 * quarter);
    }
}

/// What the walk over the sub-transforms does.
enum class Walk { forward, inverse, convolve };

template <int R, Walk walk, class D, class T>
HWY_INLINE void last_steps(D d, T* HWY_RESTRICT z, Index n, const T* HWY_RESTRICT h) {
    const Index step = 2 * static_cast<Index>(hn::Lanes(d));
    for (T* const end = z + n * step; z != end; z += R * step) {
        Complex<D> c[R];
        for (int j = 0; j < R; ++j)
            c[j] = load(d, z + j * step);
        if constexpr (walk != Walk::inverse) last<R, true>(d, c);
        if constexpr (walk == Walk::convolve) {
            for (int j = 0; j < R; ++j)
                c[j] = c[j] * load(d, h + j * step);
            h += R * step;
        }
        if constexpr (walk != Walk::forward) last<R, false>(d, c);
        for (int j = 0; j < R; ++j)
            store(d, c[j], z + j * step);
    }
}

/// The whole transform of a sub-transform of length n: passes while they fit in the first-level cache, one
/// pass and four smaller walks beyond. `w` are the twiddles of its first pass, those of later passes follow.
template <int R, Walk walk, class D, class T>
void transform(D d, T* z, Index n, const T* w, const T* h) {
    const Index step = 2 * static_cast<Index>(hn::Lanes(d));
    if (n * step * static_cast<Index>(sizeof(T)) > 32768 && n > R) {
        if constexpr (walk != Walk::inverse) pass_forward(d, z, n, w);
        for (Index q = 0; q < 4; ++q)
            transform<R, walk>(d, z + q * (n / 4) * step, n / 4, w + 6 * (n / 4), h + q * (n / 4) * step);
        if constexpr (walk != Walk::forward) pass_inverse(d, z, n, w);
        return;
    }
    const T* at = w;
    if constexpr (walk != Walk::inverse)
        for (Index m = n; m > R; at += 6 * (m / 4), m /= 4)
            for (Index b = 0; b < n; b += m)
                pass_forward(d, z + b * step, m, at);
    else
        for (Index m = n; m > R; m /= 4)
            at += 6 * (m / 4);
    last_steps<R, walk>(d, z, n, h);
    if constexpr (walk != Walk::forward)
        for (Index m = 4 * R; m <= n; m *= 4) {
            at -= 6 * (m / 4);
            for (Index b = 0; b < n; b += m)
                pass_inverse(d, z + b * step, m, at);
        }
}

/// The same with the last radix that n needs: 4 for powers of four, else 8 (2 and 1 where n is).
template <Walk walk, class D, class T>
void transform_any(D d, T* z, Index n, const T* w, const T* h) {
    Index m = n;
    while (m > 8)
        m /= 4;
    if (m == 8) return transform<8, walk>(d, z, n, w, h);
    if (m == 4) return transform<4, walk>(d, z, n, w, h);
    if (m == 2) return transform<2, walk>(d, z, n, w, h);
    if constexpr (walk == Walk::convolve) store(d, load(d, z) * load(d, h), z);
}

}  // namespace convoy::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
