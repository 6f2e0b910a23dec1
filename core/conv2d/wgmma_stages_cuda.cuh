// What the warps of wgmma_gemm share: the tables that they follow (gemm_steps.hpp), where tiles are, and
// stages in shared memory, each with the weights and lines of a step, which some warps fill and others
// multiply.
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

}  // namespace convoy::conv2d::gpu
