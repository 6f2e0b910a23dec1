// The fast kernel of `register`: long planar rows of float or double as they are stored, without decimation.
// Blocks of threads stay and walk over tiles; while one tile is summed up, the next arrives in the other half
// of shared memory. Tiles begin where the samples are on a 16-byte boundary, so that they can be copied
// without the threads.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/fetch_cuda.cuh"
#include "core/conv1d/straight_cuda.cuh"
#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/wide_cuda.cuh"

namespace convoy::conv1d::gpu {

/// Sizes in samples: outputs and samples of a tile, taps of the table; tiles of a row.
struct StreamCut {
    int outputs, samples, taps, tiles;
};

/// Any number of taps, in shared memory.
template <class T>
struct LoopCore {
    using Sums = Neighbouring<T, 7 * Vector<T>::size>;
    static constexpr int outputs = Sums::per_thread, strips = 1, threads = 256, blocks = 2;
    struct Taps {
        const T* memory;
        int table, segment;  // values in the table, taps of a segment
    };
    static __device__ void prepare(T* g, const Taps& taps) {
        for (int j = threadIdx.x; j < taps.table; j += threads)
            g[j] = taps.memory[j];
    }
    /// x: the first sample of the lane's first output; from that of the warp, `strip`, it looks at as many
    /// samples as the warp has outputs.
    static __device__ __forceinline__ void add(T (&totals)[outputs], const T* strip, const T* g,
                                               const Taps& taps, int count, bool look, LoudAndFaint& seen) {
        if constexpr (sizeof(T) == 4)
            if (look)
#pragma unroll
                for (int i = 0; i < 32 * outputs; i += 128)
                    seen.quad(*reinterpret_cast<const float4*>(strip + threadIdx.x % 32 * 4 + i));
        Sums::add(totals, strip, threadIdx.x % 32, 0, g, count, taps.segment);
    }
    static constexpr int unseen = 0;  // samples that come before those that it looks at
};
/// 28 to 131 taps, in the launch's parameters. A warp has strips of outputs, one after another, in a tile.
template <int Quads>
struct StraightCore {
    using Sums = Straight<Quads>;
    static constexpr int outputs = Sums::outputs, strips = outputs == 12 ? 2 : 1, threads = 256,
                         blocks = outputs == 12 ? 3 : 2;
    using Taps = typename Sums::Taps;
    static __device__ void prepare(float*, const Taps&) {}
    static __device__ __forceinline__ void add(float (&totals)[outputs], const float* strip, const float*,
                                               const Taps& taps, int, bool look, LoudAndFaint& seen) {
        Sums::add(totals, strip + threadIdx.x % 32 * outputs, taps, look, seen);
    }
    static constexpr int unseen = Sums::whole;
};

/// What a warp notes in shared memory, for registers are for samples: of the row of the tile that is begun
/// next, where tile 0 begins, and the tiles that are common: they come by themselves, and go out in one
/// piece; of those in the two buffers that are not common, which they are. Places are counted in samples from
/// the windows' starts.
struct Notes {
    struct Row {
        Index in, out;
        int common;
        unsigned common_count;
        int copied, copied_end, whole, whole_end;  // as in StreamRow
    } row;
    struct Tile {
        int tile, outer;
        bool whole;  // all its outputs are wanted
    } others[2];
};

/// Brings a tile that reaches beyond the window: extended samples from `frame` on.
template <class T, class Team>
__device__ __noinline__ void fill_by_hand(const Job& job, Index outer, Index frame, int samples, T* x) {
    const Lane<T, T> lane(job, outer, 0);
    const Run there = plain_part(job, frame, samples);
    const auto put = [&](int i, T value) { x[i] = value; };
    if (there.begin < there.end)
        load_run(lane, frame, there.begin + Team::thread(), there.end, Team::size, put);
#pragma unroll 1
    for (int i = Team::thread(); i < samples; i += Team::size)
        if (i < there.begin || i >= there.end) x[i] = lane.extended(job, frame + i);
}

/// Writes the outputs of one warp from shared memory; those outside [first, end) are not wanted.
template <int Count, class T>
__device__ __forceinline__ void store_outputs(T* to, const T* sums, int lane, bool whole, bool aligned,
                                              Index first, Index end) {
    constexpr int V = Vector<T>::size;
    if (!whole) {
#pragma unroll 1
        for (int e = lane; e < Count; e += 32)
            if (e >= first && e < end) to[e] = sums[e];
        return;
    }
    // One address a thread, and the rest as constants beside it.
    if (aligned) {
        to += lane * V;
        sums += lane * V;
#pragma unroll
        for (int e = 0; e < Count; e += 32 * V) {
            T v[V];
            load_vector(v, sums + e);
            store_vector(to + e, v);
        }
    } else {
        to += lane;
        sums += lane;
#pragma unroll
        for (int e = 0; e < Count; e += 32)
            to[e] = sums[e];
    }
}

/// Writes a strip's outputs from shared memory where they cannot go in one piece.
template <int Count, class T>
__device__ __noinline__ void store_by_hand(const Job& job, const Notes::Tile& tile, Index first,
                                           const T* sums) {
    T* const to = reinterpret_cast<T*>(job.out) + first;
    const Index wanted = tile.outer * job.out_pitch;  // the first output of the row
    store_outputs<Count>(to, sums, threadIdx.x % 32, tile.whole,
                         reinterpret_cast<std::uintptr_t>(to) % 16 == 0, wanted - first,
                         wanted + job.out_span.count - first);
}

/// Looks at what is left over by tiles that each look at as many samples as they have outputs, from the
/// `unseen`th on: in the first and in the last of a row.
__device__ __forceinline__ void look_at_ends(LoudAndFaint& seen, const float* x, int unseen,
                                             const StreamCut& cut, int tile, int thread, int threads) {
    if (tile == 0)
#pragma unroll 1
        for (int i = thread * 4; i < unseen; i += threads * 4)
            seen.quad(*reinterpret_cast<const float4*>(x + i));
    if (tile + 1 == cut.tiles)
#pragma unroll 1
        for (int i = cut.outputs + unseen + thread * 4; i < cut.samples; i += threads * 4)
            seen.quad(*reinterpret_cast<const float4*>(x + i));
}

template <class T, class Team, class Core>
__global__ void __launch_bounds__(Core::threads, Core::blocks)
    stream_kernel(const __grid_constant__ Job job, const __grid_constant__ StreamCut cut,
                  const __grid_constant__ typename Core::Taps taps) {
    constexpr int V = Vector<T>::size, strip = 32 * Core::outputs, warps = Core::threads / 32,
                  teams = Core::threads / Team::size;
    // The same for the whole warp, which the compiler cannot see by itself.
    const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
    const int team = warp / (Team::size / 32), lane = threadIdx.x % 32;
    const int before = warp % (Team::size / 32) * strip * Core::strips;  // outputs of the team's warps before
    auto* const barriers = shared<std::uint64_t>();
    auto* const all_notes = reinterpret_cast<Notes*>(barriers + 2 * teams);
    Notes& notes = all_notes[warp];
    T* const g = reinterpret_cast<T*>(all_notes + warps);
    T* const sums = g + cut.taps + warp * strip;
    T* const stages = g + cut.taps + warps * strip + team * 2 * cut.samples;
    const auto* const in = reinterpret_cast<const T*>(job.in);
    auto* const out = reinterpret_cast<T*>(job.out);
    Fetch<Team> fetch(barriers + 2 * team);
    Core::prepare(g, taps);

    // The tile that is begun next.
    const int step = static_cast<int>(gridDim.x) * teams;
    int outer = 0, tile = static_cast<int>(blockIdx.x) * teams + team;
    const auto enter_row = [&] {
        outer += tile / cut.tiles;
        tile %= cut.tiles;
        if (outer >= job.outer) return;
        const StreamRow row = stream_row(job, reinterpret_cast<std::uintptr_t>(in), V, cut.samples,
                                         cut.outputs, cut.tiles, outer);
        const bool even = fetch.sends && reinterpret_cast<std::uintptr_t>(out + row.out) % 16 == 0;
        const int first = max(max(row.copied, row.whole), 1);
        const int end = min(min(row.copied_end, row.whole_end), cut.tiles - 1);
        __syncwarp();
        if (lane == 0)
            notes.row = {row.in,     row.out + before,
                         first,      even && end > first ? static_cast<unsigned>(end - first) : 0u,
                         row.copied, row.copied_end,
                         row.whole,  row.whole_end};
        __syncwarp();
    };
    struct {
        Index out;
        bool common, comes;
    } coming{0, false, false};
    const auto begin = [&](int stage) {
        T* const x = stages + stage * cut.samples;
        const Index past = static_cast<Index>(tile) * cut.outputs;
        coming.out = notes.row.out + past;
        // By a vote, so that the compiler knows that it is the same for the whole warp.
        coming.common = coming.comes =
            __all_sync(0xffffffffu, static_cast<unsigned>(tile - notes.row.common) < notes.row.common_count);
        if (!coming.common) {
            coming.comes = __all_sync(0xffffffffu, tile >= notes.row.copied && tile < notes.row.copied_end);
            const bool whole = tile >= notes.row.whole && tile < notes.row.whole_end;
            if (lane == 0) notes.others[stage] = {tile, outer, whole};
        }
        if (coming.comes)
            fetch.start(stage, x, in + notes.row.in + past, cut.samples * static_cast<int>(sizeof(T)));
        else {
            const Index frame = notes.row.in - outer * job.in_pitch + past + job.in_span.first;
            fill_by_hand<T, Team>(job, outer, frame, cut.samples, x);
            fetch.written();
        }
    };
    __syncthreads();
    enter_row();
    LoudAndFaint seen;
    const bool look = sizeof(T) == 4 && job.wide != nullptr;
    bool more = outer < job.outer;
    if (more) begin(0);
    Team::wait();
    for (int stage = 0; more; stage ^= 1) {
        const auto now = coming;
        tile += step;
        if (tile >= cut.tiles) enter_row();
        more = outer < job.outer;
        coming.comes = false;
        if (more) begin(stage ^ 1);
        if (now.comes) fetch.wait(stage, coming.comes);
        const T* const x = stages + stage * cut.samples + before;
#pragma unroll 1
        for (int s = 0; s < Core::strips; ++s) {
            T totals[Core::outputs] = {};
            Core::add(totals, x + s * strip, g, taps, static_cast<int>(job.taps), look, seen);
            fetch.sent();
            __syncwarp();
#pragma unroll
            for (int e = 0; e < Core::outputs; e += V)
                store_vector(sums + lane * Core::outputs + e, &totals[e]);
            if (now.common)
                fetch.send(out + now.out + s * strip, sums, strip * static_cast<int>(sizeof(T)));
            else {
                __syncwarp();
                store_by_hand<strip>(job, notes.others[stage], now.out + s * strip, sums);
            }
        }
        if constexpr (sizeof(T) == 4)
            if (look && !now.common)
                look_at_ends(seen, stages + stage * cut.samples, Core::unseen, cut, notes.others[stage].tile,
                             Team::thread(), Team::size);
        Team::wait();
    }
    fetch.sent();
    if constexpr (sizeof(T) == 4)
        if (look) seen.join(job.wide);
}

}  // namespace convoy::conv1d::gpu
