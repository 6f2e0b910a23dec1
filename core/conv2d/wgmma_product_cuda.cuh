// The product of wgmma_gemm: two groups of four warps compute 64 filters by one row (TF32: two rows) of 128
// outputs each, from weights and lines of samples that other warps have put into shared memory steps ahead
// (gemm_steps.hpp says what a step is): one that copies packed lines, or four that make lines
// (wgmma_lines_cuda.cuh). Blocks stay and take one tile after the other, so that copies do not stop between
// tiles.
//
// float32 is three products of TF32: the upper and the lower half of each factor, less the product of lower
// halves. Tensor cores round sums towards zero, so chains of sums are short, small products first, and are
// then added up in float32.
#pragma once

#include "core/conv2d/cuda_stage.hpp"
#include "core/conv2d/gemm_steps.hpp"
#include "core/conv2d/wgmma_cuda.cuh"

namespace convoy::conv2d::gpu {

constexpr int groups = 2, group_threads = 128, line_threads = 256;
constexpr int threads_of(bool packed) {
    return groups * group_threads + (packed ? 32 : line_threads);
}
/// Of outputs in a block.
constexpr int rows_of(bool exact) {
    return exact ? 2 : 4;
}
constexpr int tile_filters = GemmSteps::tile_filters, tile_columns = GemmSteps::tile_columns;
constexpr int chunks = GemmSteps::chunks;
constexpr int unit = 16;  // bytes: four entries of a place, four terms of a filter
constexpr int most_stages = 8, most_shifts = 1024;
constexpr std::size_t barrier_bytes = 2 * most_stages * 8;

struct Tables {
    const int4* steps;  // GemmSteps::Step, two each
    const int* shifts;
    const int4* entries;  // GemmSteps::Entry
    const float* weights;
    Index tile_weights;
    int rounds, taps[2], repeats[2];  // of the steps
    int shift_count, kinds, width, line_step;
    int stages;
    unsigned tap_bytes, weight_bytes, line_bytes;  // of a tap, of most taps of a step, of a line
    const unsigned char* lines;
    unsigned line_count, filter_tiles, tiles_across, tiles_down, tiles;
    Index image, row, column;  // of the piece's first output
    Index rows;                // of the piece
    bool pairs;                // neighbouring outputs may be written as one
    bool vectors;              // channels are neighbours that may be read four at a time
};

struct Step {
    int kind, down, weights, first_tap;
    bool begins, ends;
    __device__ __forceinline__ Step(const Tables& t, int i) {
        const int4 a = __ldg(t.steps + 2 * i), b = __ldg(t.steps + 2 * i + 1);
        kind = a.x, down = a.y, weights = a.z, first_tap = a.w;
        begins = b.x != 0, ends = b.y != 0;
    }
};

/// Where a tile's outputs are in the piece.
struct Place {
    unsigned filter_tile, across, row, set, image;  // set: of filters and channels

    __device__ Place(const Job& job, const Tables& t, unsigned tile, int rows) {
        filter_tile = tile % t.filter_tiles;
        tile /= t.filter_tiles;
        across = tile % t.tiles_across;
        tile /= t.tiles_across;
        row = tile % t.tiles_down * rows;
        tile /= t.tiles_down;
        set = tile % static_cast<unsigned>(job.groups);
        image = tile / static_cast<unsigned>(job.groups);
    }
};

/// Shared memory: stages (weights, then lines), barriers, shifts. Where the next step is in the ring.
struct Ring {
    unsigned memory, stage_bytes, full, empty;
    int stages, at = 0;
    unsigned parity = 0;

    __device__ Ring(unsigned shared, const Tables& t, int rows)
        : memory(shared),
          stage_bytes(t.weight_bytes + rows * t.line_bytes),
          full(shared + t.stages * stage_bytes),
          empty(full + 8 * most_stages),
          stages(t.stages) {}
    __device__ __forceinline__ unsigned stage() const { return memory + at * stage_bytes; }
    __device__ __forceinline__ void next() {
        if (++at < stages) return;
        at = 0;
        parity ^= 1;
    }
};

/// The weights of a step.
struct StepWeights {
    const float* from;
    unsigned bytes;
    __device__ __forceinline__ StepWeights(const Tables& t, const Place& at, const Step& step, int i)
        : from(t.weights + (Index{at.set} * t.filter_tiles + at.filter_tile) * t.tile_weights + step.weights),
          bytes(t.taps[i % (t.repeats[0] + t.repeats[1]) < t.repeats[0] ? 0 : 1] * t.tap_bytes) {}
    /// Announces them and `more` bytes, and copies them.
    __device__ __forceinline__ void bring(unsigned stage, unsigned full, unsigned more) const {
        barrier_announce(full, bytes + more);
        copy_bulk(stage, from, bytes, full);
    }
};

/// One thread copies the weights and lines of all steps of all tiles, as stages become free.
template <bool exact>
__device__ void bring(const Job& job, const Tables& t, Ring ring) {
    constexpr int rows = rows_of(exact);
    for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
        const Place at(job, t, tile, rows);
        const Index set = (Index{at.image} * job.groups + at.set) * t.kinds;
        const int round = t.repeats[0] + t.repeats[1];
        for (int i = 0; i < t.rounds * round; ++i) {
            const Step step(t, i);
            const unsigned full = ring.full + 8 * ring.at;
            barrier_wait(ring.empty + 8 * ring.at, ring.parity ^ 1);
            StepWeights(t, at, step, i).bring(ring.stage(), full, rows * t.line_bytes);
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                // Rows that are not there are computed from the last one, and not written.
                const Index row = min(Index{at.row} + r, t.rows - 1);
                const Index line = (set + step.kind) * t.line_count + row * t.line_step + step.down;
                copy_bulk(ring.stage() + t.weight_bytes + r * t.line_bytes,
                          t.lines + (line * t.tiles_across + at.across) * t.line_bytes, t.line_bytes, full);
            }
            ring.next();
        }
    }
}

/// Queues the products of a step: for each row of a group, 64 filters x 128 outputs.
template <bool exact, int rows>
__device__ __forceinline__ void multiply(const Tables& t, const Step& step, int taps, const int* shifts,
                                         unsigned weights, unsigned lines, float (&sum)[rows][64]) {
    constexpr int parts = exact ? 2 : 1, passes = exact ? 3 : 1;
    const std::uint64_t a0 = tile_descriptor(weights, tile_filters * unit, 8 * unit),
                        b0 = tile_descriptor(lines, static_cast<unsigned>(t.width) * unit, 8 * unit);
    products_begin();
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
        const int lower_a = exact && pass == 0, lower_b = exact && pass == 1;
#pragma unroll 1
        for (int tap = 0; tap < taps; ++tap) {
            const int shift = shifts[step.first_tap + tap];
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
    const bool whole = begin + tile_columns <= job.out_count;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int k = static_cast<int>(at.filter_tile) * tile_filters + warp * 16 + half * 8 + lane / 4;
        if (k >= job.group_filters) continue;
        const int filter = static_cast<int>(at.set) * job.group_filters + k;
        if (job.bias != nullptr || job.relu) finish(job, filter, 2 * half, sum);
        float* line = reinterpret_cast<float*>(job.out) + (t.image + at.image) * to.image +
                      filter * to.channel + (t.row + row) * to.row + first * to.column;
        if (whole && t.pairs) {
#pragma unroll
            for (int j = 0; j < tile_columns / 8; ++j)
                reinterpret_cast<float2*>(line)[4 * j] = {sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]};
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

template <bool exact>
__device__ void compute(const Job& job, const Tables& t, const int* shifts, Ring ring) {
    constexpr int rows = rows_of(exact), mine = rows / groups;
    const int group = threadIdx.x / group_threads;
    const bool first_lane = threadIdx.x % 32 == 0;
    float sum[mine][64], total[exact ? 64 : 1];
    const int steps = t.rounds * (t.repeats[0] + t.repeats[1]);
    Step coming(t, 0);  // it takes as long to read as some products
    const auto wait_for = [&](auto pending) {
        products_wait<decltype(pending)::value>();
#pragma unroll
        for (int r = 0; r < mine; ++r)
#pragma unroll
            for (int i = 0; i < 64; ++i)
                keep(sum[r][i]);
    };
    for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
        const Place at(job, t, tile, rows);
        if constexpr (exact)
#pragma unroll
            for (float& x : total)
                x = 0;
        unsigned before = 0;  // the stage that the products under way do not read
        int i = 0;
        const auto take = [&](int taps) {
            const Step step = coming;
            coming = Step(t, i + 1 < steps ? i + 1 : 0);
            barrier_wait(ring.full + 8 * ring.at, ring.parity);
            multiply<exact, mine>(t, step, taps, shifts, ring.stage(),
                                  ring.stage() + t.weight_bytes + group * mine * t.line_bytes, sum);
            const unsigned now = ring.empty + 8 * ring.at;
            if constexpr (exact) {
                wait_for(std::integral_constant<int, 0>{});
                if (first_lane) barrier_arrive(now);
                if (step.ends)
#pragma unroll
                    for (int k = 0; k < 64; ++k)
                        total[k] += sum[0][k];
            } else {
                wait_for(std::integral_constant<int, 1>{});
                if (i > 0 && first_lane) barrier_arrive(before);
                before = now;
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
        if constexpr (exact) {
            write(job, t, at, at.row + group, total);
        } else {
            wait_for(std::integral_constant<int, 0>{});
            if (first_lane) barrier_arrive(before);
#pragma unroll
            for (int r = 0; r < mine; ++r)
                write(job, t, at, at.row + group * mine + r, sum[r]);
        }
    }
}

/// What the shared memory of a block is; `fillers`: arrivals that fill a stage.
__device__ __forceinline__ Ring set_up(const Tables& t, int rows, int threads, int fillers,
                                       unsigned char* memory) {
    const Ring ring(static_cast<unsigned>(__cvta_generic_to_shared(memory)), t, rows);
    int* const shifts = reinterpret_cast<int*>(memory + t.stages * ring.stage_bytes + barrier_bytes);
    for (int i = threadIdx.x; i < t.shift_count; i += threads)
        shifts[i] = t.shifts[i];
    if (threadIdx.x == 0) {
        for (int i = 0; i < t.stages; ++i) {
            barrier_make(ring.full + 8 * i, fillers);
            barrier_make(ring.empty + 8 * i, groups * group_threads / 32);
        }
        barriers_made();
    }
    __syncthreads();
    return ring;
}
__device__ __forceinline__ const int* shifts_in(const Tables& t, const Ring& ring, unsigned char* memory) {
    return reinterpret_cast<int*>(memory + t.stages * ring.stage_bytes + barrier_bytes);
}

}  // namespace convoy::conv2d::gpu
