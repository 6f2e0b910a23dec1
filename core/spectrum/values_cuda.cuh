// How kernels read samples and turn bins into values; every kernel does both by this.
#pragma once

#include <limits>

#include "core/spectrum/cuda_job.hpp"
#include "core/spectrum/squares.hpp"

namespace convoy::spectrum::gpu {

__device__ inline double stored_value(const Input& in, Index at) {
    switch (in.type) {
        case SampleType::int16:
            return static_cast<double>(reinterpret_cast<const std::int16_t*>(in.data)[at]);
        case SampleType::int32:
            return static_cast<double>(reinterpret_cast<const std::int32_t*>(in.data)[at]);
        case SampleType::float32:
            return static_cast<double>(reinterpret_cast<const float*>(in.data)[at]);
        default:
            return reinterpret_cast<const double*>(in.data)[at];
    }
}

/// The extended sample at any frame: scaled, and padded beyond the signal's ends.
template <class T>
__device__ T sample(const Input& in, Index channel, Index part, Index frame) {
    LaneScale scale;
    if (in.scales != nullptr) scale = in.scales[in.one_scale ? 0 : in.channel_first + channel];
    const auto value = [&](Index f) {
        const double stored = stored_value(in, in.at(channel, part, f));
        return in.scales == nullptr ? stored : __dadd_rn(__dmul_rn(stored, scale.gain), scale.offset);
    };
    const Source s = source_of(frame, in.frames, in.padding);
    if (s.index < 0) return T{0};
    double sum = s.sign * value(s.index);
    // A multiple of 0 is left out: the end sample may be NaN, or not be in the window.
    if (s.first != 0) sum += static_cast<double>(s.first) * value(0);
    if (s.last != 0) sum += static_cast<double>(s.last) * value(in.frames - 1);
    return static_cast<T>(sum);
}

__device__ inline float logarithm(float v) {
    return log10f(v);
}
__device__ inline double logarithm(double v) {
    return log10(v);
}

template <class T>
__device__ T magnitude(Complex<T> x) {
    using S = Squares<T>;
    const T largest = max(fabs(x.re), fabs(x.im));
    const bool high = largest > S::high, low = largest < S::low;
    const T scale = high ? S::down : low ? S::up : T{1};
    const T re = x.re * scale, im = x.im * scale;
    return sqrt(re * re + im * im) * (high ? 1 / S::down : low ? 1 / S::up : T{1});
}

/// The value of a bin that is no complex number.
template <class T>
__device__ T value_of(const Output& out, Complex<T> x, bool alone) {
    const T gain = static_cast<T>(alone ? out.once : out.twice);
    if (out.quantity == Quantity::magnitude) return magnitude(x) * gain;
    return (x.re * x.re + x.im * x.im) * gain;
}

/// A finished value in decibels, where they are asked for; NaN stays.
template <class T>
__device__ T finished(const Output& out, T v) {
    if (!out.decibels) return v;
    const T level = static_cast<T>(out.factor) * logarithm(v) + static_cast<T>(out.offset);
    return level < static_cast<T>(out.floor) ? static_cast<T>(out.floor) : level;
}

}  // namespace convoy::spectrum::gpu
