#include "core/fft/mixed_radix.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fft/mixed_radix.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::fft::mixed {
namespace HWY_NAMESPACE {

constexpr Index width = MixedRadix<float>::lanes();

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, static_cast<std::size_t>(width)>;
template <class T>
using Vec = hn::Vec<Tag<T>>;

template <class T>
struct Complex {
    Vec<T> re, im;
};

template <class T>
HWY_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
    return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class T>
HWY_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
    return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class T>
HWY_INLINE Complex<T> operator*(Vec<T> a, Complex<T> b) {
    return {hn::Mul(a, b.re), hn::Mul(a, b.im)};
}
template <class T>
HWY_INLINE Complex<T> mul(Complex<T> a, Complex<T> b) {
    return {hn::MulSub(a.re, b.re, hn::Mul(a.im, b.im)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
template <class T>
HWY_INLINE Complex<T> minus_i(Complex<T> a) {  // -i a
    return {a.im, hn::Neg(a.re)};
}

// The small transforms, in place.
template <class T>
HWY_INLINE void small(Complex<T> (&a)[2]) {
    const Complex<T> d = a[0] - a[1];
    a[0] = a[0] + a[1];
    a[1] = d;
}
template <class T>
HWY_INLINE void small(Complex<T> (&a)[3]) {
    const Tag<T> t;
    const Complex<T> sum = a[1] + a[2], difference = minus_i(a[1] - a[2]);
    const Complex<T> middle = a[0] + hn::Set(t, T(-0.5)) * sum;
    const Complex<T> turned = hn::Set(t, T(0.5 * std::numbers::sqrt3)) * difference;
    a[0] = a[0] + sum;
    a[1] = middle + turned;
    a[2] = middle - turned;
}
template <class T>
HWY_INLINE void small(Complex<T> (&a)[4]) {
    const Complex<T> s02 = a[0] + a[2], d02 = a[0] - a[2], s13 = a[1] + a[3], d13 = minus_i(a[1] - a[3]);
    a[0] = s02 + s13;
    a[1] = d02 + d13;
    a[2] = s02 - s13;
    a[3] = d02 - d13;
}
template <class T>
HWY_INLINE void small(Complex<T> (&a)[5]) {
    const Tag<T> t;
    const auto c1 = hn::Set(t, T(0.30901699437494742410)), c2 = hn::Set(t, T(-0.80901699437494742410));
    const auto s1 = hn::Set(t, T(0.95105651629515357212)), s2 = hn::Set(t, T(0.58778525229247312917));
    const Complex<T> p = a[1] + a[4], q = a[2] + a[3];
    const Complex<T> m = minus_i(a[1] - a[4]), n = minus_i(a[2] - a[3]);
    const Complex<T> u = a[0] + (c1 * p + c2 * q), v = a[0] + (c2 * p + c1 * q);
    const Complex<T> x = s1 * m + s2 * n, y = s2 * m - s1 * n;
    a[0] = a[0] + (p + q);
    a[1] = u + x;
    a[2] = v + y;
    a[3] = v - y;
    a[4] = u - x;
}

template <class T>
using Pass = typename MixedRadix<T>::Pass;

template <class T>
HWY_INLINE Complex<T> load(const T* at) {
    const Tag<T> t;
    return {hn::Load(t, at), hn::Load(t, at + width)};
}
template <class T>
HWY_INLINE void store(Complex<T> a, T* at) {
    const Tag<T> t;
    hn::Store(a.re, t, at);
    hn::Store(a.im, t, at + width);
}
template <class T>
HWY_INLINE Complex<T> set(const T* pair) {
    const Tag<T> t;
    return {hn::Set(t, pair[0]), hn::Set(t, pair[1])};
}

// Calls f(offset) for the registers of `count` neighbouring complex numbers.
template <class T, class F>
HWY_INLINE void each_register(Index count, const F& f) {
    const Tag<T> t;
    for (Index z = 0; z < 2 * count * width; z += 2 * width)
        for (Index lane = 0; lane < width; lane += static_cast<Index>(hn::Lanes(t)))
            f(z + lane);
}

template <int radix, class T>
void pass(const Pass<T>& p, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
    const Index stride = 2 * width * p.stride;
    for (Index g = 0; g < p.groups; ++g) {
        Complex<T> w[radix];
        for (int u = 1; u < radix; ++u)
            w[u] = set<T>(p.twiddles.data() + 2 * (g * (radix - 1) + u - 1));
        each_register<T>(p.stride, [&](Index at) HWY_ATTR {
            Complex<T> a[radix];
            for (int r = 0; r < radix; ++r)
                a[r] = load(x + at + stride * (g + r * p.groups));
            small<T>(a);
            store(a[0], y + at + stride * (radix * g));
            for (int u = 1; u < radix; ++u)
                store(mul<T>(a[u], w[u]), y + at + stride * (radix * g + u));
        });
    }
}

// Any radix: the sums as they are written.
template <class T>
void pass_any(const Pass<T>& p, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
    const Index stride = 2 * width * p.stride;
    for (Index g = 0; g < p.groups; ++g)
        for (Index u = 0; u < p.radix; ++u)
            each_register<T>(p.stride, [&](Index at) HWY_ATTR {
                Complex<T> sum = load(x + at + stride * g);
                for (Index r = 1, root = u; r < p.radix; ++r, root = (root + u) % p.radix)
                    sum = sum + mul<T>(load(x + at + stride * (g + r * p.groups)),
                                       set<T>(p.roots.data() + 2 * root));
                if (u > 0) sum = mul<T>(sum, set<T>(p.twiddles.data() + 2 * (g * (p.radix - 1) + u - 1)));
                store(sum, y + at + stride * (p.radix * g + u));
            });
}

template <class T>
void run_pass(const Pass<T>& p, const T* x, T* y) {
    switch (p.radix) {
        case 2:
            return pass<2, T>(p, x, y);
        case 3:
            return pass<3, T>(p, x, y);
        case 4:
            return pass<4, T>(p, x, y);
        case 5:
            return pass<5, T>(p, x, y);
        default:
            return pass_any<T>(p, x, y);
    }
}

void run_float(const Pass<float>& p, const float* x, float* y) {
    run_pass<float>(p, x, y);
}
void run_double(const Pass<double>& p, const double* x, double* y) {
    run_pass<double>(p, x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy::fft::mixed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::fft {

namespace mixed {
HWY_EXPORT(run_float);
HWY_EXPORT(run_double);
}  // namespace mixed

namespace {

Index next_radix(Index length) {
    for (Index r : {4, 2, 3, 5})
        if (length % r == 0) return r;
    for (Index p = 7; p * p <= length; p += 2)
        if (length % p == 0) return p;
    return length;
}

// exp(-2 pi i k / n)
template <class T>
void append_root(std::vector<T>& to, Index k, Index n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
    to.push_back(static_cast<T>(std::cos(angle)));
    to.push_back(static_cast<T>(-std::sin(angle)));
}

}  // namespace

template <class T>
MixedRadix<T>::MixedRadix(Index length) : length_(length) {
    for (Index left = length, stride = 1; left > 1;) {
        const Index radix = next_radix(left), groups = left / radix;
        Pass pass{radix, groups, stride, {}, {}};
        for (Index g = 0; g < groups; ++g)
            for (Index u = 1; u < radix; ++u)
                append_root(pass.twiddles, g * u, left);
        for (Index r = 0; radix > 5 && r < radix; ++r)
            append_root(pass.roots, r, radix);
        passes_.push_back(std::move(pass));
        left = groups;
        stride *= radix;
    }
}

template <class T>
T* MixedRadix<T>::forward(T* x, T* spare) const {
    for (const Pass& pass : passes_) {
        if constexpr (sizeof(T) == 4)
            HWY_DYNAMIC_DISPATCH(mixed::run_float)(pass, x, spare);
        else
            HWY_DYNAMIC_DISPATCH(mixed::run_double)(pass, x, spare);
        std::swap(x, spare);
    }
    return x;
}

template class MixedRadix<float>;
template class MixedRadix<double>;

}  // namespace convoy::fft
#endif
