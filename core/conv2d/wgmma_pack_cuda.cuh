// Lines of samples as wgmma_gemm takes them (gemm_steps.hpp): zeros beyond the edges written out, samples in
// float32 as upper and lower halves or rounded to TF32, in units of four entries:
// [image][group][kind][line][tile of columns][upper, lower half][chunk][place][4].
#pragma once

#include <type_traits>

#include "core/conv2d/fetch_cuda.cuh"
#include "core/conv2d/gemm_steps.hpp"

namespace convoy::conv2d::gpu {

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

/// A block a line of a tile, a thread a place.
template <bool exact, class In>
__global__ void pack_lines(const __grid_constant__ Job job, const __grid_constant__ Packed packed) {
    constexpr int chunks = GemmSteps::chunks, each = GemmSteps::entries_each;
    const int place = threadIdx.x;
    if (place >= packed.width) return;
    unsigned rest = blockIdx.x;
    const Index tile = rest % packed.tiles;
    rest /= packed.tiles;
    const Index line = rest % packed.count;
    rest /= packed.count;
    const int4* const entries = packed.entries + rest % packed.kinds * each;
    rest /= packed.kinds;
    const int first_channel = static_cast<int>(rest % job.groups) * job.group_channels;
    const Index image = packed.image + rest / job.groups;
    const Index row = packed.first_row + line * packed.line_step;
    const Index column =
        (job.out_first + packed.column + tile * GemmSteps::tile_columns + place) * job.stride_columns -
        job.before_columns;
    const int units = chunks * packed.width;
    float4* const to =
        reinterpret_cast<float4*>(packed.lines) + Index{blockIdx.x} * (exact ? 2 : 1) * units + place;

    float v[chunks][4] = {};
    const int4 first = __ldg(entries);
    const bool plain = std::is_same_v<In, float> && packed.by_channels && job.scales == nullptr;
    if (plain) {  // channels in order, all in one row
        const Index at = column + first.z;
        if (row >= 0 && row < job.rows && at >= job.in_first && at < job.in_end) {
            const int there = job.group_channels - first.x;
            const float* const from = reinterpret_cast<const float*>(job.in) + image * job.in_steps.image +
                                      (first_channel + first.x) * job.in_steps.channel +
                                      row * job.in_steps.row + (at - job.in_first) * job.in_steps.column;
            if (packed.vectors && there >= each) {
#pragma unroll
                for (int c = 0; c < chunks; ++c) {
                    const float4 x = __ldg(reinterpret_cast<const float4*>(from) + c);
                    v[c][0] = x.x, v[c][1] = x.y, v[c][2] = x.z, v[c][3] = x.w;
                }
            } else {
#pragma unroll
                for (int e = 0; e < each; ++e)
                    if (e < there) v[e / 4][e % 4] = __ldg(from + e * job.in_steps.channel);
            }
        }
    } else {
#pragma unroll
        for (int e = 0; e < each; ++e) {
            const int4 entry = __ldg(entries + e);
            const Index at = row + entry.y;
            if (entry.x < 0 || at < 0 || at >= job.rows) continue;
            v[e / 4][e % 4] =
                Line<float, In>(job, image, first_channel + entry.x, at, 0).at(job, column + entry.z);
        }
    }
#pragma unroll
    for (int c = 0; c < chunks; ++c)
        put_unit<exact>(to + c * packed.width, units, v[c]);
}

}  // namespace convoy::conv2d::gpu
