#include "core/fft/pair.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/fft/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fft/pair.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/fft/pair-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::fft::HWY_NAMESPACE {

void columns_double(const double* a, const double* b, Index m, const double* turns, double* z) {
    columns_forward(hn::ScalableTag<double>(), a, b, m, turns, z);
}
Size<float> pair_float(const float* a, const float* b, float* ya, float* yb, Index keep, Index m,
                       const float* turns, const float* w, const float* h, float* z) {
    return convolve_pair(hn::ScalableTag<float>(), a, b, ya, yb, keep, m, turns, w, h, z);
}
Size<double> pair_mixed(const float* a, const float* b, float* ya, float* yb, Index keep, Index m,
                        const double* turns, const double* w, const double* h, double* z) {
    return convolve_pair(hn::ScalableTag<double>(), a, b, ya, yb, keep, m, turns, w, h, z);
}
Size<double> pair_double(const double* a, const double* b, double* ya, double* yb, Index keep, Index m,
                         const double* turns, const double* w, const double* h, double* z) {
    return convolve_pair(hn::ScalableTag<double>(), a, b, ya, yb, keep, m, turns, w, h, z);
}
Size<float> every_float(const float* a, const float* b, float* ya, float* yb, Index keep,
                        const Factors<float>& there, const Factors<float>& back, const std::int32_t* alike,
                        const float* h, float* z) {
    return convolve_pair_every(hn::ScalableTag<float>(), a, b, ya, yb, keep, there, back, alike, h, z);
}
Size<double> every_mixed(const float* a, const float* b, float* ya, float* yb, Index keep,
                         const Factors<double>& there, const Factors<double>& back, const std::int32_t* alike,
                         const double* h, double* z) {
    return convolve_pair_every(hn::ScalableTag<double>(), a, b, ya, yb, keep, there, back, alike, h, z);
}
Size<double> every_double(const double* a, const double* b, double* ya, double* yb, Index keep,
                          const Factors<double>& there, const Factors<double>& back,
                          const std::int32_t* alike, const double* h, double* z) {
    return convolve_pair_every(hn::ScalableTag<double>(), a, b, ya, yb, keep, there, back, alike, h, z);
}

}  // namespace convoy::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::fft {

HWY_EXPORT(columns_double);
HWY_EXPORT(pair_float);
HWY_EXPORT(pair_mixed);
HWY_EXPORT(pair_double);
HWY_EXPORT(every_float);
HWY_EXPORT(every_mixed);
HWY_EXPORT(every_double);

namespace {

template <class T>
T* data(const device::Buffer& buffer) {
    return reinterpret_cast<T*>(buffer.data());
}

template <class T>
device::Buffer buffer_of(Index values) {
    return {device::cpu(), static_cast<std::size_t>(values) * sizeof(T)};
}

/// e^(-2 pi i row column / n) as [16 columns][row 1 .. 15][part][column].
template <class T>
device::Buffer outer_turns(Index n) {
    const Index m = n / rows;
    const Turns turn(n);
    device::Buffer turns = buffer_of<T>(m / 16 * 15 * 32);
    T* to = data<T>(turns);
    for (Index at = 0; at < m; at += 16)
        for (Index r = 1; r < rows; ++r, to += 32)
            for (Index c = 0; c < 16; ++c) {
                const Turn t = turn(r * (at + c));
                to[c] = static_cast<T>(t.cos);
                to[16 + c] = static_cast<T>(t.sin);
            }
    return turns;
}

/// Values as [position][part][row] to or from the order of the lanes, [group of rows][position][part][lane];
/// `wide` is the former.
template <class Wide, class Lanes, class Copy>
void for_lanes(Index positions, Index lanes, Wide* wide, Lanes* narrow, const Copy& copy) {
    for (Index first = 0; first < rows; first += lanes)
        for (Index at = 0; at < 2 * positions; ++at, narrow += lanes)
            copy(wide + at * rows + first, narrow);
}

}  // namespace

double largest_of(const std::vector<double>& spectrum) {
    double largest = 0;
    for (std::size_t i = 0; i < spectrum.size(); i += 2 * rows)
        for (std::size_t r = i; r < i + rows; ++r)
            largest = std::max(largest, spectrum[r] * spectrum[r] + spectrum[r + rows] * spectrum[r + rows]);
    return std::sqrt(largest);
}

template <class T>
PairConvolver<T>::Back::Back(Index n, Index every, const std::vector<Index>& position)
    : lane(n / every / rows), turns(outer_turns<T>(n / every)), alike(static_cast<std::size_t>(n / rows)) {
    for (Index k = 0; k < lane.size(); ++k)
        for (Index j = 0; j < every; ++j)
            alike[static_cast<std::size_t>(lane.position()[k] * every + j)] =
                static_cast<std::int32_t>(position[static_cast<std::size_t>(k + j * lane.size())]);
}

template <class T>
PairConvolver<T>::PairConvolver(Index n, Index every)
    : lane_(n / rows), turns_(outer_turns<T>(n)), every_(every) {
    if (every > 1) back_.emplace(n, every, lane_.position());
}

template <class T>
std::vector<double> PairConvolver<T>::spectrum(const std::vector<double>& taps,
                                               Index advance) const requires std::is_same_v<T, double> {
    const Index n = size(), lanes = lane_.lanes();
    const device::Buffer z = buffer_of<double>(2 * n);
    std::vector<double> values(static_cast<std::size_t>(2 * n));  // first the taps and a block of zeros
    for (Index k = 0; k < static_cast<Index>(taps.size()); ++k)
        values[static_cast<std::size_t>((k - advance % n + n) % n)] +=
            taps[static_cast<std::size_t>(k)] / static_cast<double>(n);
    HWY_DYNAMIC_DISPATCH(columns_double)
    (values.data(), values.data() + n, lane_.size(), data<double>(turns_), data<double>(z));
    for (Index g = 0; g < rows / lanes; ++g)
        lane_.forward(data<double>(z) + g * lane_.batch());
    for_lanes(lane_.size(), lanes, values.data(), data<double>(z),
              [&](double* to, const double* from) { std::copy_n(from, lanes, to); });
    return values;
}

template <class T>
device::Buffer PairConvolver<T>::load(const std::vector<double>& spectrum) const {
    const Index lanes = lane_.lanes();
    device::Buffer taps = buffer_of<T>(2 * size());
    for_lanes(lane_.size(), lanes, spectrum.data(), data<T>(taps), [&](const double* from, T* to) {
        std::transform(from, from + lanes, to, [](double v) { return static_cast<T>(v); });
    });
    return taps;
}

template <class T>
template <class S>
Size<T> PairConvolver<T>::run(const device::Buffer& taps, const S* a, const S* b, S* ya, S* yb, Index keep,
                              T* scratch) const {
    const auto call = [&](auto* convolve) {
        return convolve(a, b, ya, yb, keep, lane_.size(), data<T>(turns_), lane_.twiddles(), data<T>(taps),
                        scratch);
    };
    if constexpr (std::is_same_v<T, float>)
        return call(HWY_DYNAMIC_DISPATCH(pair_float));
    else if constexpr (std::is_same_v<S, float>)
        return call(HWY_DYNAMIC_DISPATCH(pair_mixed));
    else
        return call(HWY_DYNAMIC_DISPATCH(pair_double));
}

template <class T>
template <class S>
Size<T> PairConvolver<T>::run_every(const device::Buffer& taps, const S* a, const S* b, S* ya, S* yb,
                                    Index keep, T* scratch) const {
    const auto call = [&](auto* convolve) {
        return convolve(a, b, ya, yb, keep, {lane_.size(), data<T>(turns_), lane_.twiddles()},
                        {back_->lane.size(), data<T>(back_->turns), back_->lane.twiddles()},
                        back_->alike.data(), data<T>(taps), scratch);
    };
    if (every_ == 1) return run(taps, a, b, ya, yb, keep, scratch);
    if constexpr (std::is_same_v<T, float>)
        return call(HWY_DYNAMIC_DISPATCH(every_float));
    else if constexpr (std::is_same_v<S, float>)
        return call(HWY_DYNAMIC_DISPATCH(every_mixed));
    else
        return call(HWY_DYNAMIC_DISPATCH(every_double));
}

template class PairConvolver<float>;
template class PairConvolver<double>;
template Size<float> PairConvolver<float>::run(const device::Buffer&, const float*, const float*, float*,
                                               float*, Index, float*) const;
template Size<double> PairConvolver<double>::run(const device::Buffer&, const float*, const float*, float*,
                                                 float*, Index, double*) const;
template Size<double> PairConvolver<double>::run(const device::Buffer&, const double*, const double*, double*,
                                                 double*, Index, double*) const;
template Size<float> PairConvolver<float>::run_every(const device::Buffer&, const float*, const float*,
                                                     float*, float*, Index, float*) const;
template Size<double> PairConvolver<double>::run_every(const device::Buffer&, const float*, const float*,
                                                       float*, float*, Index, double*) const;
template Size<double> PairConvolver<double>::run_every(const device::Buffer&, const double*, const double*,
                                                       double*, double*, Index, double*) const;

}  // namespace convoy::fft
#endif
