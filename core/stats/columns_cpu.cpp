#include "core/stats/columns_cpu.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/stats/columns_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::stats::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

// Squares are exact in double for float samples; magnitudes are compared in double, which changes nothing.
template <class T>
auto load(Doubles d, const T* from) {
    if constexpr (sizeof(T) == 8)
        return hn::LoadU(d, from);
    else
        return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Doubles>(), from));
}

// `vectors` vectors of series side by side.
template <int vectors, class T>
void sums(const T* x, Index count, Index step, Column* out) {
    const Doubles d;
    const hn::Repartition<std::int64_t, Doubles> di;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const auto one = hn::Set(d, 1.0);
    HWY_ALIGN double peaks[vectors * HWY_MAX_BYTES / 8], squares[vectors * HWY_MAX_BYTES / 8];
    HWY_ALIGN std::int64_t overs[vectors * HWY_MAX_BYTES / 8];
    static_assert(vectors == 4 || vectors == 1);
    const auto none = hn::Zero(d);
    const auto zero = hn::Zero(di);
    auto peak0 = none, peak1 = none, peak2 = none, peak3 = none;
    auto sum0 = none, sum1 = none, sum2 = none, sum3 = none;
    auto over0 = zero, over1 = zero, over2 = zero, over3 = zero;
    const auto look = [&](const T* from, auto& peak, auto& sum, auto& over) {
        const auto v = load(d, from), size = hn::Abs(v);
        peak = hn::Max(peak, size);
        sum = hn::Add(sum, hn::Mul(v, v));
        over = hn::Sub(over, hn::BitCast(di, hn::VecFromMask(d, hn::Gt(size, one))));
    };
    for (Index n = 0; n < count; ++n, x += step) {
        look(x, peak0, sum0, over0);
        if constexpr (vectors == 4) {
            look(x + lanes, peak1, sum1, over1);
            look(x + 2 * lanes, peak2, sum2, over2);
            look(x + 3 * lanes, peak3, sum3, over3);
        }
    }
    const auto keep = [&](Index at, auto peak, auto sum, auto over) {
        hn::Store(peak, d, peaks + at);
        hn::Store(sum, d, squares + at);
        hn::Store(over, di, overs + at);
    };
    keep(0, peak0, sum0, over0);
    if constexpr (vectors == 4) {
        keep(lanes, peak1, sum1, over1);
        keep(2 * lanes, peak2, sum2, over2);
        keep(3 * lanes, peak3, sum3, over3);
    }
    for (Index j = 0; j < vectors * lanes; ++j)
        out[j] = {peaks[j], squares[j], overs[j]};
}

template <class T>
void columns(const T* x, Index count, Index step, Index width, Column* out) {
    const auto lanes = static_cast<Index>(hn::Lanes(Doubles()));
    Index j = 0;
    for (; j + 4 * lanes <= width; j += 4 * lanes)
        sums<4>(x + j, count, step, out + j);
    for (; j + lanes <= width; j += lanes)
        sums<1>(x + j, count, step, out + j);
    for (; j < width; ++j) {
        Column c;
        for (Index n = 0; n < count; ++n) {
            const double v = static_cast<double>(x[n * step + j]), size = std::abs(v);
            c.peak = std::max(c.peak, size);
            c.squares += v * v;
            c.over += size > 1;
        }
        out[j] = c;
    }
}

void columns32(const float* x, Index count, Index step, Index width, Column* out) {
    columns(x, count, step, width, out);
}
void columns64(const double* x, Index count, Index step, Index width, Column* out) {
    columns(x, count, step, width, out);
}

}  // namespace convoy::stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::stats {

HWY_EXPORT(columns32);
HWY_EXPORT(columns64);

void column_sums(const float* x, Index count, Index step, Index width, Column* out) {
    HWY_DYNAMIC_DISPATCH(columns32)(x, count, step, width, out);
}
void column_sums(const double* x, Index count, Index step, Index width, Column* out) {
    HWY_DYNAMIC_DISPATCH(columns64)(x, count, step, width, out);
}

}  // namespace convoy::stats
#endif
