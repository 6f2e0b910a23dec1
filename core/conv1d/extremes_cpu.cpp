#include "core/conv1d/extremes_cpu.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv1d/extremes_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::conv1d::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float none = std::numeric_limits<float>::infinity();

// Comparisons with a NaN are false, and keep what was found before.
template <class V>
V larger(V a, V found) {
    return hn::IfThenElse(hn::Gt(a, found), a, found);
}
template <class V>
V smaller(V a, V found) {
    return hn::IfThenElse(hn::Lt(a, found), a, found);
}

Extremes look(const float* x, Index n) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    auto most0 = hn::Zero(d), most1 = most0, least0 = hn::Set(d, none), least1 = least0;
    const auto take = [&](const float* from, auto& most, auto& least) {
        const auto a = hn::Abs(hn::LoadU(d, from));
        most = larger(a, most);
        least = smaller(hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::Set(d, none), a), least);
    };
    Index i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        take(x + i, most0, least0);
        take(x + i + lanes, most1, least1);
    }
    Extremes e{hn::GetLane(hn::MaxOfLanes(d, larger(most0, most1))),
               hn::GetLane(hn::MinOfLanes(d, smaller(least0, least1)))};
    for (; i < n; ++i) {
        const float a = std::abs(x[i]);
        if (a > e.most) e.most = a;
        if (a != 0 && a < e.least) e.least = a;
    }
    return e;
}

float lowest(const float* x, Index n) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    auto low0 = hn::Set(d, none), low1 = low0;
    const auto take = [&](const float* from, auto& low) {
        auto peak = hn::Zero(d);
        for (Index k = 0; k < 4; ++k)
            peak = larger(hn::Abs(hn::LoadU(d, from + k)), peak);
        low = hn::Min(peak, low);
    };
    Index i = 0;
    for (; i + 2 * lanes + 3 <= n; i += 2 * lanes) {
        take(x + i, low0);
        take(x + i + lanes, low1);
    }
    float least = hn::GetLane(hn::MinOfLanes(d, hn::Min(low0, low1)));
    for (; i + 4 <= n; ++i) {
        float peak = 0;
        for (Index k = 0; k < 4; ++k)
            if (const float a = std::abs(x[i + k]); a > peak) peak = a;
        least = std::min(least, peak);
    }
    return least;
}

}  // namespace convoy::conv1d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv1d {

HWY_EXPORT(look);
HWY_EXPORT(lowest);

Extremes extremes(const float* x, Index n) {
    return HWY_DYNAMIC_DISPATCH(look)(x, n);
}
float lowest_peak_of_four(const float* x, Index n) {
    return HWY_DYNAMIC_DISPATCH(lowest)(x, n);
}

}  // namespace convoy::conv1d
#endif
