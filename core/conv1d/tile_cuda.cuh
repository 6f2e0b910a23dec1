// The kernel that strategies with tiles in shared memory run: load a stretch of samples of some lanes, add up
// products, write. A Core says how a thread adds products: `outputs` of them, and in which order.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/samples_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

/// Core: static per_thread, nothing (what totals begin with); add(totals, row, at, threads, taps, count,
/// segment) adds the products of `count` taps to the totals of the thread's outputs; place(at, threads, e) is
/// the e-th output of the thread in its row.
template <class T, class Core>
__global__ void __launch_bounds__(tile_threads, Core::blocks)
    tile_kernel(const Job job, const Cut cut, const Tiling tiling, const T* __restrict__ taps) {
    constexpr int ahead = Vector<T>::size;
    T* const x = shared<T>();
    T* const g = x + cut.rows * cut.phases * cut.pitch;
    const Tile tile = tile_at(job, tiling, blockIdx.x);
    const int team = tile_threads / cut.groups, thread = threadIdx.x;
    const int group = thread / team, row = thread % team / cut.row_threads,
              at = thread % team % cut.row_threads;
    T totals[Core::per_thread];
    for (T& total : totals)
        total = Core::nothing;
    for (Index q0 = 0; q0 < cut.all_steps; q0 += cut.steps)
        for (Index p0 = 0; p0 < cut.all_phases; p0 += cut.phases) {
            const int phases = static_cast<int>(min(static_cast<Index>(cut.phases), cut.all_phases - p0));
            const int steps = static_cast<int>(min(static_cast<Index>(cut.steps), cut.all_steps - q0));
            const Stretch stretch{job.frame_of(tile.first) + q0 * job.decimate + p0, phases,
                                  cut.outputs + steps - 1, Divisor(phases)};
            __syncthreads();
            on_type(job.type, [&](auto in) { load_stretch<T, decltype(in)>(job, tile, cut, stretch, x); });
            const int tap_row = cut.steps + 2 * ahead;
            for (int p = 0; p < phases; ++p)
                for (int q = thread; q < tap_row; q += tile_threads)
                    g[p * tap_row + q] =
                        q0 + q < cut.tap_pitch ? taps[(p0 + p) * cut.tap_pitch + q0 + q] : T{0};
            __syncthreads();
            if (row >= tile.rows) continue;
            // Phases p0 + p with (p0 + p) % groups == group
            for (int p = static_cast<int>((group + cut.groups - p0 % cut.groups) % cut.groups); p < phases;
                 p += cut.groups) {
                const Index left = cut.taps_of(p0 + p, job.taps, job.decimate) - q0;
                const int count = static_cast<int>(min(static_cast<Index>(steps), left));
                if (count > 0)
                    Core::add(totals, x + (row * phases + p) * cut.pitch, at, cut.row_threads,
                              g + p * tap_row, count, cut.segment);
            }
        }
    __syncthreads();
    const int pitch = cut.outputs + ahead;
    if (row < tile.rows) Core::put(totals, x + (group * cut.rows + row) * pitch, at, cut.row_threads);
    __syncthreads();
    store_tile(job, tile, cut, x, pitch);
}

/// The tile kernel of one Core with the taps in the order that it wants.
template <class T, class Core>
class TileKernel {
  public:
    TileKernel(const Problem& p, const device::Device& device, int groups)
        : cut_(cut_of_filter(static_cast<Index>(p.taps.size()), p.decimate, tile_threads, Core::per_thread,
                             groups, Vector<T>::size, Core::body)),
          taps_(upload_values(device, p.arithmetic, by_phase(cut_, p.taps, p.decimate))),
          most_bytes_(use_shared_memory(reinterpret_cast<const void*>(&tile_kernel<T, Core>), device)) {}

    void launch(const Job& job, cudaStream_t stream, std::string_view name) const {
        const std::size_t wanted = std::min<std::size_t>(most_bytes_, 98304);
        const Cut cut = cut_for_run(cut_, job, tile_threads, Vector<T>::size, wanted);
        const Tiling tiles = tiling(job, cut.rows, cut.outputs);
        tile_kernel<T, Core><<<static_cast<unsigned>(tiles.tiles()), tile_threads, cut.bytes, stream>>>(
            job, cut, tiles, taps());
        device::check_launch(std::string(name).c_str());
    }
    const T* taps() const { return reinterpret_cast<const T*>(taps_.data()); }
    const Cut& cut() const { return cut_; }

  private:
    Cut cut_;
    device::Buffer taps_;
    std::size_t most_bytes_;
};

/// The share of samples that tiles of a long signal read more than once.
inline double reread(const Cut& cut, int threads) {
    const double outputs = threads / cut.groups * cut.per_thread;
    return static_cast<double>(cut.all_steps - 1) / outputs;
}

}  // namespace convoy::conv1d::gpu
