// How kernels read samples and write results: conversion, scaling, padding, tiles in shared memory.
#pragma once

#include "core/conv1d/cuda_maps.hpp"

namespace convoy::conv1d::gpu {

/// The shared memory of a block.
template <class T>
__device__ T* shared() {
    extern __shared__ __align__(16) std::byte memory[];
    return reinterpret_cast<T*>(memory);
}

/// Sixteen bytes of samples, and how many they are.
template <class T>
struct Vector;
template <>
struct Vector<float> {
    static constexpr int size = 4;
    using type = float4;
};
template <>
struct Vector<double> {
    static constexpr int size = 2;
    using type = double2;
};

/// Loads Vector<T>::size values from a 16-byte boundary.
template <class T>
__device__ void load_vector(T* to, const T* from) {
    const auto v = *reinterpret_cast<const typename Vector<T>::type*>(from);
    to[0] = v.x;
    to[1] = v.y;
    if constexpr (Vector<T>::size == 4) {
        to[2] = v.z;
        to[3] = v.w;
    }
}
template <class T>
__device__ void store_vector(T* to, const T* from) {
    if constexpr (Vector<T>::size == 4)
        *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
    else
        *reinterpret_cast<double2*>(to) = make_double2(from[0], from[1]);
}

/// Four samples as stored, which are loaded at once where they lie so.
template <class In>
struct alignas(sizeof(In) < 4 ? 4 * sizeof(In) : 16) Quad {
    In values[4];
};
/// Puts four values to a 16-byte boundary.
template <class T, class In, class Value>
__device__ __forceinline__ void store_quad(T* to, const Quad<In>& quad, const Value& value) {
    T values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        values[i] = value(quad.values[i]);
#pragma unroll
    for (int i = 0; i < 4; i += Vector<T>::size)
        store_vector(to + i, values + i);
}

/// One lane of the input: reads stored samples as values of T. Every kernel and every path of it converts by
/// this.
template <class T, class In>
class Lane {
  public:
    __device__ Lane(const Job& job, Index o, Index i)
        : in_(reinterpret_cast<const In*>(job.in) + job.sample_at(o, i, 0)), inner_(job.inner) {
        if (job.scales != nullptr) {
            scale_ = job.scales[job.one_scale ? 0 : job.channel(o, i)];
            scaled_ = true;
        }
    }

    __device__ double exact(In stored) const {
        return scaled_ ? fma(static_cast<double>(stored), scale_.gain, scale_.offset)
                       : static_cast<double>(stored);
    }
    __device__ T value(In stored) const {
        return scaled_ ? static_cast<T>(exact(stored)) : static_cast<T>(stored);
    }
    __device__ In stored(Index frame) const { return in_[frame * inner_]; }
    __device__ const In* at(Index frame) const { return in_ + frame * inner_; }
    __device__ Index stride() const { return inner_; }
    __device__ bool scaled() const { return scaled_; }
    /// The extended sample at any frame: padding beyond the ends, zero where no output of the run looks.
    __device__ T extended(const Job& job, Index frame) const {
        if (frame < job.reach_first() || frame >= job.reach_end()) return T{0};
        const Source s = source_of(frame, job.frames, job.padding);
        if (s.index < 0) return T{0};
        if (s.sign == 1 && s.first == 0 && s.last == 0) return value(stored(s.index));
        double sum = s.sign * exact(stored(s.index));
        // A multiple of 0 is left out: the end sample may be NaN, or not be in the window.
        if (s.first != 0) sum += static_cast<double>(s.first) * exact(stored(0));
        if (s.last != 0) sum += static_cast<double>(s.last) * exact(stored(job.frames - 1));
        return static_cast<T>(sum);
    }

  private:
    const In* in_;  // where frame 0 of the signal would be
    Index inner_;
    LaneScale scale_;
    bool scaled_ = false;
};

/// Calls f with a zero of the stored type.
template <class F>
__device__ void on_type(SampleType type, F&& f) {
    switch (type) {
        case SampleType::int16:
            return f(std::int16_t{});
        case SampleType::int32:
            return f(std::int32_t{});
        case SampleType::float32:
            return f(float{});
        default:
            return f(double{});
    }
}

/// A stretch of extended samples of each lane of a tile, sorted into phases: `count` samples of each of
/// `phases` phases; sample m of phase p is frame first + m * decimate + p.
struct Stretch {
    Index first;
    int phases, count;
    Divisor by_phases;
};

/// Samples [begin, end) of some consecutive frames.
struct Run {
    int begin, end;
};
/// Those of frames first + [0, count) that are in the window.
__device__ inline Run plain_part(const Job& job, Index first, int count) {
    const Index begin = min(max(job.in_span.first - first, Index{0}), static_cast<Index>(count));
    const Index end = min(max(job.in_span.end() - first, Index{0}), static_cast<Index>(count));
    return {static_cast<int>(begin), static_cast<int>(end)};
}

/// Puts samples k, k + step, ... below `end` of the frames from `first` on, all of which are in the window.
/// Many are on their way at once. Returns the first of these that is not below the end.
template <class T, class In, class Put>
__device__ __forceinline__ int load_run(const Lane<T, In>& lane, Index first, int k, int end, int step,
                                        const Put& put) {
    constexpr int batch = 16;
    const In* from = lane.at(first + k);
    const Index stride = step * lane.stride();
    const int past = k < end ? k + (end - k + step - 1) / step * step : k;
#pragma unroll 1
    for (; k < end; k += batch * step) {
        In values[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b, from += stride)
            if (k + b * step < end) values[b] = *from;
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (k + b * step < end) put(k + b * step, lane.value(values[b]));
    }
    return past;
}

/// Brings it to shared memory: sample m of phase p of row r to x[(r * phases + p) * pitch + m]. All threads
/// take part.
template <class T, class In>
__device__ void load_stretch(const Job& job, const Tile& tile, const Cut& cut, const Stretch& s, T* x) {
    const bool planar = job.inner == 1;
    const Seat me = seat(planar, cut.rows, blockDim.x, threadIdx.x);
    if (!me.taken || me.row >= tile.rows) return;
    const Lane<T, In> lane(job, tile.outer + (planar ? me.row : 0), tile.inner + (planar ? 0 : me.row));
    T* const row = x + me.row * s.phases * cut.pitch;
    // Sample k of the stretch; where all phases are wanted, they are consecutive frames.
    const int total = s.count * s.phases;
    const bool dense = s.phases == job.decimate;
    const auto put = [&](int k, T value) {
        const int m = s.by_phases(k);
        row[(k - m * s.phases) * cut.pitch + m] = value;
    };
    const Run there = dense ? plain_part(job, s.first, total) : Run{0, 0};
    for (int k = me.at; k < total; k += me.step) {
        if (k >= there.begin && k < there.end) {
            k = s.phases == 1
                    ? load_run(lane, s.first, k, there.end, me.step, [&](int i, T value) { row[i] = value; })
                    : load_run(lane, s.first, k, there.end, me.step, put);
            if (k >= total) break;
        }
        const int m = s.by_phases(k), p = k - m * s.phases;
        const Index frame = s.first + m * job.decimate + p;
        row[p * cut.pitch + m] =
            job.plain(frame, frame + 1) ? lane.value(lane.stored(frame)) : lane.extended(job, frame);
    }
}

/// Writes the sums of a tile from shared memory, sums[(g * rows + r) * pitch + n] of groups g, which it adds.
template <class T>
__device__ void store_tile(const Job& job, const Tile& tile, const Cut& cut, const T* sums, int pitch) {
    const bool planar = job.inner == 1;
    const Seat me = seat(planar, cut.rows, blockDim.x, threadIdx.x);
    if (!me.taken || me.row >= tile.rows) return;
    const Index left = job.out_span.end() - tile.first;
    const int count = left < cut.outputs ? static_cast<int>(left) : cut.outputs;
    T* to = reinterpret_cast<T*>(job.out) +
            job.output_at(tile.outer + (planar ? me.row : 0), tile.inner + (planar ? 0 : me.row), tile.first);
    if (cut.groups == 1) {
#pragma unroll 8
        for (int n = me.at; n < count; n += me.step)
            to[n * job.inner] = sums[me.row * pitch + n];
        return;
    }
    for (int n = me.at; n < count; n += me.step) {
        T sum = sums[me.row * pitch + n];
        for (int g = 1; g < cut.groups; ++g)
            sum += sums[(g * cut.rows + me.row) * pitch + n];
        to[n * job.inner] = sum;
    }
}

}  // namespace convoy::conv1d::gpu
