// The product of wgmma_gemm: two groups of four warps compute 64 filters by one row (TF32: two rows) of 128
// outputs each, from weights and lines of samples that other warps have put into shared memory steps ahead
// (gemm_steps.hpp says what a step is): one that copies packed lines, or eight that make lines
// (wgmma_lines_cuda.cuh). Blocks stay and take one tile after the other, so that copies do not stop between
// tiles.
//
// float32 is three products of TF32: the upper and the lower half of each factor, less the product of lower
// halves. Tensor cores round sums towards zero, so chains of sums are short, small products first, and are
// then added up in float32.
#pragma once

#include "core/conv2d/wgmma_stages_cuda.cuh"

namespace convoy::conv2d::gpu {

/// Queues the products of a step: for each row of a group, 64 filters x 128 outputs.
template <bool exact, int rows>
__device__ __forceinline__ void multiply(const Tables& t, const Step& step, int taps, unsigned weights,
                                         unsigned lines, float (&sum)[rows][64]) {
    constexpr int parts = exact ? 2 : 1, passes = exact ? 3 : 1;
    const std::uint64_t a0 = tile_descriptor(weights, tile_filters * unit, 8 * unit),
                        b0 = tile_descriptor(lines, static_cast<unsigned>(t.width) * unit, 8 * unit);
    products_begin();
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
        const int lower_a = exact && pass == 0, lower_b = exact && pass == 1;
#pragma unroll 1
        for (int tap = 0; tap < taps; ++tap) {
            const int shift = step.shift + min(tap, step.last_tap) * t.tap_hop;
#pragma unroll
            for (int d = 0; d < chunks / 2; ++d) {
                const std::uint64_t a =
                    a0 + static_cast<unsigned>(((tap * parts + lower_a) * chunks + 2 * d) * tile_filters);
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    const std::uint64_t b =
                        b0 +
                        static_cast<unsigned>(((r * parts + lower_b) * chunks + 2 * d) * t.width + shift);
                    multiply_64x128x8(sum[r], a, b, !(step.begins && pass == 0 && tap == 0 && d == 0));
                }
            }
        }
    }
    products_end();
}

/// Bias and ReLU of every other pair of sums, from the `first` on.
__device__ __forceinline__ void finish(const Job& job, int filter, int first, float (&sum)[64]) {
    const float bias = job.bias != nullptr ? static_cast<const float*>(job.bias)[filter] : 0.0f;
#pragma unroll
    for (int i = first; i < 64; i += 4)
#pragma unroll
        for (int j = i; j < i + 2; ++j) {
            if (job.bias != nullptr) sum[j] += bias;
            if (job.relu && sum[j] < 0) sum[j] = 0;
        }
}

/// Writes a row of the outputs of this thread.
__device__ __forceinline__ void write(const Job& job, const Tables& t, const Place& at, unsigned row,
                                      float (&sum)[64]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    if (row >= t.rows) return;
    const Job::Steps& to = job.out_steps;
    const Index begin = t.column + Index{at.across} * tile_columns, first = begin + lane % 4 * 2;
    const int left = static_cast<int>(min(job.out_count - first, Index{tile_columns}));
    const bool whole = begin + tile_columns <= job.out_count;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int k = static_cast<int>(at.filter_tile) * tile_filters + warp * 16 + half * 8 + lane / 4;
        if (k >= job.group_filters) continue;
        const int filter = static_cast<int>(at.set) * job.group_filters + k;
        if (job.bias != nullptr || job.relu) finish(job, filter, 2 * half, sum);
        float* line = reinterpret_cast<float*>(job.out) + (t.image + at.image) * to.image +
                      filter * to.channel + (t.row + row) * to.row + first * to.column;
        if (t.pairs) {
#pragma unroll
            for (int j = 0; j < tile_columns / 8; ++j)
                if (8 * j < left)
                    reinterpret_cast<float2*>(line)[4 * j] = {sum[4 * j + 2 * half],
                                                              sum[4 * j + 2 * half + 1]};
            continue;
        }
#pragma unroll
        for (int j = 0; j < tile_columns / 8; ++j, line += 8 * to.column) {
            const Index column = first + 8 * j;
            if (whole || column < job.out_count) *line = sum[4 * j + 2 * half];
            if (whole || column + 1 < job.out_count) line[to.column] = sum[4 * j + 2 * half + 1];
        }
    }
}

/// `under_way`: steps whose products are not waited for before the next are queued, 0 or 1. With 1 products
/// follow one another without a gap; with 0 a stage is free as soon as it can be.
template <bool exact, int under_way>
__device__ void compute(const Job& job, const Tables& t, Ring ring) {
    constexpr int rows = rows_of(exact), mine = rows / groups;
    const int group = threadIdx.x / group_threads;
    const bool first_lane = threadIdx.x % 32 == 0;
    float sum[mine][64], total[exact ? 64 : 1];
    const int steps = t.rounds * (t.repeats[0] + t.repeats[1]);
    Step coming(t, 0);  // it takes as long to read as some products
    const auto wait_for_all_but = [&](auto left) {
        products_wait<decltype(left)::value>();
#pragma unroll
        for (int r = 0; r < mine; ++r)
#pragma unroll
            for (int k = 0; k < 64; ++k)
                keep(sum[r][k]);
    };
    unsigned read = 0;  // the stage whose products were the last to be queued
    for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
        const Place at(job, t, tile, rows);
        if constexpr (exact)
#pragma unroll
            for (float& x : total)
                x = 0;
        int i = 0;
        const auto take = [&](int taps) {
            const Step step = coming;
            coming = Step(t, i + 1 < steps ? i + 1 : 0);
            barrier_wait(ring.full(), ring.parity);
            multiply<exact, mine>(t, step, taps, ring.stage(),
                                  ring.stage() + t.weight_bytes + group * mine * t.line_bytes, sum);
            wait_for_all_but(std::integral_constant<int, under_way>{});
            const unsigned now = ring.empty();
            if (first_lane && (under_way == 0 || i > 0)) barrier_arrive(under_way == 0 ? now : read);
            read = now;
            if constexpr (exact) {
                if (step.ends) {
#pragma unroll
                    for (int k = 0; k < 64; ++k)
                        total[k] += sum[0][k];
                }
            }
            ring.next();
            ++i;
        };
        // Plain parameters count here: where the compiler does not see that all threads do alike, it makes
        // products wait for one another.
        for (int round = 0; round < t.rounds; ++round) {
#pragma unroll 1
            for (int j = 0; j < t.repeats[0]; ++j)
                take(t.taps[0]);
#pragma unroll 1
            for (int j = 0; j < t.repeats[1]; ++j)
                take(t.taps[1]);
        }
        if constexpr (under_way > 0) {
            wait_for_all_but(std::integral_constant<int, 0>{});
            if (first_lane) barrier_arrive(read);
        }
        if constexpr (exact) {
            write(job, t, at, at.row + group, total);
        } else {
#pragma unroll
            for (int r = 0; r < mine; ++r)
                write(job, t, at, at.row + group * mine + r, sum[r]);
        }
    }
}

}  // namespace convoy::conv2d::gpu
