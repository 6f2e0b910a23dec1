// Which runs the kernel for converted and interleaved samples does, and how it is launched.
#pragma once

#include "core/conv1d/staged_kernel_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

template <class T>
class StagedKernel {
  public:
    static constexpr Index most_taps = 1024;

    StagedKernel(const Problem& p, const device::Device& device, int segment) : device_(device) {
        const Index m = static_cast<Index>(p.taps.size());
        if (p.decimate != 1 || m > most_taps) return;
        taps_ = m, segment_ = segment, table_ = static_cast<int>(round_up(m, V) + 2 * V);
        std::vector<double> table = backwards(p.taps);
        table.resize(static_cast<std::size_t>(table_), 0.0);
        memory_ = upload_values(device, p.arithmetic, table);
    }
    bool fits(const Job& job) const {
        if (taps_ == 0 || (job.inner == 1 && as_values(job))) return false;
        const StagedCut c = cut(job);
        const auto size = static_cast<std::uintptr_t>(bytes_of(job.type));
        return c.bytes(sizeof(T)) <= most_bytes() && 2 * job.out_span.count >= c.outputs &&
               reinterpret_cast<std::uintptr_t>(job.in) % size == 0 &&
               tiling(job, c.width, c.outputs).tiles() < (Index{1} << 30);
    }
    void launch(const Job& job, cudaStream_t stream) const {
        const StagedCut c = cut(job);
        const Tiling tiles = tiling(job, c.width, c.outputs);
        const std::size_t bytes = c.bytes(sizeof(T));
        const Index blocks =
            std::min<Index>(2, (most_bytes() + 2048) / (bytes + 2048)) * device_.attributes.multiprocessors;
        const Index grid = std::min(blocks, ceil_div(tiles.tiles(), staged_threads / c.team));
        const int pitch = job.inner == 1 ? 1 : c.rows > 1 && c.pitch == staged_pitch ? staged_pitch : 0;
        dispatch(job.type, [&](auto in) {
            const auto kernel = kernel_for<decltype(in)>(c.team, pitch);
            use_shared_memory(reinterpret_cast<const void*>(kernel), device_);
            kernel<<<static_cast<unsigned>(grid), staged_threads, bytes, stream>>>(
                job, c, tiles, reinterpret_cast<const T*>(memory_.data()));
        });
        device::check_launch("register");
    }

  private:
    static constexpr int V = Vector<T>::size;
    template <class In>
    static auto kernel_for(int team, int pitch) -> void (*)(Job, StagedCut, Tiling, const T*) {
        using Warp = Team<32>;
        using Block = Team<staged_threads>;
        if (pitch == staged_pitch) return staged_kernel<T, In, staged_pitch, Block>;
        if (pitch == 0) return team == 32 ? staged_kernel<T, In, 0, Warp> : staged_kernel<T, In, 0, Block>;
        return team == 32 ? staged_kernel<T, In, 1, Warp> : staged_kernel<T, In, 1, Block>;
    }

    bool as_values(const Job& job) const {
        return job.scales == nullptr &&
               job.type == (sizeof(T) == 4 ? SampleType::float32 : SampleType::float64);
    }
    std::size_t most_bytes() const {
        return std::max<std::size_t>(device_.attributes.shared_bytes_per_block, 49152) - 1024;
    }

    // Few channels together, by warps where these have room, for warps wait for nobody; else about 32 at a
    // time, or fewer where filters are long. Two blocks should find room.
    StagedCut cut(const Job& job) const {
        const auto good = [&](const StagedCut& c) { return c.bytes(sizeof(T)) <= most_bytes() / 2 - 1024; };
        const int inner = static_cast<int>(min_of(job.inner, 49));
        if (inner < 8)
            if (const StagedCut c = cut(job, inner, 32); good(c)) return c;
        if (inner < 49)
            if (const StagedCut c = cut(job, inner, 256); good(c) || inner < 8) return c;
        int width = static_cast<int>(round_up(ceil_div(job.inner, ceil_div(job.inner, 32)), 4));
        while (width > 8 && !good(cut(job, width, 256)))
            width = static_cast<int>(round_up(width / 2, 4));
        return cut(job, width, 256);
    }
    StagedCut cut(const Job& job, int width, int team) const {
        const auto size = static_cast<int>(bytes_of(job.type));
        const bool even = reinterpret_cast<std::uintptr_t>(job.in) % 16 == 0 && job.inner * size % 16 == 0 &&
                          width * size % 16 == 0;
        StagedCut c = staged_cut(job.inner, width, team, StagedSums<T, 1>::per_thread, taps_, even,
                                 as_values(job), size, static_cast<int>(sizeof(T)));
        c.segment = segment_, c.table = table_;
        return c;
    }

    device::Device device_;
    Index taps_ = 0;  // 0: it does no run
    int segment_ = 1, table_ = 0;
    device::Buffer memory_;
};

}  // namespace convoy::conv1d::gpu
