// The fast kernel of `register`: long planar rows of float or double as they are stored, without decimation.
// Blocks of threads stay and walk over tiles; while one tile is summed up, the next arrives in the other half
// of shared memory. Tiles begin where the samples are on a 16-byte boundary, so that they can be copied
// without the threads. Those at the ends of rows are done first, by code of their own: the loop over the
// others has few instructions beside its products, and its code stays in the instruction cache.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/fetch_cuda.cuh"
#include "core/conv1d/straight_cuda.cuh"
#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/wide_cuda.cuh"

namespace convoy::conv1d::gpu {

/// How rows are cut: taps of a segment; tiles of a row, and the plain ones (stream_tiles) from `begin` on.
struct StreamCut {
    int segment, tiles, begin, plain;
};

/// Any number of taps, in shared memory.
template <class T>
struct LoopCore {
    static constexpr int V = Vector<T>::size;
    using Loop = Neighbouring<T, 7 * V>;
    static constexpr int outputs = Loop::per_thread, strips = 1, threads = 512, blocks = 1;
    struct Taps {
        const T* memory;
    };
    /// Samples that a tile has more than outputs; values of the table of taps.
    CONVOY_HD static constexpr int halo(int taps) { return static_cast<int>(round_up(taps, V)) + V; }
    CONVOY_HD static constexpr int table(int taps) { return halo(taps) + V; }
    static __device__ void prepare(T* g, const Taps& taps, int count) {
        for (int j = threadIdx.x; j < table(count); j += threads)
            g[j] = taps.memory[j];
    }
    /// Sums the warp's outputs; x: the first sample of its first output. It looks at as many samples as the
    /// warp has outputs.
    static __device__ __forceinline__ void add(T (&totals)[outputs], const T* x, const T* g, const Taps&,
                                               int count, int segment, bool look, LoudAndFaint& seen) {
        if constexpr (sizeof(T) == 4) {
            if (look)
#pragma unroll
                for (int i = 0; i < 32 * outputs; i += 128)
                    seen.quad(*reinterpret_cast<const float4*>(x + threadIdx.x % 32 * 4 + i));
        }
        for (T& total : totals)
            total = Loop::nothing;
        Loop::add(totals, x, threadIdx.x % 32, 0, g, count, segment);
    }
};
/// 12 to 131 taps, in the launch's parameters. A warp has strips of outputs, one after another, in a tile.
template <int Quads>
struct StraightCore {
    using Sums = Straight<Quads>;
    using Taps = typename Sums::Taps;
    static constexpr int outputs = Sums::outputs, strips = outputs == 28 ? 1 : 2,
                         threads = outputs == 12 ? 768 : 512, blocks = 1;
    using Loop = Neighbouring<float, outputs>;
    // Constants, whatever the rest: so are all places in shared memory.
    CONVOY_HD static constexpr int halo(int) { return Sums::whole + 2 * Sums::V; }
    CONVOY_HD static constexpr int table(int) { return Sums::whole + 3 * Sums::V; }
    static __device__ void prepare(float* g, const Taps& taps, int count) {
        for (int j = threadIdx.x; j < table(count); j += threads)
            g[j] = j < count ? taps.taps[j] : 0;
    }
    static __device__ __forceinline__ void add(float (&totals)[outputs], const float* x, const float*,
                                               const Taps& taps, int, int, bool look, LoudAndFaint& seen) {
        Sums::add(totals, x + threadIdx.x % 32 * outputs, taps, look, seen);
    }
};

/// What a warp keeps in shared memory, for registers are for samples: where the plain tiles of its row begin.
template <class T>
struct alignas(16) StreamNote {
    const T* in;
    T* out;
};

/// A tile that reaches beyond the window, or has outputs that are not wanted: sample by sample, and by a loop
/// over the taps, whose sums have the same order. x: room for its samples; `before`: outputs of the team's
/// warps before.
template <class T, class Team, class Core>
__device__ __noinline__ void edge_tile(const Job& job, const StreamCut& cut, int row, int tile, int before,
                                       T* x, const T* g) {
    constexpr int strip = 32 * Core::outputs, outputs = Team::size / 32 * strip * Core::strips;
    const int taps = static_cast<int>(job.taps), samples = outputs + Core::halo(taps);
    const StreamRow at = stream_row(job, reinterpret_cast<std::uintptr_t>(job.in), Vector<T>::size, row);
    const Index past = static_cast<Index>(tile) * outputs;
    const Index frame = at.in - row * job.in_pitch + past + job.in_span.first;
    const Lane<T, T> lane(job, row, 0);
    const Run there = plain_part(job, frame, samples);
    const auto put = [&](int i, T value) { x[i] = value; };
    if (there.begin < there.end)
        load_run(lane, frame, there.begin + Team::thread(), there.end, Team::size, put);
#pragma unroll 1
    for (int i = Team::thread(); i < samples; i += Team::size)
        if (i < there.begin || i >= there.end) x[i] = lane.extended(job, frame + i);
    Team::wait();
    if constexpr (sizeof(T) == 4)
        if (job.wide != nullptr) {
            LoudAndFaint seen;
#pragma unroll 1
            for (int i = Team::thread() * 4; i < samples; i += Team::size * 4)
                seen.quad(*reinterpret_cast<const float4*>(x + i));
            seen.join(job.wide);
        }
    const int thread = threadIdx.x % 32;
    Index n = at.out - row * job.out_pitch + past + before + thread * Core::outputs;
    T* const to = reinterpret_cast<T*>(job.out) + row * job.out_pitch;
#pragma unroll 1
    for (int s = 0; s < Core::strips; ++s, n += strip) {
        T totals[Core::outputs];
        for (T& total : totals)
            total = Core::Loop::nothing;
        Core::Loop::add(totals, x + before + s * strip, thread, 0, g, taps, cut.segment);
#pragma unroll
        for (int e = 0; e < Core::outputs; ++e)
            if (n + e >= 0 && n + e < job.out_span.count) to[n + e] = totals[e];
    }
    Team::wait();
}

/// Sends the outputs of a warp, `Count` of each lane, through `sums`, which has room for a vector more. Where
/// they do not begin on 16 bytes, the few at the ends go by themselves.
template <int Count, class Fetch, class T>
__device__ __forceinline__ void send_strip(T* to, const T (&totals)[Count], T* sums, int lane) {
    constexpr int V = Vector<T>::size, all = 32 * Count;
    const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % V);
    Fetch::sent();
    if (__all_sync(0xffffffffu, past == 0)) {
#pragma unroll
        for (int e = 0; e < Count; e += V)
            store_vector(sums + lane * Count + e, &totals[e]);
        Fetch::send(to, sums, all * static_cast<int>(sizeof(T)));
        return;
    }
#pragma unroll
    for (int e = 0; e < Count; ++e)
        sums[past + lane * Count + e] = totals[e];
    Fetch::send(to + V - past, sums + V, (all - V) * static_cast<int>(sizeof(T)));
    const int end = lane < V - past ? lane : all - V + lane;
    if (lane < V) to[end] = sums[past + end];
}

/// Words of 8 bytes for the barriers and the claims of a block.
constexpr int stream_words(int teams) {
    return static_cast<int>(round_up(teams + (1 + 2 * teams + 1) / 2, 2));
}

/// Core: how outputs are summed; Team: the threads that share a tile.
template <class T, class Team, class Core>
__global__ void __launch_bounds__(Core::threads, Core::blocks)
    stream_kernel(const __grid_constant__ Job job, const __grid_constant__ StreamCut cut,
                  const __grid_constant__ typename Core::Taps taps) {
    constexpr int V = Vector<T>::size, strip = 32 * Core::outputs, warps = Core::threads / 32,
                  teams = Core::threads / Team::size, outputs = Team::size / 32 * strip * Core::strips;
    // By this the compiler knows that it is the same for the whole warp.
    const int warp = static_cast<int>(__reduce_max_sync(0xffffffffu, threadIdx.x / 32));
    const int team = warp / (Team::size / 32), lane = threadIdx.x % 32;
    const int before = warp % (Team::size / 32) * strip * Core::strips;  // outputs of the team's warps before
    const int count = static_cast<int>(job.taps), samples = outputs + Core::halo(count),
              table = Core::table(count);
    auto* const barriers = shared<std::uint64_t>();
    auto* const claims = reinterpret_cast<int*>(barriers + teams);  // of the block; two of each team
    auto* const notes = reinterpret_cast<StreamNote<T>*>(barriers + stream_words(teams)) + warp;
    T* const g = reinterpret_cast<T*>(notes + warps - warp);
    T* const sums = g + table + warp * (strip + V);
    T* const stages = g + table + warps * (strip + V) + team * 2 * samples;
    Fetch<Team> fetch(barriers + team);
    Core::prepare(g, taps, count);
    if (threadIdx.x == 0) *claims = teams;
    __syncthreads();

    const int rows = static_cast<int>(job.outer), blocks = static_cast<int>(gridDim.x);
    const int edges = cut.tiles - cut.plain;
#pragma unroll 1
    for (int e = team * blocks + static_cast<int>(blockIdx.x); e < edges * rows; e += teams * blocks) {
        const int n = e % edges;
        edge_tile<T, Team, Core>(job, cut, e / edges, n < cut.begin ? n : n + cut.plain, before, stages, g);
    }
    fetch.written();
    Team::wait();

    // The plain tile that is begun next. Of all plain tiles in all rows block b does the b-th and each one
    // that comes a multiple of the blocks later; a team claims the next of these when it begins one: with
    // equal shares teams would not end together, for a multiprocessor favours some of its warps.
    const int all = rows * cut.plain;
    int row_begin = -cut.plain, tile = 0;
    const auto find = [&](int number) {
        tile = number - row_begin;
        if (__all_sync(0xffffffffu, tile < cut.plain)) return;
        const int row = number / cut.plain;
        row_begin = row * cut.plain;
        tile = number - row_begin;
        const StreamRow at = stream_row(job, reinterpret_cast<std::uintptr_t>(job.in), V, row);
        const Index past = static_cast<Index>(cut.begin) * outputs;
        if (acts())
            *notes = {reinterpret_cast<const T*>(job.in) + at.in + past,
                      reinterpret_cast<T*>(job.out) + at.out + past + before};
        __syncwarp();
    };
    const auto begin = [&](int claim, int stage) {
        const int number = claim * blocks + static_cast<int>(blockIdx.x);
        const bool more = __all_sync(0xffffffffu, number < all);
        if (more) {
            find(number);
            fetch.start(stages + stage * samples, notes->in + static_cast<Index>(tile) * outputs,
                        samples * static_cast<int>(sizeof(T)));
        }
        return more;
    };
    bool more = begin(team, 0);
    LoudAndFaint seen;
    const bool look = sizeof(T) == 4 && job.wide != nullptr;
#pragma unroll 1
    for (int stage = 0; more; stage ^= 1) {
        T* const to = notes->out + static_cast<Index>(tile) * outputs;
        int* const claim = claims + 1 + team * 2 + stage;
        if (Team::acts()) *claim = atomicAdd(claims, 1);
        fetch.wait();
        Team::wait();  // for the claim, and for all to have left the other buffer
        more = begin(*claim, stage ^ 1);
        const T* const x = stages + stage * samples + before;
#pragma unroll 1
        for (int s = 0; s < Core::strips; ++s) {
            T totals[Core::outputs];
            Core::add(totals, x + s * strip, g, taps, count, cut.segment, look, seen);
            send_strip<Core::outputs, Fetch<Team>>(to + s * strip, totals, sums, lane);
        }
    }
    fetch.sent();
    if constexpr (sizeof(T) == 4)
        if (look) seen.join(job.wide);
}

}  // namespace convoy::conv1d::gpu
