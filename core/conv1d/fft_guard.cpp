#include "core/conv1d/fft_guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/conv1d/fft_blocks.hpp"
#include "core/conv1d/segment_weights.hpp"
#include "core/fft/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv1d/fft_guard.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/fft/pair-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::conv1d::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Peak and energy of what has been seen.
template <class D>
struct Seen {
    hn::Vec<D> peak, energy;
};

/// One square of segments: as many as there are lanes, of `length` samples each: sum - slack * largest
/// magnitude.
template <class D, class T>
HWY_INLINE hn::Vec<D> segments(D d, const T* HWY_RESTRICT x, Index length, hn::Vec<D> slack, Seen<D>& seen) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    hn::Vec<D> sum[lanes], top[lanes];
    for (Index s = 0; s < lanes; ++s, x += length) {
        const auto first = hn::Abs(hn::LoadU(d, x));
        sum[s] = top[s] = first;
        seen.energy = hn::MulAdd(first, first, seen.energy);
        for (Index i = lanes; i < length; i += lanes) {
            const auto v = hn::Abs(hn::LoadU(d, x + i));
            sum[s] = hn::Add(sum[s], v);
            top[s] = hn::Max(top[s], v);
            seen.energy = hn::MulAdd(v, v, seen.energy);
        }
        seen.peak = hn::Max(seen.peak, top[s]);
    }
    fft::HWY_NAMESPACE::transpose(d, sum);
    fft::HWY_NAMESPACE::transpose(d, top);
    for (Index step = lanes / 2; step > 0; step /= 2)
        for (Index s = 0; s < step; ++s) {
            sum[s] = hn::Add(sum[s], sum[s + step]);
            top[s] = hn::Max(top[s], top[s + step]);
        }
    return hn::Max(hn::Zero(d), hn::NegMulAdd(slack, top[0], sum[0]));
}

template <class D, class T>
void look_as(D d, const T* x, Index count, Index groups, Index length, T slack, const T* weights,
             Index nearest, Index distances, T* p, Level<T>& level) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    Seen<D> seen{hn::Zero(d), hn::Zero(d)};
    Index i = 0, j = 0;
    for (; i + lanes * length <= count; i += lanes * length, j += lanes)
        hn::StoreU(segments(d, x + i, length, hn::Set(d, slack), seen), d, p + j);
    for (; i < count; i += lanes * length, j += lanes) {  // zeros past the end
        HWY_ALIGN T rest[lanes * 256];
        const Index n = HWY_MIN(count - i, lanes * length);
        std::copy_n(x + i, n, rest);
        std::fill(rest + n, rest + lanes * length, T(0));
        hn::StoreU(segments(d, rest, length, hn::Set(d, slack), seen), d, p + j);
    }
    for (const Index end = groups + nearest + distances + 2 * lanes; j < end; ++j)
        p[j] = 0;
    auto least = hn::Set(d, std::numeric_limits<T>::max());
    for (Index g = 0; g < groups; g += lanes) {
        auto a = hn::Zero(d), b = hn::Zero(d);
        Index s = 0;
        for (; s + 2 <= distances; s += 2) {
            a = hn::MulAdd(hn::Set(d, weights[s]), hn::LoadU(d, p + g + nearest + s), a);
            b = hn::MulAdd(hn::Set(d, weights[s + 1]), hn::LoadU(d, p + g + nearest + s + 1), b);
        }
        if (s < distances) a = hn::MulAdd(hn::Set(d, weights[s]), hn::LoadU(d, p + g + nearest + s), a);
        a = hn::Add(a, b);
        if (g + lanes <= groups) {
            least = hn::Min(least, a);
            hn::StoreU(a, d, p + g);
        } else {
            T last[lanes];
            hn::StoreU(a, d, last);
            for (Index k = g; k < groups; ++k) {
                p[k] = last[k - g];
                least = hn::Min(least, hn::Set(d, last[k - g]));
            }
        }
    }
    level = {hn::GetLane(hn::MaxOfLanes(d, seen.peak)), hn::GetLane(hn::SumOfLanes(d, seen.energy)),
             hn::GetLane(hn::MinOfLanes(d, least))};
}

/// Segments of 8 need registers of at most 8.
template <class T>
void look_any(const T* x, Index count, Index groups, Index length, T slack, const T* weights, Index nearest,
              Index distances, T* p, Level<T>& level) {
    if (length == 8)
        look_as(hn::CappedTag<T, 8>(), x, count, groups, length, slack, weights, nearest, distances, p,
                level);
    else
        look_as(hn::ScalableTag<T>(), x, count, groups, length, slack, weights, nearest, distances, p, level);
}
void look_float(const float* x, Index count, Index groups, Index length, float slack, const float* weights,
                Index nearest, Index distances, float* p, Level<float>& level) {
    look_any(x, count, groups, length, slack, weights, nearest, distances, p, level);
}
void look_double(const double* x, Index count, Index groups, Index length, double slack,
                 const double* weights, Index nearest, Index distances, double* p, Level<double>& level) {
    look_any(x, count, groups, length, slack, weights, nearest, distances, p, level);
}

template <class T>
void magnitudes_as(const T* x, Index count, T* y) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Index i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(hn::Abs(hn::LoadU(d, x + i)), d, y + i);
    for (; i < count; ++i)
        y[i] = std::abs(x[i]);
}
void magnitudes_float(const float* x, Index count, float* y) {
    magnitudes_as(x, count, y);
}
void magnitudes_double(const double* x, Index count, double* y) {
    magnitudes_as(x, count, y);
}

template <class T>
T lowered_as(const T* x, Index count, T by, T less, const T* floor, Index group, T* least) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    T lowest = std::numeric_limits<T>::max();
    for (Index first = 0; first < count; first += together) {
        const Index end = HWY_MIN(count, first + together);
        T low = std::numeric_limits<T>::max();
        Index i = first;
        if (i + lanes <= end) {
            auto lows = hn::LoadU(d, x + i);
            for (i += lanes; i + lanes <= end; i += lanes)
                lows = hn::Min(lows, hn::LoadU(d, x + i));
            low = hn::GetLane(hn::MinOfLanes(d, lows));
        }
        for (; i < end; ++i)
            low = std::min(low, x[i]);
        T bound = floor[first / group];
        for (Index g = first / group + 1; g * group < end; ++g)
            bound = std::min(bound, floor[g]);
        *least = std::max(low * by - less, bound);
        lowest = std::min(lowest, *least++);
    }
    return lowest;
}
float lowered_float(const float* x, Index count, float by, float less, const float* floor, Index group,
                    float* least) {
    return lowered_as(x, count, by, less, floor, group, least);
}
double lowered_double(const double* x, Index count, double by, double less, const double* floor, Index group,
                      double* least) {
    return lowered_as(x, count, by, less, floor, group, least);
}

}  // namespace convoy::conv1d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv1d {

HWY_EXPORT(look_float);
HWY_EXPORT(look_double);
HWY_EXPORT(magnitudes_float);
HWY_EXPORT(magnitudes_double);
HWY_EXPORT(lowered_float);
HWY_EXPORT(lowered_double);

namespace {

/// Segments that grow with the filter keep the work on them small.
Index group_for(Index taps) {
    Index group = taps < 64 ? 8 : 16;
    while (taps > 4 * group * group && group < 128)
        group *= 2;
    return group;
}

}  // namespace

template <class T>
Guard<T>::Guard(const std::vector<double>& taps) : Guard(taps, group_for(static_cast<Index>(taps.size()))) {}

template <class T>
Guard<T>::Guard(const std::vector<double>& taps, Index group)
    : taps_(static_cast<Index>(taps.size())), group_(group) {
    std::vector<double> by_offset(taps.rbegin(), taps.rend());
    for (double& h : by_offset)
        h = std::abs(h);
    // The slack that bounds noise best.
    std::vector<double> slacks;
    for (const double share : {0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3})
        slacks.push_back(share * static_cast<double>(group_));
    std::vector<std::vector<T>> weights(slacks.size());
    for (Index d = 1; (d + 1) * group_ <= taps_; ++d) {
        const std::vector<double> of_slacks = segment_weights(by_offset, d * group_, group_, group_, slacks);
        for (std::size_t s = 0; s < slacks.size(); ++s)
            weights[s].push_back(static_cast<T>(of_slacks[s] * 0.9999));  // for roundings in look()
    }
    const std::vector<T> noise = noise_of<T>(4096 + taps_);
    Guard best = *this;
    double most = -1;
    for (std::size_t s = 0; s < slacks.size(); ++s) {
        take(slacks[s], std::move(weights[s]));
        std::vector<T> bounds(static_cast<std::size_t>(room(4096)));
        const double least = look(noise.data(), 4096, bounds.data()).least;
        const double mean =
            std::accumulate(&bounds[0], &bounds[4096 / group_], 0.0) * static_cast<double>(group_) / 4096;
        if (least + mean / 16 <= most) continue;
        most = least + mean / 16;
        best = *this;
        best.noise_ = least;
    }
    *this = best;
}

template <class T>
void Guard<T>::take(double slack, std::vector<T> weights) {
    slack_ = static_cast<T>(slack * 1.0001);
    weights_ = std::move(weights);
    constexpr std::size_t most = 1024;
    first_ = 1;
    if (weights_.size() <= most) return;
    const std::size_t first = heaviest(weights_, most);
    first_ += static_cast<Index>(first);
    weights_ = std::vector<T>(&weights_[first], &weights_[first] + most);
}

template <class T>
Index Guard<T>::room(Index outputs) const {
    return (outputs + taps_) / group_ + first_ + static_cast<Index>(weights_.size()) + 64;
}

template <class T>
Level<T> Guard<T>::look(const T* x, Index outputs, T* bounds) const {
    Level<T> level{};
    const auto call = [&](auto* f) {
        f(x, outputs + taps_ - 1, (outputs + group_ - 1) / group_, group_, slack_, weights_.data(), first_,
          static_cast<Index>(weights_.size()), bounds, level);
    };
    if constexpr (std::is_same_v<T, float>)
        call(HWY_DYNAMIC_DISPATCH(look_float));
    else
        call(HWY_DYNAMIC_DISPATCH(look_double));
    return level;
}

template <class T>
void magnitudes(const T* x, Index count, T* y) {
    if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(magnitudes_float)(x, count, y);
    else
        HWY_DYNAMIC_DISPATCH(magnitudes_double)(x, count, y);
}

template <class T>
T lowered(const T* x, Index count, T by, T less, const T* floor, Index group, T* least) {
    if constexpr (std::is_same_v<T, float>)
        return HWY_DYNAMIC_DISPATCH(lowered_float)(x, count, by, less, floor, group, least);
    else
        return HWY_DYNAMIC_DISPATCH(lowered_double)(x, count, by, less, floor, group, least);
}

template class Guard<float>;
template class Guard<double>;
template void magnitudes(const float*, Index, float*);
template void magnitudes(const double*, Index, double*);
template float lowered(const float*, Index, float, float, const float*, Index, float*);
template double lowered(const double*, Index, double, double, const double*, Index, double*);

}  // namespace convoy::conv1d
#endif
