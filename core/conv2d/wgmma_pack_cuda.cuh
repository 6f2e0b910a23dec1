// Lines of samples as wgmma_gemm takes them (gemm_steps.hpp): zeros beyond the edges written out, samples in
// float32 as upper and lower halves or rounded to TF32, in units of four entries:
// [image][group][kind][line][tile of columns][upper, lower half][chunk][place][4].
#pragma once

#include <type_traits>

#include "core/conv2d/fetch_cuda.cuh"
#include "core/conv2d/gemm_steps.hpp"

namespace convoy::conv2d::gpu {

constexpr int pack_threads = 160;

struct Packed {
    float* lines;
    const int4* entries;  // GemmSteps::Entry
    int kinds, width;
    unsigned count, tiles;  // lines of a kind, tiles of a line
    bool by_channels;
    int line_step;    // rows of samples from one line to the next
    Index image;      // of the first line
    Index first_row;  // of samples, of line 0
    Index column;     // of the outputs of the window, of tile 0
    bool vectors;     // channels are neighbours that may be read four at a time
};

/// As TF32, to nearest.
__device__ __forceinline__ float rounded_to_tf32(float x) {
    unsigned bits;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

/// One unit of a line; `units` of a part.
template <bool exact>
__device__ __forceinline__ void put_unit(float4* to, int units, const float (&v)[4]) {
    if constexpr (exact) {
        float high[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            high[i] = __uint_as_float(__float_as_uint(v[i]) & 0xffffe000u);
        to[0] = {high[0], high[1], high[2], high[3]};
        to[units] = {v[0] - high[0], v[1] - high[1], v[2] - high[2], v[3] - high[3]};
    } else {
        to[0] = {rounded_to_tf32(v[0]), rounded_to_tf32(v[1]), rounded_to_tf32(v[2]), rounded_to_tf32(v[3])};
    }
}

/// The samples of a place's entries from `first` on, where they are channels in order, all in one row.
template <int count>
__device__ __forceinline__ void take_channels(const Job& job, const Packed& packed, const int4 first,
                                              const float* image, int there, Index row, Index column,
                                              float (&v)[count]) {
    const Index at = column + first.z;
    if (row < 0 || row >= job.rows || at < job.in_first || at >= job.in_end) return;
    const float* const from = image + row * job.in_steps.row + (at - job.in_first) * job.in_steps.column;
    if (packed.vectors) {
#pragma unroll
        for (int e = 0; e < count; e += 4)
            if (e < there) {
                const float4 x = __ldg(reinterpret_cast<const float4*>(from + e));
                v[e] = x.x, v[e + 1] = x.y, v[e + 2] = x.z, v[e + 3] = x.w;
            }
        return;
    }
#pragma unroll
    for (int e = 0; e < count; ++e)
        if (e < there) v[e] = __ldg(from + e * job.in_steps.channel);
}

/// A block makes a line of a tile, a thread a place; where channels are neighbours, four threads make one, so
/// that they read neighbours.
template <bool exact, class In>
__global__ void __launch_bounds__(pack_threads, 8)
    pack_lines(const __grid_constant__ Job job, const __grid_constant__ Packed packed) {
    constexpr int chunks = GemmSteps::chunks, each = GemmSteps::entries_each;
    constexpr int turns =
        (chunks * (GemmSteps::tile_columns + GemmSteps::longest_shift) + pack_threads - 1) / pack_threads;
    const int units = chunks * packed.width;
    unsigned rest = blockIdx.x;
    const Index tile = rest % packed.tiles;
    rest /= packed.tiles;
    const Index row = packed.first_row + Index{rest % packed.count} * packed.line_step;
    rest /= packed.count;
    const int4* const entries = packed.entries + rest % packed.kinds * each;
    rest /= packed.kinds;
    const int first_channel = static_cast<int>(rest % job.groups) * job.group_channels;
    const Index image = packed.image + rest / job.groups;
    const Index left = (job.out_first + packed.column + tile * GemmSteps::tile_columns) * job.stride_columns -
                       job.before_columns;
    float4* const to = reinterpret_cast<float4*>(packed.lines) + Index{blockIdx.x} * (exact ? 2 : 1) * units;
    const int4 first = __ldg(entries);
    const float* const from = reinterpret_cast<const float*>(job.in) + image * job.in_steps.image +
                              (first_channel + first.x) * job.in_steps.channel;
    const int there = job.group_channels - first.x;
    const bool plain = std::is_same_v<In, float> && packed.by_channels && job.scales == nullptr;
    if (plain && packed.vectors) {
        float v[turns][4] = {};
#pragma unroll
        for (int t = 0; t < turns; ++t) {
            const int i = threadIdx.x + t * pack_threads, chunk = i % chunks;
            if (i < units)
                take_channels(job, packed, first, from + 4 * chunk, there - 4 * chunk, row,
                              left + Index{i / chunks} * job.stride_columns, v[t]);
        }
#pragma unroll
        for (int t = 0; t < turns; ++t) {
            const int i = threadIdx.x + t * pack_threads;
            if (i < units) put_unit<exact>(to + i % chunks * packed.width + i / chunks, units, v[t]);
        }
        return;
    }
    for (int place = threadIdx.x; place < packed.width; place += pack_threads) {
        const Index column = left + Index{place} * job.stride_columns;
        float v[each] = {};
        if (plain) {
            take_channels(job, packed, first, from, there, row, column, v);
        } else {
#pragma unroll
            for (int e = 0; e < each; ++e) {
                const int4 entry = __ldg(entries + e);
                const Index at = row + entry.y;
                if (entry.x < 0 || at < 0 || at >= job.rows) continue;
                v[e] = Line<float, In>(job, image, first_channel + entry.x, at, 0).at(job, column + entry.z);
            }
        }
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
            const float unit[4] = {v[4 * c], v[4 * c + 1], v[4 * c + 2], v[4 * c + 3]};
            put_unit<exact>(to + c * packed.width + place, units, unit);
        }
    }
}

}  // namespace convoy::conv2d::gpu
