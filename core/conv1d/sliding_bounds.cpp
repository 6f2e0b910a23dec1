#include "core/conv1d/sliding_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/conv1d/segment_weights.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv1d/sliding_bounds.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::conv1d::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sum and largest magnitude of each step of 1, 2 or 4 samples; zeros past the end, up to `steps`. Returns
/// the level of all samples, but for `least`.
template <class T>
Level<T> gather_steps(const T* x, Index count, Index step, Index steps, T* sum, T* top) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    using V = hn::Vec<decltype(d)>;
    V peak = hn::Zero(d), energy = hn::Zero(d), more = hn::Zero(d);
    Index j = 0;
    for (; (j + lanes) * step <= count; j += lanes) {
        if (step == 1) {
            const V a = hn::Abs(hn::LoadU(d, x + j));
            hn::StoreU(a, d, sum + j);
            hn::StoreU(a, d, top + j);
            peak = hn::Max(peak, a);
            energy = hn::MulAdd(a, a, energy);
        } else if (step == 2) {
            V a, b;
            hn::LoadInterleaved2(d, x + j * step, a, b);
            a = hn::Abs(a), b = hn::Abs(b);
            const V largest = hn::Max(a, b);
            hn::StoreU(hn::Add(a, b), d, sum + j);
            hn::StoreU(largest, d, top + j);
            peak = hn::Max(peak, largest);
            energy = hn::MulAdd(a, a, energy), more = hn::MulAdd(b, b, more);
        } else {
            V a, b, c, e;
            hn::LoadInterleaved4(d, x + j * step, a, b, c, e);
            a = hn::Abs(a), b = hn::Abs(b), c = hn::Abs(c), e = hn::Abs(e);
            const V largest = hn::Max(hn::Max(a, b), hn::Max(c, e));
            hn::StoreU(hn::Add(hn::Add(a, b), hn::Add(c, e)), d, sum + j);
            hn::StoreU(largest, d, top + j);
            peak = hn::Max(peak, largest);
            energy = hn::MulAdd(a, a, hn::MulAdd(b, b, energy));
            more = hn::MulAdd(c, c, hn::MulAdd(e, e, more));
        }
    }
    Level<T> level{hn::GetLane(hn::MaxOfLanes(d, peak)),
                   hn::GetLane(hn::SumOfLanes(d, hn::Add(energy, more))), 0};
    for (; j < steps; ++j) {
        sum[j] = top[j] = 0;
        for (Index i = j * step; i < HWY_MIN(count, (j + 1) * step); ++i) {
            sum[j] += std::abs(x[i]);
            top[j] = std::max(top[j], std::abs(x[i]));
            level.energy += x[i] * x[i];
        }
        level.peak = std::max(level.peak, top[j]);
    }
    return level;
}

/// sum = sum - slack * top of each run of 4 steps, no less than 0.
template <class T>
void slide(Index steps, T slack, T* sum, T* top) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const auto slacks = hn::Set(d, slack);
    for (Index j = 0; j < steps; j += lanes) {
        hn::StoreU(hn::Add(hn::LoadU(d, sum + j), hn::LoadU(d, sum + j + 1)), d, sum + j);
        hn::StoreU(hn::Max(hn::LoadU(d, top + j), hn::LoadU(d, top + j + 1)), d, top + j);
    }
    for (Index j = 0; j < steps; j += lanes) {
        const auto all = hn::Add(hn::LoadU(d, sum + j), hn::LoadU(d, sum + j + 2));
        const auto most = hn::Max(hn::LoadU(d, top + j), hn::LoadU(d, top + j + 2));
        hn::StoreU(hn::Max(hn::Zero(d), hn::NegMulAdd(slacks, most, all)), d, sum + j);
    }
}

template <class T>
Level<T> sliding_as(const T* x, Index count, Index step, Index first, Index groups, T slack, const T* weights,
                    Index segments, T* bounds, T* top, Index steps) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Level<T> level = gather_steps(x, count, step, steps, bounds, top);
    slide(steps - 2 * lanes, slack, bounds, top);
    auto least = hn::Set(d, std::numeric_limits<T>::max());
    T last = std::numeric_limits<T>::max();
    for (Index g = 0; g < groups; g += lanes) {
        auto a = hn::Zero(d), b = hn::Zero(d);
        const T* const from = bounds + g + first;
        Index s = 0;
        for (; s + 2 <= segments; s += 2) {
            a = hn::MulAdd(hn::Set(d, weights[s]), hn::LoadU(d, from + 4 * s), a);
            b = hn::MulAdd(hn::Set(d, weights[s + 1]), hn::LoadU(d, from + 4 * s + 4), b);
        }
        if (s < segments) a = hn::MulAdd(hn::Set(d, weights[s]), hn::LoadU(d, from + 4 * s), a);
        a = hn::Add(a, b);
        hn::StoreU(a, d, bounds + g);
        if (g + lanes <= groups)
            least = hn::Min(least, a);
        else
            last = *std::min_element(bounds + g, bounds + groups);
    }
    level.least = std::min(last, hn::GetLane(hn::MinOfLanes(d, least)));
    return level;
}
Level<float> sliding_float(const float* x, Index count, Index step, Index first, Index groups, float slack,
                           const float* weights, Index segments, float* bounds, float* top, Index steps) {
    return sliding_as(x, count, step, first, groups, slack, weights, segments, bounds, top, steps);
}
Level<double> sliding_double(const double* x, Index count, Index step, Index first, Index groups,
                             double slack, const double* weights, Index segments, double* bounds, double* top,
                             Index steps) {
    return sliding_as(x, count, step, first, groups, slack, weights, segments, bounds, top, steps);
}

}  // namespace convoy::conv1d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv1d {

HWY_EXPORT(sliding_float);
HWY_EXPORT(sliding_double);

namespace {

/// So many segments cost about as much as the rest of the look.
constexpr Index most_segments(Index step) {
    return 16 * step;
}
/// Taps that they reach over, nearly; the guard's own bounds do for noise beyond.
constexpr Index longest = 1100;

}  // namespace

template <class T>
SlidingBounds<T>::SlidingBounds(const std::vector<double>& taps) : taps_(static_cast<Index>(taps.size())) {
    if (taps_ > longest) return;
    std::vector<double> by_offset(taps.rbegin(), taps.rend());
    for (double& h : by_offset)
        h = std::abs(h);
    const std::vector<T> noise = noise_of<T>(2048 + taps_);
    std::vector<T> bounds(static_cast<std::size_t>(room(2048)));
    SlidingBounds best = *this;
    double most = 0;  // the smallest bound among outputs of noise
    for (const Index step : {1, 2, 4}) {
        step_ = step;
        const Index length = 4 * step;
        std::vector<double> slacks;
        for (const double share : {0.0, 0.06, 0.12, 0.18, 0.25, 0.3})
            slacks.push_back(share * static_cast<double>(length));
        std::vector<std::vector<T>> weights(slacks.size());
        for (Index first = step; first + length <= taps_; first += length) {
            const std::vector<double> of_slacks = segment_weights(by_offset, first, length, step, slacks);
            for (std::size_t s = 0; s < slacks.size(); ++s)
                weights[s].push_back(static_cast<T>(of_slacks[s] * 0.9999));  // for roundings in look()
        }
        for (std::size_t s = 0; s < slacks.size(); ++s) {
            take(slacks[s], std::move(weights[s]));
            const double least = look(noise.data(), 2048, bounds.data()).least;
            if (weights_.empty() || (best.any() && least <= most)) continue;
            best = *this;
            most = least;
        }
    }
    *this = best;
}

template <class T>
void SlidingBounds<T>::take(double slack, std::vector<T> weights) {
    slack_ = static_cast<T>(slack * 1.0001);
    weights_ = std::move(weights);
    first_ = 1;
    const auto most = static_cast<std::size_t>(most_segments(step_));
    if (weights_.size() <= most) return;
    const std::size_t first = heaviest(weights_, most);
    first_ += 4 * static_cast<Index>(first);
    weights_ = std::vector<T>(&weights_[first], &weights_[first] + most);
}

template <class T>
Index SlidingBounds<T>::room(Index outputs) const {
    return 2 * (outputs + taps_ + 256);  // whatever the step
}

template <class T>
Level<T> SlidingBounds<T>::look(const T* x, Index outputs, T* bounds) const {
    const Index steps = room(outputs) / 2;
    const auto call = [&](auto* f) {
        return f(x, outputs + taps_ - 1, step_, first_, (outputs + step_ - 1) / step_, slack_,
                 weights_.data(), static_cast<Index>(weights_.size()), bounds, bounds + steps, steps);
    };
    if constexpr (std::is_same_v<T, float>)
        return call(HWY_DYNAMIC_DISPATCH(sliding_float));
    else
        return call(HWY_DYNAMIC_DISPATCH(sliding_double));
}

template class SlidingBounds<float>;
template class SlidingBounds<double>;

}  // namespace convoy::conv1d
#endif
