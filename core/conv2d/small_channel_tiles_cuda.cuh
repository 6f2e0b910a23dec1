// Tiles of small_channel: a block brings the samples of 128 columns of some rows into shared memory, and each
// thread keeps eight outputs by four columns. The eight are filters where there are enough, else rows of one
// filter; samples are read from shared memory once for all eight, and the taps of all eight once for the four
// columns.
#pragma once

#include "core/conv2d/fetch_cuda.cuh"
#include "core/conv2d/small_channel_cuda.cuh"

namespace convoy::conv2d::gpu::tiles {

constexpr int lanes = 32, warps = 8, threads = lanes * warps;
constexpr int columns = lanes * across;  // of a block
constexpr int blocks_at_once(bool single) {
    return single ? 3 : 2;
}

/// Where a block's outputs are.
struct Place {
    Index column, row, image;
    int part, group;

    __device__ Place(const Job& job, const Tile& tile, unsigned rest, int down) {
        column = Index{rest % tile.tiles_across} * columns;
        rest /= tile.tiles_across;
        row = Index{rest % tile.tiles_down} * down;
        rest /= tile.tiles_down;
        part = static_cast<int>(rest % static_cast<unsigned>(job.parts));
        rest /= static_cast<unsigned>(job.parts);
        group = static_cast<int>(rest % static_cast<unsigned>(job.groups));
        image = rest / static_cast<unsigned>(job.groups);
    }
};

/// Samples as they are stored, by asynchronous copies, many at once; P: the stride of columns.
template <int P>
__device__ __forceinline__ void copy_samples(const Job& job, const Tile& tile, const Place& at, float* x) {
    constexpr int turns = 5;  // of 32 places: a line's width
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const int top = static_cast<int>(at.row * job.stride_rows - job.before_rows);
    const int first = static_cast<int>((job.out_first + at.column) * P - job.before_columns - job.in_first);
    const int count = static_cast<int>(job.in_end - job.in_first),
              step = static_cast<int>(job.in_steps.column);
    const float* from = reinterpret_cast<const float*>(job.in) + at.image * job.in_steps.image +
                        Index{at.group} * job.group_channels * job.in_steps.channel + at.part +
                        Index{first} * step;
    bool inside[P][turns];
#pragma unroll
    for (int phase = 0; phase < P; ++phase)
#pragma unroll
        for (int i = 0; i < turns; ++i)
            inside[phase][i] =
                lane + 32 * i < tile.width &&
                static_cast<unsigned>(first + (lane + 32 * i) * P + phase) < static_cast<unsigned>(count);
    const unsigned row_bytes = P * tile.width * sizeof(float);
    unsigned plane = static_cast<unsigned>(__cvta_generic_to_shared(x)) + lane * sizeof(float);
    for (int c = 0; c < job.group_channels; ++c, from += job.in_steps.channel, plane += tile.rows * row_bytes)
        for (int r = warp; r < tile.rows; r += warps) {
            const unsigned to = plane + r * row_bytes;
            const int row = top + r;
            const bool there = row >= 0 && row < job.rows;
            const float* const line = from + Index{row} * job.in_steps.row + lane * P * step;
#pragma unroll
            for (int phase = 0; phase < P; ++phase)
#pragma unroll
                for (int i = 0; i < turns; ++i)
                    if (lane + 32 * i < tile.width)
                        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                                         to + (phase * tile.width + 32 * i) * 4),
                                     "l"(line + (32 * i * P + phase) * step),
                                     "r"(there && inside[phase][i] ? 4 : 0));
        }
}

/// Samples of any type, scaled.
template <class In>
__device__ __forceinline__ void bring_samples(const Job& job, const Tile& tile, const Place& at, float* x) {
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const Index top = at.row * job.stride_rows - job.before_rows;
    const Index left = (job.out_first + at.column) * job.stride_columns - job.before_columns;
    for (int c = 0; c < job.group_channels; ++c)
        for (int r = warp; r < tile.rows; r += warps) {
            const Index row = top + r;
            const bool there = row >= 0 && row < job.rows;
            const Line<float, In> from(job, at.image, at.group * job.group_channels + c, there ? row : 0,
                                       at.part);
            float* to = x + (c * tile.rows + r) * tile.phases * tile.width;
            for (int phase = 0; phase < tile.phases; ++phase, to += tile.width)
                for (int i = lane; i < tile.width; i += lanes)
                    to[i] = there ? from.at(job, left + Index{i} * job.stride_columns + phase) : 0.0f;
        }
}

__device__ __forceinline__ void bring_weights(const float* from, int count, float* w) {
    for (int i = threadIdx.x; i < count / 4; i += threads)
        reinterpret_cast<float4*>(w)[i] = reinterpret_cast<const float4*>(from)[i];
}

/// Writes outputs o = 0, 1, ... that are there: rows of filter `filter`, or filters from it on.
template <bool by_rows>
__device__ __forceinline__ void write(const Job& job, const Tile& tile, const Place& at, int filter,
                                      Index row, int there, const float (&sum)[outputs][across]) {
    const Job::Steps& to = job.out_steps;
    const Index q = at.column + threadIdx.x % lanes * across;
    const Index step = by_rows ? to.row : to.channel;
    float* line = reinterpret_cast<float*>(job.out) + at.image * to.image + filter * to.channel +
                  row * to.row + q * to.column + at.part;
    const bool whole = tile.vectors && q + across <= job.out_count;
#pragma unroll
    for (int o = 0; o < outputs; ++o, line += step) {
        if (o >= there) return;
        const bool biased = job.bias != nullptr;
        const float bias = biased ? static_cast<const float*>(job.bias)[by_rows ? filter : filter + o] : 0.0f;
        float v[across];
#pragma unroll
        for (int j = 0; j < across; ++j) {
            v[j] = biased ? sum[o][j] + bias : sum[o][j];
            if (job.relu && v[j] < 0) v[j] = 0;
        }
        if (whole) {
            *reinterpret_cast<float4*>(line) = {v[0], v[1], v[2], v[3]};
            continue;
        }
#pragma unroll
        for (int j = 0; j < across; ++j)
            if (q + j < job.out_count) line[j * to.column] = v[j];
    }
}

/// Blocks stay and take one tile after the other. S, P: as filters_of has them; samples then are used as they
/// are stored.
template <bool by_rows, bool single, class In, int S, int P>
__global__ void __launch_bounds__(threads, blocks_at_once(single))
    small_channel(const __grid_constant__ Job job, const __grid_constant__ Tile tile, const float* arranged,
                  int weights) {
    extern __shared__ __align__(16) float memory[];
    constexpr int down = by_rows ? warps * outputs : warps;
    const int row_step = tile.phases * tile.width, samples = job.group_channels * tile.rows * row_step;
    float* const w = memory + tile.buffers * samples;
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const int first_batch = static_cast<int>(blockIdx.y) * tile.batches_each;
    const int end_batch = min(first_batch + tile.batches_each, tile.batches);
    const auto bring = [&](unsigned i, int buffer) {
        if (i < tile.tiles) {
            const Place at(job, tile, i, down);
            if constexpr (S > 0)
                copy_samples<P>(job, tile, at, memory + buffer * samples);
            else
                bring_samples<In>(job, tile, at, memory + buffer * samples);
        }
        asm volatile("cp.async.commit_group;");
    };
    int group = -1, buffer = 0;
    bring(blockIdx.x, 0);
    for (unsigned i = blockIdx.x; i < tile.tiles; i += gridDim.x) {
        const Place at(job, tile, i, down);
        const float* const from = arranged + Index{at.group} * tile.batches * weights;
        if (tile.resident && at.group != group)
            bring_weights(from + first_batch * weights, weights * (end_batch - first_batch), w);
        group = at.group;
        if (tile.buffers == 2) {
            bring(i + gridDim.x, buffer ^ 1);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        const float* const x = memory + buffer * samples +
                               warp * (by_rows ? outputs : job.stride_rows) * row_step + lane * across;
        const Index row = at.row + warp * (by_rows ? outputs : 1), rows_left = job.out_rows - row;
        for (int batch = first_batch; batch < end_batch; ++batch) {
            if (!tile.resident) {
                __syncthreads();
                bring_weights(from + batch * weights, weights, w);
                __syncthreads();
            }
            if (rows_left <= 0) continue;
            const float* const taps = w + (tile.resident ? (batch - first_batch) * weights : 0);
            Sums<single> sums;
            if constexpr (by_rows)
                rows_of<single, S, P>(job, tile, x, taps, sums);
            else
                filters_of<single, S, P>(job, tile, x, taps, sums);
            const int first = by_rows ? batch : batch * outputs;
            const int there =
                static_cast<int>(by_rows ? min(rows_left, Index{outputs})
                                         : min(Index{job.group_filters - first}, Index{outputs}));
            write<by_rows>(job, tile, at, at.group * job.group_filters + first, row, there, sums.result());
        }
        __syncthreads();
        if (tile.buffers == 2)
            buffer ^= 1;
        else
            bring(i + gridDim.x, 0);
    }
}

}  // namespace convoy::conv2d::gpu::tiles
