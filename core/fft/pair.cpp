#include "core/fft/pair.hpp"

#include <algorithm>
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

}  // namespace convoy::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::fft {

HWY_EXPORT(columns_double);
HWY_EXPORT(pair_float);
HWY_EXPORT(pair_mixed);
HWY_EXPORT(pair_double);

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
    device::Buffer turns = buffer_of<T>(m / 16 * 15 * 32);
    T* to = data<T>(turns);
    for (Index at = 0; at < m; at += 16)
        for (Index r = 1; r < rows; ++r, to += 32)
            for (Index c = 0; c < 16; ++c) {
                const Turn t = turn(r * (at + c), n);
                to[c] = static_cast<T>(t.cos);
                to[16 + c] = static_cast<T>(t.sin);
            }
    return turns;
}

/// Where number (row, position, part) of a series lies among the lanes, m positions a row.
Index place(Index row, Index position, Index part, Index m, Index lanes) {
    return row / lanes * 2 * m * lanes + (2 * position + part) * lanes + row % lanes;
}

}  // namespace

std::vector<double> pair_spectrum(const std::vector<double>& taps, Index n, Index advance) {
    const Index m = n / rows, lanes = simd_lanes<double>();
    const device::Buffer turns = outer_turns<double>(n), z = buffer_of<double>(2 * n);
    std::vector<double> blocks(static_cast<std::size_t>(2 * n));
    for (Index k = 0; k < static_cast<Index>(taps.size()); ++k)
        blocks[static_cast<std::size_t>((k - advance % n + n) % n)] +=
            taps[static_cast<std::size_t>(k)] / static_cast<double>(n);
    HWY_DYNAMIC_DISPATCH(columns_double)
    (blocks.data(), blocks.data() + n, m, data<double>(turns), data<double>(z));
    const LaneFft<double> lane(m);
    for (Index g = 0; g < rows / lanes; ++g)
        lane.forward(data<double>(z) + g * lane.batch());
    for (Index i = 0; i < 2 * n; ++i)
        blocks[static_cast<std::size_t>(i)] = data<double>(z)[place(i / 2 / m, i / 2 % m, i % 2, m, lanes)];
    return blocks;
}

template <class T>
PairConvolver<T>::PairConvolver(Index n) : lane_(n / rows), turns_(outer_turns<T>(n)) {}

template <class T>
device::Buffer PairConvolver<T>::load(const std::vector<double>& spectrum) const {
    const Index m = lane_.size();
    device::Buffer taps = buffer_of<T>(2 * size());
    for (Index i = 0; i < 2 * size(); ++i)
        data<T>(taps)[place(i / 2 / m, i / 2 % m, i % 2, m, lane_.lanes())] =
            static_cast<T>(spectrum[static_cast<std::size_t>(i)]);
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

template class PairConvolver<float>;
template class PairConvolver<double>;
template Size<float> PairConvolver<float>::run(const device::Buffer&, const float*, const float*, float*,
                                               float*, Index, float*) const;
template Size<double> PairConvolver<double>::run(const device::Buffer&, const float*, const float*, float*,
                                                 float*, Index, double*) const;
template Size<double> PairConvolver<double>::run(const device::Buffer&, const double*, const double*, double*,
                                                 double*, Index, double*) const;

}  // namespace convoy::fft
#endif
