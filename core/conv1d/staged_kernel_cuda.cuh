// The kernel of `register` for samples that are converted or scaled, and for interleaved ones. What is stored
// comes to shared memory as it is, by copies of 16 bytes beside the arithmetic; there it is settled: turned
// into values, frame after frame. Interleaved samples need no sorting: a thread sums outputs of one channel,
// whose samples lie a frame apart. The arithmetic is that of the other kernels of `register`.
#pragma once

#include <cuda_pipeline.h>

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/fetch_cuda.cuh"
#include "core/conv1d/staged_maps.hpp"
#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/wide_cuda.cuh"

namespace convoy::conv1d::gpu {

/// A thread's sums. Pitch: of its samples, 1 where they are planar; 0: the tile's.
template <class T, int Pitch>
using StagedSums = Neighbouring<T, 7 * Vector<T>::size, Pitch>;

/// Begins to copy what pieces of 16 bytes hold of a tile's rows.
template <class Team>
__device__ __forceinline__ void stage(const Job& job, const StagedCut& cut, const StagedRows& rows, int size,
                                      std::byte* raw) {
    const std::byte* from = job.in + rows.first * size;
    const int bytes = rows.length * size;
    const auto past = [](const std::byte* p) {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % 16);
    };
    if (cut.rows == 1) {
        const int end = past(from) + bytes;
        from -= past(from);
        for (int at = 16 * Team::thread(); at < end; at += 16 * Team::size)
            __pipeline_memcpy_async(raw + at, from + at, 16);
        return;
    }
    const int chunks = cut.row_bytes / 16, step = Team::size / chunks, first = Team::thread() / chunks,
              at = 16 * (Team::thread() - first * chunks);
    if (first >= step) return;
    const Index pitch = rows.step * size;
    from += first * pitch;
    raw += first * cut.row_bytes + at;
    for (int row = first; row < cut.rows; row += step, from += step * pitch, raw += step * cut.row_bytes)
        if (at < past(from) + bytes) __pipeline_memcpy_async(raw, from - past(from) + at, 16);
}

/// Turns quads into values; from one of the thread's to its next: bytes as stored, values.
template <class T, class In>
__device__ __forceinline__ void settle_quads(const std::byte* raw, int raw_step, T* x, int step, int count) {
    constexpr int batch = 4;
#pragma unroll 1
    for (; count > 0; count -= batch, raw += batch * raw_step, x += batch * step) {
        Quad<In> quads[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (b < count) quads[b] = *reinterpret_cast<const Quad<In>*>(raw + b * raw_step);
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (b < count) store_quad(x + b * step, quads[b], [](In v) { return static_cast<T>(v); });
    }
}

/// Turns what has arrived into values, x[frame * pitch + channel]: by quads where they lie so in all rows and
/// are not scaled.
template <class T, class In, class Team>
__device__ __forceinline__ void settle(const Job& job, const StagedCut& cut, const Tile& tile,
                                       const StagedRows& rows, const std::byte* raw, T* x) {
    constexpr int size = sizeof(In);
    const int thread = Team::thread();
    const auto start = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(job.in + rows.first * size));
    const unsigned step = cut.rows == 1 ? 0u : static_cast<unsigned>(rows.step * size);
    if (job.scales == nullptr && start % sizeof(Quad<In>) == 0 && step % 16 == 0) {
        const int quads = (rows.length + 3) / 4;  // of a row
        if (cut.rows == 1) {
            settle_quads<T, In>(raw + start % 16 + thread * 4 * size, Team::size * 4 * size, x + thread * 4,
                                Team::size * 4, (quads - thread + Team::size - 1) / Team::size);
            return;
        }
        const int along = Team::size / quads, first = thread / quads, quad = thread - first * quads;
        if (first < along)
            settle_quads<T, In>(raw + first * cut.row_bytes + start % 16 + quad * 4 * size,
                                along * cut.row_bytes, x + first * cut.pitch + quad * 4, along * cut.pitch,
                                (cut.frames - first + along - 1) / along);
        return;
    }
    const int strips = Team::size / cut.width, first = thread / cut.width,
              channel = thread - first * cut.width;
    if (channel >= tile.rows || first >= strips) return;
    const Lane<T, In> lane(job, tile.outer, tile.inner + channel);
    const int row_bytes = cut.rows == 1 ? cut.width * size : cut.row_bytes;
    constexpr int batch = 4;
#pragma unroll 1
    for (int f = first; f < cut.frames; f += batch * strips) {
        In stored[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int row = f + b * strips;
            if (row < cut.frames)
                stored[b] = reinterpret_cast<const In*>(
                    raw + row * row_bytes + (start + static_cast<unsigned>(row) * step) % 16)[channel];
        }
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (f + b * strips < cut.frames)
                x[(f + b * strips) * cut.pitch + channel] = lane.value(stored[b]);
    }
}

/// Brings a tile that reaches beyond the window.
template <class T, class In, class Team>
__device__ __noinline__ void fill(const Job& job, const StagedCut& cut, const Tile& tile, T* x) {
    const int strips = Team::size / cut.width, first = Team::thread() / cut.width,
              channel = Team::thread() - first * cut.width;
    if (channel >= tile.rows || first >= strips) return;
    const Lane<T, In> lane(job, tile.outer, tile.inner + channel);
    const Index frame = job.frame_of(tile.first);
#pragma unroll 1
    for (int f = first; f < cut.frames; f += strips)
        x[f * cut.pitch + channel] = job.plain(frame + f, frame + f + 1) ? lane.value(lane.stored(frame + f))
                                                                         : lane.extended(job, frame + f);
}

/// Looks at quads of frames of a channel.
template <bool Planar>
__device__ __forceinline__ void look(LoudAndFaint& seen, const float* x, int pitch, int first, int step,
                                     int end) {
#pragma unroll
    for (int f = first; f < end; f += step) {
        const float* const q = x + f * pitch;
        seen.quad(Planar ? *reinterpret_cast<const float4*>(q)
                         : make_float4(q[0], q[pitch], q[2 * pitch], q[3 * pitch]));
    }
}

/// Copies values from shared memory, by 16 bytes where both lie so.
template <class Team, class T>
__device__ __forceinline__ void send(T* to, const T* x, int count) {
    constexpr int V = Vector<T>::size;
    int i = Team::thread();
    if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
#pragma unroll 7
        for (int k = V * i; k + V <= count; k += V * Team::size) {
            T v[V];
            load_vector(v, x + k);
            store_vector(to + k, v);
        }
        i += count / V * V;
    }
#pragma unroll 7
    for (; i < count; i += Team::size)
        to[i] = x[i];
}

/// What a warp notes in shared memory of the tiles in its two buffers, for registers are for samples.
struct StagedNote {
    Tile tile;
    StagedRows rows;
};

/// Each team of threads walks over tiles of its own.
template <class T, class In, int Pitch, class Team>
__global__ void __launch_bounds__(staged_threads, 2)
    staged_kernel(const __grid_constant__ Job job, const __grid_constant__ StagedCut cut,
                  const __grid_constant__ Tiling tiling, const T* __restrict__ taps) {
    using Sums = StagedSums<T, Pitch>;
    constexpr int V = Vector<T>::size, each = Sums::per_thread, teams = staged_threads / Team::size;
    constexpr bool planar = Pitch == 1, gathers = Pitch <= 1;
    __shared__ StagedNote all_notes[staged_threads / 32][2];
    StagedNote* const notes = all_notes[threadIdx.x / 32];
    constexpr int size = sizeof(In);
    T* const g = shared<T>();
    std::byte* const raws =
        reinterpret_cast<std::byte*>(g + cut.table) + Team::number() * (2 * cut.raw_bytes + cut.value_bytes);
    const int width = planar ? 1 : cut.width, pitch = Pitch > 0 ? Pitch : cut.pitch,
              strips = Team::size / width;
    const int strip = Team::thread() / width, channel = Team::thread() - strip * width;
    for (int j = threadIdx.x; j < cut.table; j += staged_threads)
        g[j] = taps[j];
    __syncthreads();
    const bool wide = sizeof(T) == 4 && job.wide != nullptr;
    LoudAndFaint seen;

    const int tiles = static_cast<int>(tiling.tiles()), step = static_cast<int>(gridDim.x) * teams;
    const auto begin = [&](int t, int buffer) {
        if (t < tiles) {
            const Tile tile = tile_at(job, tiling, t);
            const StagedRows rows = staged_rows(job, cut, tile, size);
            if (rows.plain) stage<Team>(job, cut, rows, size, raws + buffer * cut.raw_bytes);
            if (threadIdx.x % 32 == 0) notes[buffer] = {tile, rows};
        }
        __pipeline_commit();
    };
    int t = static_cast<int>(blockIdx.x) * teams + Team::number();
    begin(t, 0);
#pragma unroll 1
    for (int buffer = 0; t < tiles; t += step, buffer ^= 1) {
        begin(t + step, buffer ^ 1);
        __syncwarp();
        const StagedNote& note = notes[buffer];
        T* const room = reinterpret_cast<T*>(raws + (cut.settle ? 2 : buffer) * cut.raw_bytes);
        const T* x = room;
        if (note.rows.plain) {
            __pipeline_wait_prior(1);
            Team::wait();
            if (cut.settle)
                settle<T, In, Team>(job, cut, note.tile, note.rows, raws + buffer * cut.raw_bytes, room);
            else
                x += (reinterpret_cast<std::uintptr_t>(job.in) / sizeof(T) + note.rows.first) % V;
        } else
            fill<T, In, Team>(job, cut, note.tile, room);
        if (cut.settle || !note.rows.plain) Team::wait();
        const bool taken = strip < strips && channel < (planar ? 1 : note.tile.rows);
        T totals[each];
        for (T& total : totals)
            total = Sums::nothing;
        if (taken) {
            const T* const own = x + strip * each * pitch + channel;
            if constexpr (sizeof(T) == 4)
                if (wide) {
                    look<planar>(seen, own, pitch, 0, 4, each);
                    if (job.out_span.end() - note.tile.first <= cut.outputs)
                        look<planar>(seen, x + channel, pitch, cut.outputs + 4 * strip, 4 * strips,
                                     cut.frames);
                }
            Sums::add(totals, own, 0, pitch, g, cut.taps, cut.segment);
        }
        const int count =
            static_cast<int>(min(job.out_span.end() - note.tile.first, static_cast<Index>(cut.outputs)));
        T* out =
            reinterpret_cast<T*>(job.out) + job.output_at(note.tile.outer, note.tile.inner, note.tile.first);
        if (gathers && cut.gather) {
            // The sums take the place of the samples, in the order of memory.
            Team::wait();
            if (taken) {
                T* const to = room + strip * each * width + channel;
                if constexpr (planar)
                    Sums::put(totals, to, 0, 0);
                else
#pragma unroll
                    for (int e = 0; e < each; ++e)
                        to[e * width] = totals[e];
            }
            Team::wait();
            send<Team>(out, room, count * width);
        } else if (taken) {
            const int first = strip * each, end = count - first;
            out += first * job.inner + channel;
            if (end >= each)
#pragma unroll
                for (int e = 0; e < each; ++e, out += job.inner)
                    *out = totals[e];
            else
#pragma unroll
                for (int e = 0; e < each; ++e, out += job.inner)
                    if (e < end) *out = totals[e];
        }
        Team::wait();
    }
    if constexpr (sizeof(T) == 4)
        if (wide) seen.join(job.wide);
}

}  // namespace convoy::conv1d::gpu
