#include "core/conv1d/fft_guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/fft/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv1d/fft_guard.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::conv1d::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// p = |x|, and zeros beyond; returns the peak, adds the squares up.
template <class D, class T>
T magnitudes(D d, const T* HWY_RESTRICT x, Index count, T* HWY_RESTRICT p, T& energy) {
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    auto peak = hn::Zero(d), sum = hn::Zero(d), more = hn::Zero(d);
    Index i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
        const auto a = hn::Abs(hn::LoadU(d, x + i)), b = hn::Abs(hn::LoadU(d, x + i + lanes));
        peak = hn::Max(peak, hn::Max(a, b));
        sum = hn::MulAdd(a, a, sum);
        more = hn::MulAdd(b, b, more);
        hn::StoreU(a, d, p + i);
        hn::StoreU(b, d, p + i + lanes);
    }
    T top = hn::GetLane(hn::MaxOfLanes(d, peak));
    energy = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, more)));
    for (; i < count; ++i) {
        p[i] = std::abs(x[i]);
        top = std::max(top, p[i]);
        energy += p[i] * p[i];
    }
    for (Index j = 0; j < 64; ++j)
        p[count + j] = 0;
    return top;
}

/// p[i] becomes p[i] + p[i + by].
template <class D, class T>
void add_shifted(D d, T* p, Index count, Index by) {
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    for (Index i = 0; i + by < count; i += lanes)
        hn::StoreU(hn::Add(hn::LoadU(d, p + i), hn::LoadU(d, p + i + by)), d, p + i);
}

/// p[i] becomes sum_t weights[t] p[i + offsets[t]] for i < outputs; returns the smallest.
template <class D, class T>
T weigh(D d, T* p, Index outputs, const Index* offsets, const T* weights, Index runs) {
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    auto least = hn::Set(d, std::numeric_limits<T>::max());
    Index i = 0;
    for (; i + lanes <= outputs; i += lanes) {
        auto sum = hn::Zero(d);
        for (Index t = 0; t < runs; ++t)
            sum = hn::MulAdd(hn::Set(d, weights[t]), hn::LoadU(d, p + i + offsets[t]), sum);
        least = hn::Min(least, sum);
        hn::StoreU(sum, d, p + i);
    }
    T low = hn::GetLane(hn::MinOfLanes(d, least));
    for (; i < outputs; ++i) {
        T sum = 0;
        for (Index t = 0; t < runs; ++t)
            sum += weights[t] * p[i + offsets[t]];
        low = std::min(low, sum);
        p[i] = sum;
    }
    return low;
}

template <class T>
void look_as(const T* x, Index count, Index outputs, int doublings, const Index* offsets, const T* weights,
             Index runs, T* p, Level<T>& level) {
    const hn::ScalableTag<T> d;
    level.peak = magnitudes(d, x, count, p, level.energy);
    for (int q = 0; q < doublings; ++q)
        add_shifted(d, p, count, Index{1} << q);
    level.least = weigh(d, p, outputs, offsets, weights, runs);
}

template <class D, class S>
HWY_INLINE hn::Vec<D> load_double(D d, const S* x) {
    if constexpr (std::is_same_v<S, double>)
        return hn::LoadU(d, x);
    else
        return hn::PromoteTo(d, hn::LoadU(hn::Rebind<S, D>(), x));
}

/// One register of direct sums in double: runs of `run` taps, whose sums are summed.
template <class D, class S>
HWY_INLINE hn::Vec<D> sums(D d, const S* x, const double* reversed, Index taps, Index run) {
    auto all = hn::Zero(d);
    for (Index first = 0; first < taps; first += run) {
        auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
        const Index end = HWY_MIN(taps, first + run);
        Index j = first;
        for (; j + 4 <= end; j += 4) {
            a = hn::MulAdd(hn::Set(d, reversed[j]), load_double(d, x + j), a);
            b = hn::MulAdd(hn::Set(d, reversed[j + 1]), load_double(d, x + j + 1), b);
            c = hn::MulAdd(hn::Set(d, reversed[j + 2]), load_double(d, x + j + 2), c);
            e = hn::MulAdd(hn::Set(d, reversed[j + 3]), load_double(d, x + j + 3), e);
        }
        for (; j < end; ++j)
            a = hn::MulAdd(hn::Set(d, reversed[j]), load_double(d, x + j), a);
        all = hn::Add(all, hn::Add(hn::Add(a, b), hn::Add(c, e)));
    }
    return all;
}

template <class S>
void direct_as(const S* x, const double* reversed, Index taps, Index run, Index count, S* y) {
    const hn::ScalableTag<double> d;
    const hn::CappedTag<double, 1> one;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Index i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto sum = sums(d, x + i, reversed, taps, run);
        if constexpr (std::is_same_v<S, double>)
            hn::StoreU(sum, d, y + i);
        else
            hn::StoreU(hn::DemoteTo(hn::Rebind<S, decltype(d)>(), sum), hn::Rebind<S, decltype(d)>(), y + i);
    }
    for (; i < count; ++i)
        y[i] = static_cast<S>(hn::GetLane(sums(one, x + i, reversed, taps, run)));
}

void direct_float(const float* x, const double* reversed, Index taps, Index run, Index count, float* y) {
    direct_as(x, reversed, taps, run, count, y);
}
void direct_double(const double* x, const double* reversed, Index taps, Index run, Index count, double* y) {
    direct_as(x, reversed, taps, run, count, y);
}
void look_float(const float* x, Index count, Index outputs, int doublings, const Index* offsets,
                const float* weights, Index runs, float* p, Level<float>& level) {
    look_as(x, count, outputs, doublings, offsets, weights, runs, p, level);
}
void look_double(const double* x, Index count, Index outputs, int doublings, const Index* offsets,
                 const double* weights, Index runs, double* p, Level<double>& level) {
    look_as(x, count, outputs, doublings, offsets, weights, runs, p, level);
}

}  // namespace convoy::conv1d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv1d {

HWY_EXPORT(look_float);
HWY_EXPORT(look_double);
HWY_EXPORT(direct_float);
HWY_EXPORT(direct_double);

namespace {

struct Runs {
    std::vector<Index> offsets;
    std::vector<double> weights;
};

/// The best disjoint runs of 2^q taps, at most `most`. `taps` by offset from the oldest sample of a window.
Runs best_runs(const std::vector<double>& taps, int q, std::size_t most) {
    const Index m = static_cast<Index>(taps.size()), length = Index{1} << q;
    std::vector<std::pair<double, Index>> all;
    for (Index o = 0; o + length <= m; ++o)
        all.emplace_back(*std::min_element(&taps[o], &taps[o] + length), o);
    std::sort(all.begin(), all.end(),
              [](auto& a, auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    Runs best;
    for (const auto& [weight, offset] : all) {
        if (best.offsets.size() == most || weight == 0) break;
        if (std::none_of(best.offsets.begin(), best.offsets.end(),
                         [&](Index o) { return std::abs(o - offset) < length; })) {
            best.offsets.push_back(offset);
            best.weights.push_back(weight);
        }
    }
    return best;
}

/// About the smallest mean of n magnitudes of normal numbers, in 10000 tries, over their standard deviation.
double smallest_mean(double n) {
    return std::exp(-9.2 / n) * (1 - 1 / (1 + std::sqrt(n) / 3)) * 0.8;
}

}  // namespace

template <class T>
Guard<T>::Guard(const std::vector<double>& taps) : taps_(static_cast<Index>(taps.size())) {
    double squares = 0;
    std::vector<double> by_offset(taps.rbegin(), taps.rend());
    for (double& h : by_offset) {
        squares += h * h;
        h = std::abs(h);
    }
    norm_ = std::sqrt(squares);
    for (auto h = taps.rbegin(); h != taps.rend(); ++h)
        reversed_.push_back(*h);
    run_ = 4 * (1 + static_cast<Index>(std::sqrt(static_cast<double>(taps_)) / 2));
    double best = -1;
    for (int q = 0; q <= 6 && (Index{1} << q) <= taps_; ++q)
        for (std::size_t most : {2, 4, 8}) {
            const Runs runs = best_runs(by_offset, q, most);
            double sum = 0;
            for (double w : runs.weights)
                sum += w * static_cast<double>(Index{1} << q);
            const double samples = static_cast<double>(runs.weights.size() << q);
            const double operations = 2 * q + 2 * static_cast<double>(runs.weights.size());
            const double score = sum * smallest_mean(samples) / (1 + 0.05 * operations);
            if (score <= best) continue;
            best = score;
            doublings_ = q;
            offsets_ = runs.offsets;
            weights_.clear();
            for (double w : runs.weights)
                weights_.push_back(static_cast<T>(w * 0.999));  // roundings in look()
        }
}

template <class T>
Level<T> Guard<T>::look(const T* x, Index outputs, T* bounds) const {
    Level<T> level{};
    const auto call = [&](auto* f) {
        f(x, outputs + taps_ - 1, outputs, doublings_, offsets_.data(), weights_.data(),
          static_cast<Index>(offsets_.size()), bounds, level);
    };
    if constexpr (std::is_same_v<T, float>)
        call(HWY_DYNAMIC_DISPATCH(look_float));
    else
        call(HWY_DYNAMIC_DISPATCH(look_double));
    return level;
}

template <class T>
void Guard<T>::direct(const T* x, Index count, T* y) const {
    if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(direct_float)(x, reversed_.data(), taps_, run_, count, y);
    else
        HWY_DYNAMIC_DISPATCH(direct_double)(x, reversed_.data(), taps_, run_, count, y);
}

template class Guard<float>;
template class Guard<double>;

}  // namespace convoy::conv1d
#endif
