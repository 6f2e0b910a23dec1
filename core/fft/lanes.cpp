#include "core/fft/lanes.hpp"

#include <cmath>
#include <numbers>
#include <type_traits>

#include "core/fft/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fft/lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/fft/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::fft::HWY_NAMESPACE {

template <class T>
using Tag = hn::ScalableTag<T>;

/// a = (Z[k] + conj Z[n-k]) / 2, b = (Z[k] - conj Z[n-k]) / 2i.
template <class T>
void untangle(const T* z, const Index* position, Index n, T* a, T* b) {
    const Tag<T> d;
    const Index step = 2 * static_cast<Index>(hn::Lanes(d));
    const auto half = hn::Set(d, T(0.5));
    for (Index k = 0; k <= n / 2; ++k) {
        const Complex<Tag<T>> p = load(d, z + position[k] * step),
                              q = load(d, z + position[(n - k) % n] * step);
        const Complex<Tag<T>> even{hn::Add(p.re, q.re), hn::Sub(p.im, q.im)};
        const Complex<Tag<T>> odd{hn::Add(p.im, q.im), hn::Sub(q.re, p.re)};
        store(d, Complex<Tag<T>>{hn::Mul(even.re, half), hn::Mul(even.im, half)}, a + k * step);
        store(d, Complex<Tag<T>>{hn::Mul(odd.re, half), hn::Mul(odd.im, half)}, b + k * step);
    }
}

Index lanes_float() {
    return static_cast<Index>(hn::Lanes(Tag<float>()));
}
Index lanes_double() {
    return static_cast<Index>(hn::Lanes(Tag<double>()));
}
void forward_float(float* z, Index n, const float* w) {
    transform_any<Walk::forward>(Tag<float>(), z, n, w, z);
}
void forward_double(double* z, Index n, const double* w) {
    transform_any<Walk::forward>(Tag<double>(), z, n, w, z);
}
void inverse_float(float* z, Index n, const float* w) {
    transform_any<Walk::inverse>(Tag<float>(), z, n, w, z);
}
void inverse_double(double* z, Index n, const double* w) {
    transform_any<Walk::inverse>(Tag<double>(), z, n, w, z);
}
void convolve_float(float* z, Index n, const float* w, const float* h) {
    transform_any<Walk::convolve>(Tag<float>(), z, n, w, h);
}
void convolve_double(double* z, Index n, const double* w, const double* h) {
    transform_any<Walk::convolve>(Tag<double>(), z, n, w, h);
}
void untangle_float(const float* z, const Index* position, Index n, float* a, float* b) {
    untangle(z, position, n, a, b);
}
void untangle_double(const double* z, const Index* position, Index n, double* a, double* b) {
    untangle(z, position, n, a, b);
}

}  // namespace convoy::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::fft {

HWY_EXPORT(lanes_float);
HWY_EXPORT(lanes_double);
HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(inverse_float);
HWY_EXPORT(inverse_double);
HWY_EXPORT(convolve_float);
HWY_EXPORT(convolve_double);
HWY_EXPORT(untangle_float);
HWY_EXPORT(untangle_double);

Turn turn(Index k, Index n) {
    // By symmetry from the first octant: 8 k / n is o octants and r / n eighths beyond (or before) it.
    k %= n;
    const Index o = 8 * k / n, q = (o + 1) / 2;  // nearest quarter turn
    const Index r = 4 * k - q * n;               // quarters of n from it, |r| <= n / 2
    const double angle = std::numbers::pi / 2 * static_cast<double>(r) / static_cast<double>(n);
    const bool diagonal = 2 * std::abs(r) == n;  // both exactly sqrt(1/2)
    const double c = diagonal ? std::numbers::sqrt2 / 2 : std::cos(angle);
    const double s = diagonal ? std::copysign(c, angle) : std::sin(angle);
    switch (q % 4) {
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

Turns::Turns(Index n) : n_(n), quarter_(n / 4), cos_(static_cast<std::size_t>(quarter_ + 1)) {
    for (Index k = 0; k <= quarter_ / 2; ++k) {
        const Turn t = turn(k, n);
        cos_[static_cast<std::size_t>(k)] = t.cos;
        cos_[static_cast<std::size_t>(quarter_ - k)] = -t.sin;
    }
}

template <>
Index simd_lanes<float>() {
    return HWY_DYNAMIC_DISPATCH(lanes_float)();
}
template <>
Index simd_lanes<double>() {
    return HWY_DYNAMIC_DISPATCH(lanes_double)();
}

template <class T>
LaneFft<T>::LaneFft(Index n) : n_(n), lanes_(simd_lanes<T>()), position_(static_cast<std::size_t>(n)) {
    Index last = n;
    while (last > 8)
        last /= 4;
    const Turns turns(n);
    for (Index m = n; m > last; m /= 4)
        for (Index j = 0; j < m / 4; ++j)
            for (Index q = 1; q < 4; ++q) {
                const Turn w = turns(q * j * (n / m));
                twiddles_.push_back(static_cast<T>(w.cos));
                twiddles_.push_back(static_cast<T>(w.sin));
            }
    // Quarter q of a pass holds the bins that are q modulo 4.
    for (Index k = 0; k < n; ++k) {
        Index bin = k, at = 0, m = n;
        for (; m > last; m /= 4, bin /= 4)
            at += bin % 4 * (m / 4);
        position_[static_cast<std::size_t>(k)] = at + bin;
    }
}

template <class T>
void LaneFft<T>::forward(T* z) const {
    if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(forward_float)(z, n_, twiddles_.data());
    else
        HWY_DYNAMIC_DISPATCH(forward_double)(z, n_, twiddles_.data());
}
template <class T>
void LaneFft<T>::inverse(T* z) const {
    if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(inverse_float)(z, n_, twiddles_.data());
    else
        HWY_DYNAMIC_DISPATCH(inverse_double)(z, n_, twiddles_.data());
}
template <class T>
void LaneFft<T>::convolve(T* z, const T* h) const {
    if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(convolve_float)(z, n_, twiddles_.data(), h);
    else
        HWY_DYNAMIC_DISPATCH(convolve_double)(z, n_, twiddles_.data(), h);
}
template <class T>
void LaneFft<T>::real_pair(const T* z, T* a, T* b) const {
    if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(untangle_float)(z, position_.data(), n_, a, b);
    else
        HWY_DYNAMIC_DISPATCH(untangle_double)(z, position_.data(), n_, a, b);
}

template class LaneFft<float>;
template class LaneFft<double>;

}  // namespace convoy::fft
#endif
