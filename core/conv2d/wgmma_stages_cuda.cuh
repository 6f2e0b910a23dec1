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
constexpr int most_stages = 8;
constexpr std::size_t barrier_bytes = 2 * most_stages * 8;
// For warps that make lines: where their samples are; and those that wait, four for each of their threads for
// all but some rows, which registers suffice for, and for the places beyond the tile's columns.
constexpr std::size_t source_bytes = 384, waiting_at = barrier_bytes + source_bytes;
constexpr int waiting_rows(bool exact) {
    return exact ? 0 : 1;
}
constexpr std::size_t head_bytes(bool exact) {
    return waiting_at + (1 + waiting_rows(exact) * chunks) * line_threads * unit;
}

struct Tables {
    const int4* steps;    // GemmSteps::Step, two each
    const int4* entries;  // GemmSteps::Entry
    const float* weights;
    Index tile_weights;
    int rounds, taps[2], repeats[2];  // of the steps
    int tap_hop, kinds, width, line_step;
    int stages, tile_rows;
    unsigned tap_bytes, weight_bytes, line_bytes;  // of a tap, of most taps of a step, of a line
    unsigned stage_bytes, head_bytes;
    const unsigned char* lines;
    unsigned line_count, filter_tiles, tiles_across, tiles_down, tiles;
    Index image, row, column;  // of the piece's first output
    Index rows;                // of the piece
    bool pairs;                // neighbouring outputs may be written as one
    bool vectors;              // channels are neighbours that may be read four at a time
    bool by_channels;          // as GemmSteps has it
};

struct Step {
    int kind, down, weights, shift;
    bool begins, ends;
    int last_tap;
    __device__ __forceinline__ Step(const Tables& t, int i) {
        const int4 a = __ldg(t.steps + 2 * i), b = __ldg(t.steps + 2 * i + 1);
        kind = a.x, down = a.y, weights = a.z, shift = a.w;
        begins = b.x != 0, ends = b.y != 0, last_tap = b.z;
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

/// Shared memory: barriers, sources, samples that wait, stages (weights, then lines). Where
/// the next step is in the ring.
struct Ring {
    const Tables& t;
    unsigned shared;
    int at = 0;
    unsigned parity = 0;

    __device__ __forceinline__ unsigned full() const { return shared + 8 * at; }
    __device__ __forceinline__ unsigned empty() const { return shared + 8 * (most_stages + at); }
    __device__ __forceinline__ unsigned offset() const { return t.head_bytes + at * t.stage_bytes; }
    __device__ __forceinline__ unsigned stage() const { return shared + offset(); }
    __device__ __forceinline__ void next() {
        if (++at < t.stages) return;
        at = 0;
        parity ^= 1;
    }
};

/// Those of a tile.
__device__ __forceinline__ const float* weights_of(const Tables& t, const Place& at) {
    return t.weights + (Index{at.set} * t.filter_tiles + at.filter_tile) * t.tile_weights;
}
/// Announces the weights of the i-th step and `more` bytes, and copies them.
__device__ __forceinline__ void bring_weights(const Tables& t, const float* tile, const Step& step, int i,
                                              unsigned stage, unsigned full, unsigned more) {
    const unsigned taps = t.taps[i % (t.repeats[0] + t.repeats[1]) < t.repeats[0] ? 0 : 1];
    barrier_announce(full, taps * t.tap_bytes + more);
    copy_bulk(stage, tile + step.weights, taps * t.tap_bytes, full);
}

/// `fillers`: arrivals that fill a stage.
__device__ __forceinline__ Ring set_up(const Tables& t, int fillers, unsigned char* memory) {
    const Ring ring{t, static_cast<unsigned>(__cvta_generic_to_shared(memory))};
    if (threadIdx.x == 0) {
        for (Ring each = ring; each.parity == 0; each.next()) {
            barrier_make(each.full(), fillers);
            barrier_make(each.empty(), groups * group_threads / 32);
        }
        barriers_made();
    }
    __syncthreads();
    return ring;
}

/// One thread copies the weights and lines of all steps of all tiles, as stages become free.
template <bool exact>
__device__ void bring(const Job& job, const Tables& t, Ring ring) {
    constexpr int rows = rows_of(exact);
    for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
        const Place at(job, t, tile, rows);
        const float* const weights = weights_of(t, at);
        const Index set = (Index{at.image} * job.groups + at.set) * t.kinds;
        const int round = t.repeats[0] + t.repeats[1];
        for (int i = 0; i < t.rounds * round; ++i) {
            const Step step(t, i);
            const unsigned full = ring.full();
            barrier_wait(ring.empty(), ring.parity ^ 1);
            bring_weights(t, weights, step, i, ring.stage(), full, rows * t.line_bytes);
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
