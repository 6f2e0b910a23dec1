// The fast way of `register`: which runs it can do, which kernel they take, and its sizes.
#pragma once

#include <functional>

#include "core/conv1d/stream_kernel_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

/// Launches it; which runs it can do, `fits` tells. Tiles are a warp's own where there is room for their
/// histories: warps that wait for nobody keep the arithmetic busy. Else as few warps as can be share larger
/// ones.
template <class T>
class StreamKernel {
  public:
    static constexpr Index most_taps = 1024;

    StreamKernel(const Problem& p, const device::Device& device, int segment) : device_(device) {
        const Index m = static_cast<Index>(p.taps.size());
        if (p.decimate != 1 || m > most_taps || p.in != p.arithmetic || !p.scaling.trivial()) return;
        const std::vector<double> g = backwards(p.taps);
        cut_.segment = segment;
        if constexpr (sizeof(T) == 4)
            if (straight(m)) {
                plan_straight<straight_first>(g);
                return;
            }
        std::vector<double> table = g;
        table.resize(static_cast<std::size_t>(LoopCore<T>::table(static_cast<int>(m))), 0.0);
        taps_ = upload_values(device, p.arithmetic, table);
        const typename LoopCore<T>::Taps taps{reinterpret_cast<const T*>(taps_.data())};
        plan_loop<32>(m, taps);
    }
    bool fits(const Job& job) const {
        if (!launch_ || job.inner != 1 || reinterpret_cast<std::uintptr_t>(job.in) % sizeof(T) != 0)
            return false;
        const StreamTiles tiles = cut(job);
        return tiles.begin < tiles.end && tiles.all * job.outer < (Index{1} << 30);
    }
    void launch(const Job& job, cudaStream_t stream) const {
        const StreamTiles tiles = cut(job);
        StreamCut cut = cut_;
        cut.tiles = static_cast<int>(tiles.all);
        cut.begin = static_cast<int>(tiles.begin);
        cut.plain = static_cast<int>(tiles.end - tiles.begin);
        launch_(job, cut, static_cast<unsigned>(std::min(blocks_, ceil_div(tiles.all * job.outer, teams_))),
                stream);
        device::check_launch("register");
    }

  private:
    static constexpr int V = Vector<T>::size;

    StreamTiles cut(const Job& job) const { return stream_tiles(job, V, samples_, outputs_); }

    template <int Quads>
    void plan_straight(const std::vector<double>& g) {
        if constexpr (Quads <= straight_last) {
            const int m = static_cast<int>(g.size());
            if (m / V != Quads) return plan_straight<Quads + 1>(g);
            typename StraightCore<Quads>::Taps taps{};
            std::transform(g.begin(), g.end(), taps.taps, [](double v) { return static_cast<float>(v); });
            taps.rest = m % V;
            plan<StraightCore<Quads>, Team<32>>(m, taps);
        }
    }

    template <int Size>
    void plan_loop(Index taps, const typename LoopCore<T>::Taps& values) {
        if (!plan<LoopCore<T>, Team<Size>>(taps, values))
            if constexpr (Size < 256) plan_loop<2 * Size>(taps, values);
    }

    // Sizes for one kernel; false where a multiprocessor has no room for a block.
    template <class Core, class Team>
    bool plan(Index taps, const typename Core::Taps& values) {
        constexpr auto kernel = stream_kernel<T, Team, Core>;
        constexpr int strip = 32 * Core::outputs, threads = Core::threads, warps = threads / 32;
        outputs_ = Team::size / 32 * strip * Core::strips;
        teams_ = threads / Team::size;
        const int count = static_cast<int>(taps);
        samples_ = outputs_ + Core::halo(count);
        const std::size_t bytes =
            8 * static_cast<std::size_t>(stream_words(threads / Team::size)) + warps * sizeof(StreamNote<T>) +
            sizeof(T) * static_cast<std::size_t>(Core::table(count) + warps * (strip + V) +
                                                 threads / Team::size * 2 * samples_);
        if (use_shared_memory(reinterpret_cast<const void*>(kernel), device_) < bytes) return false;
        int blocks = 0;
        device::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes),
                      "counting blocks");
        blocks_ = static_cast<Index>(blocks) * device_.attributes.multiprocessors;
        if (blocks > 0)
            launch_ = [=](const Job& job, const StreamCut& cut, unsigned grid, cudaStream_t stream) {
                kernel<<<grid, threads, bytes, stream>>>(job, cut, values);
            };
        return blocks > 0;
    }

    device::Device device_;
    std::function<void(const Job&, const StreamCut&, unsigned, cudaStream_t)> launch_;
    Index teams_ = 1, blocks_ = 0;
    int outputs_ = 1, samples_ = 1;  // of a tile
    StreamCut cut_{};
    device::Buffer taps_;
};

}  // namespace convoy::conv1d::gpu
