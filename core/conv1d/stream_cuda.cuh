// The fast way of `register`: long planar rows of float or double as they are stored, without decimation.
// Blocks of threads stay and walk over tiles; while one tile is summed up, the next arrives in the other half
// of shared memory. Tiles begin where the samples are on a 16-byte boundary, so that they can be copied
// without the threads.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/fetch_cuda.cuh"
#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/wide_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

/// Threads of a block, blocks that a multiprocessor must hold, and vectors of outputs of a thread.
struct StreamShape {
    static constexpr int threads = 256, blocks = 2, vectors = 7;
};
template <class T>
using StreamCore = Neighbouring<T, StreamShape::vectors * Vector<T>::size>;

/// Sizes in samples: outputs and samples of a tile, taps of the table; tiles of a row.
struct StreamCut {
    int outputs, samples, taps, tiles, segment;
};

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

template <class T, class Team>
__global__ void __launch_bounds__(StreamShape::threads, StreamShape::blocks)
    stream_kernel(const Job job, const StreamCut cut, const T* __restrict__ taps) {
    using Core = StreamCore<T>;
    constexpr int V = Vector<T>::size, R = Core::per_thread, teams = StreamShape::threads / Team::size;
    auto* const barriers = shared<std::uint64_t>();
    T* const g = reinterpret_cast<T*>(barriers + 2 * teams);
    T* const stages = g + cut.taps + Team::number() * 2 * cut.samples;
    const int thread = Team::thread(), before = thread / 32 * 32 * R;  // outputs of the team's warps before
    T* const sums = g + cut.taps + teams * 2 * cut.samples + static_cast<int>(threadIdx.x) / 32 * 32 * R;
    const auto* const in = reinterpret_cast<const T*>(job.in);
    auto* const out = reinterpret_cast<T*>(job.out);
    Fetch<Team> fetch(barriers + 2 * Team::number());
    for (int j = threadIdx.x; j < cut.taps; j += StreamShape::threads)
        g[j] = taps[j];

    const auto row_of = [&](Index outer) {
        return stream_row(job, reinterpret_cast<std::uintptr_t>(in), V, cut.samples, cut.outputs, cut.tiles,
                          outer);
    };
    const auto begin = [&](const StreamRow& row, Index outer, int tile, int stage) {
        T* const to = stages + stage * cut.samples;
        if (tile >= row.copied && tile < row.copied_end) {
            fetch.start(stage, to, in + row.in + static_cast<Index>(tile) * cut.outputs,
                        cut.samples * static_cast<int>(sizeof(T)));
            return;
        }
        const Lane<T, T> lane(job, outer, 0);
        const Index frame =
            row.in - outer * job.in_pitch + static_cast<Index>(tile) * cut.outputs + job.in_span.first;
        const Run there = plain_part(job, frame, cut.samples);
        const auto put = [&](int i, T value) { to[i] = value; };
        if (there.begin < there.end) load_run(lane, frame, there.begin + thread, there.end, Team::size, put);
#pragma unroll 1
        for (int i = thread; i < cut.samples; i += Team::size)
            if (i < there.begin || i >= there.end) to[i] = lane.extended(job, frame + i);
    };

    // Row and tile that are summed up now, and those that come after.
    const Index start = static_cast<Index>(blockIdx.x) * teams + Team::number();
    const int step = static_cast<int>(gridDim.x) * teams;
    Index outer = start / cut.tiles, next_outer = outer;
    int tile = static_cast<int>(start % cut.tiles);
    __syncthreads();
    if (outer >= job.outer) return;
    StreamRow row = row_of(outer), next_row = row;
    begin(row, outer, tile, 0);
    LoudAndFaint
        seen;  // among the samples under each tile's outputs: all tiles have all samples but the last few
    Team::wait();
    for (int stage = 0; outer < job.outer; stage ^= 1) {
        int next = tile + step;
        if (next >= cut.tiles) {
            next_outer = outer + next / cut.tiles;
            next %= cut.tiles;
            next_row = row_of(next_outer);
        }
        if (next_outer < job.outer) begin(next_row, next_outer, next, stage ^ 1);
        if (tile >= row.copied && tile < row.copied_end)
            fetch.wait(stage,
                       next_outer < job.outer && next >= next_row.copied && next < next_row.copied_end);
        if constexpr (sizeof(T) == 4)
            if (job.wide != nullptr) {
#pragma unroll
                for (int i = 0; i < 32 * R; i += 128)
                    seen.quad(*reinterpret_cast<const float4*>(stages + stage * cut.samples + before +
                                                               thread % 32 * 4 + i));
                if (tile + 1 == cut.tiles)  // the last has samples that no other begins with
                    for (int i = cut.outputs + thread * 4; i < cut.samples; i += Team::size * 4)
                        seen.quad(*reinterpret_cast<const float4*>(stages + stage * cut.samples + i));
            }
        T totals[R] = {};
        Core::add(totals, stages + stage * cut.samples, thread, 0, g, static_cast<int>(job.taps),
                  cut.segment);
        Core::put(totals, sums, thread % 32, 0);
        __syncwarp();
        const Index first = row.out + static_cast<Index>(tile) * cut.outputs + before;
        const Index wanted = outer * job.out_pitch;  // the first output of the row
        store_outputs<32 * R>(out + first, sums, thread % 32, tile >= row.whole && tile < row.whole_end,
                              reinterpret_cast<std::uintptr_t>(out + first) % 16 == 0, wanted - first,
                              wanted + job.out_span.count - first);
        outer = next_outer;
        row = next_row;
        tile = next;
        Team::wait();
    }
    if constexpr (sizeof(T) == 4)
        if (job.wide != nullptr) seen.join(job.wide);
}

/// Launches it; which runs it can do, `fits` tells. Tiles are a warp's own where there is room for their
/// histories: warps that wait for nobody keep the arithmetic busy. Else the block shares larger ones.
template <class T>
class StreamKernel {
  public:
    static constexpr Index most_taps = 1024;

    StreamKernel(const Problem& p, const device::Device& device, int segment) {
        const Index m = static_cast<Index>(p.taps.size());
        if (p.decimate != 1 || m > most_taps || p.in != p.arithmetic || !p.scaling.trivial()) return;
        std::vector<double> g = backwards(p.taps);
        g.resize(static_cast<std::size_t>(round_up(m, V) + 2 * V), 0.0);
        taps_ = upload_values(device, p.arithmetic, g);
        cut_.taps = static_cast<int>(g.size());
        cut_.segment = segment;
        if (!plan(stream_kernel<T, Team<32>>, 32, device))
            plan(stream_kernel<T, Team<threads>>, threads, device);
    }
    bool fits(const Job& job) const {
        return blocks_ > 0 && job.inner == 1 && job.out_span.count >= cut_.outputs / 2 &&
               reinterpret_cast<std::uintptr_t>(job.in) % sizeof(T) == 0;
    }
    void launch(const Job& job, cudaStream_t stream) const {
        StreamCut cut = cut_;
        cut.tiles = static_cast<int>(ceil_div(job.out_span.count + V - 1, cut.outputs));
        const Index blocks = std::min(blocks_, ceil_div(cut.tiles * job.outer, threads / team_));
        kernel_<<<static_cast<unsigned>(blocks), threads, bytes_, stream>>>(
            job, cut, reinterpret_cast<const T*>(taps_.data()));
        device::check_launch("register");
    }

  private:
    static constexpr int V = Vector<T>::size, threads = StreamShape::threads;
    using Kernel = void (*)(Job, StreamCut, const T*);

    // Sizes for teams of so many threads; false where a multiprocessor does not hold the blocks that it
    // should.
    bool plan(Kernel kernel, int team, const device::Device& device) {
        const Index taps = cut_.taps - 2 * V;  // rounded up to vectors
        cut_.outputs = team * StreamCore<T>::per_thread;
        cut_.samples = static_cast<int>(round_up(cut_.outputs + taps, V) + V);
        const int teams = threads / team;
        bytes_ = static_cast<std::size_t>(teams) * 16 +
                 sizeof(T) * static_cast<std::size_t>(cut_.taps + teams * (2 * cut_.samples + cut_.outputs));
        if (use_shared_memory(reinterpret_cast<const void*>(kernel), device) < bytes_) return false;
        int blocks = 0;
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes_),
                      "counting blocks");
        blocks_ = static_cast<Index>(blocks) * device.attributes.multiprocessors;
        kernel_ = kernel;
        team_ = team;
        return blocks >= StreamShape::blocks;
    }

    Kernel kernel_ = nullptr;
    int team_ = 1;
    StreamCut cut_{};
    device::Buffer taps_;
    std::size_t bytes_ = 0;
    Index blocks_ = 0;
};

}  // namespace convoy::conv1d::gpu
