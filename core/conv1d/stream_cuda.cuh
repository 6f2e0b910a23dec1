// The fast way of `register`: long planar rows of float or double as they are stored, without decimation.
// Blocks of threads stay and walk over tiles; while one tile is summed up, the next arrives in the other half
// of shared memory. Tiles begin where the samples are on a 16-byte boundary, so that they can be copied
// without the threads.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/fetch_cuda.cuh"
#include "core/conv1d/sums_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

constexpr int stream_threads = 256;

template <class T>
using StreamCore = Neighbouring<T, 5 * Vector<T>::size>;

/// Sizes in samples: outputs and samples of a tile, taps of the table, tiles of a row.
struct StreamCut {
    int outputs, samples, taps;
    Index along;
    int segment;
};

template <class T>
__global__ void __launch_bounds__(stream_threads, 3)
    stream_kernel(const Job job, const StreamCut cut, const T* __restrict__ taps) {
    using Core = StreamCore<T>;
    constexpr int V = Vector<T>::size, R = Core::per_thread;
    T* const g = shared<T>() + 16 / sizeof(T);
    T* const stages = g + cut.taps;
    T* const sums = stages + 2 * cut.samples + static_cast<int>(threadIdx.x / 32) * 32 * R;
    Fetch fetch(shared<std::uint64_t>());
    for (int j = threadIdx.x; j < cut.taps; j += stream_threads)
        g[j] = taps[j];
    const auto base = reinterpret_cast<std::uintptr_t>(job.in);

    const auto begin = [&](const StreamTile& tile, int stage) {
        T* const to = stages + stage * cut.samples;
        const Index f = tile.first + job.first;
        if (job.plain(f, f + cut.samples)) {
            fetch.start(stage, to, reinterpret_cast<const T*>(job.in) + job.sample_at(tile.outer, 0, f),
                        cut.samples * static_cast<int>(sizeof(T)));
            return;
        }
        const Lane<T, T> lane(job, tile.outer, 0);
#pragma unroll 1
        for (int i = threadIdx.x; i < cut.samples; i += stream_threads)
            to[i] = lane.extended(job, f + i);
    };

    StreamTile tile = stream_tile(job, base, V, cut.outputs, cut.along, 0, blockIdx.x);
    __syncthreads();
    if (tile.outer < job.outer) begin(tile, 0);
    __syncthreads();
    for (int stage = 0; tile.outer < job.outer; stage ^= 1) {
        const StreamTile next =
            stream_tile(job, base, V, cut.outputs, cut.along, tile.outer, tile.along + gridDim.x);
        const bool more = next.outer < job.outer;
        if (more) begin(next, stage ^ 1);
        const Index f = tile.first + job.first;
        if (job.plain(f, f + cut.samples)) {
            const Index g0 = next.first + job.first;
            const bool younger = more && job.plain(g0, g0 + cut.samples);
            fetch.wait(stage, younger);
        }
        T totals[R] = {};
        Core::add(totals, stages + stage * cut.samples, static_cast<int>(threadIdx.x), 0, g,
                  static_cast<int>(job.taps), cut.segment);
        const int lane = threadIdx.x % 32;
        Core::put(totals, sums, lane, 0);
        __syncwarp();
        const Index first = tile.first + static_cast<Index>(threadIdx.x / 32) * 32 * R;
        T* const to = reinterpret_cast<T*>(job.out) + job.output_at(tile.outer, 0, first);
        if (first >= job.out_span.first && first + 32 * R <= job.out_span.end()) {
            if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
#pragma unroll
                for (int e = lane * V; e < 32 * R; e += 32 * V) {
                    T v[V];
                    load_vector(v, sums + e);
                    store_vector(to + e, v);
                }
            } else {
#pragma unroll
                for (int e = lane; e < 32 * R; e += 32)
                    to[e] = sums[e];
            }
        } else {
#pragma unroll 1
            for (int e = lane; e < 32 * R; e += 32)
                if (first + e >= job.out_span.first && first + e < job.out_span.end()) to[e] = sums[e];
        }
        tile = next;
        __syncthreads();
    }
}

/// Launches it; which runs it can do, `fits` tells.
template <class T>
class StreamKernel {
  public:
    static constexpr Index most_taps = 1024;
    static constexpr int outputs = stream_threads * StreamCore<T>::per_thread;

    StreamKernel(const Problem& p, const device::Device& device, int segment) {
        constexpr int V = Vector<T>::size;
        const Index m = static_cast<Index>(p.taps.size());
        if (p.decimate != 1 || m > most_taps || p.in != p.arithmetic || !p.scaling.trivial()) return;
        std::vector<double> g = backwards(p.taps);
        g.resize(static_cast<std::size_t>(round_up(m, V) + V), 0.0);
        taps_ = upload_values(device, p.arithmetic, g);
        cut_ = {outputs, static_cast<int>(round_up(outputs + m - 1, V) + V), static_cast<int>(g.size()), 0,
                segment};
        bytes_ = 16 + sizeof(T) * static_cast<std::size_t>(cut_.taps + 2 * cut_.samples + outputs);
        const auto* kernel = reinterpret_cast<const void*>(&stream_kernel<T>);
        if (use_shared_memory(kernel, device) < bytes_) return;
        int blocks = 0;
        device::check(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stream_kernel<T>, stream_threads, bytes_),
            "counting blocks");
        blocks_ = static_cast<Index>(blocks) * device.attributes.multiprocessors;
    }
    bool fits(const Job& job) const {
        return blocks_ > 0 && job.inner == 1 && job.out_span.count >= outputs / 2 &&
               reinterpret_cast<std::uintptr_t>(job.in) % sizeof(T) == 0;
    }
    void launch(const Job& job, cudaStream_t stream) const {
        StreamCut cut = cut_;
        cut.along = ceil_div(job.out_span.count + Vector<T>::size - 1, outputs);
        const Index blocks = std::min(blocks_, cut.along * job.outer);
        stream_kernel<T><<<static_cast<unsigned>(blocks), stream_threads, bytes_, stream>>>(
            job, cut, reinterpret_cast<const T*>(taps_.data()));
        device::check_launch("register");
    }

  private:
    StreamCut cut_{};
    device::Buffer taps_;
    std::size_t bytes_ = 0;
    Index blocks_ = 0;
};

}  // namespace convoy::conv1d::gpu
