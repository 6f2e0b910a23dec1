// Direct sums in registers, for few input channels. Square kernels over one or three channels go down the
// rows (rolling_rows_cuda.hpp); others, and many filters of few taps, take tiles of samples
// (small_channel_tiles_cuda.cuh).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/conv2d/rolling_rows_cuda.hpp"
#include "core/conv2d/small_channel_tiles_cuda.cuh"

namespace convoy::conv2d {

namespace gpu {
namespace {

using namespace tiles;

constexpr std::size_t resident_bytes = 24 << 10;

bool of_rows(const Problem& p) {
    return p.group_filters() < 6 && p.stride.rows == 1 && p.dilation.rows == 1;
}
Index up(Index n, Index step) {
    return (n + step - 1) / step * step;
}

Tile tile_of(const Problem& p) {
    Tile t{};
    const Index down = of_rows(p) ? warps * outputs : warps;
    const bool neighbours = p.dilation.columns == 1;
    t.rows = static_cast<int>((down - 1) * p.stride.rows + p.spread().rows);
    t.phases = static_cast<int>(std::min(p.stride.columns, p.spread().columns));
    // Four taps are read at a time, whether there are so many or not.
    t.width = static_cast<int>(up(columns + (p.spread().columns - 1) / p.stride.columns + 8, 4));
    t.runs = static_cast<int>(neighbours ? std::min(p.stride.columns, p.taps.columns) : p.taps.columns);
    t.run_taps = static_cast<int>(neighbours ? up((p.taps.columns + t.runs - 1) / t.runs, 4) : 4);
    t.batches =
        static_cast<int>(of_rows(p) ? p.group_filters() : (p.group_filters() + outputs - 1) / outputs);
    return t;
}
/// Of one batch of filters.
Index weight_count(const Problem& p) {
    const Tile t = tile_of(p);
    return of_rows(p) ? p.group_channels() * p.taps.rows * t.runs * t.run_taps : p.terms() * outputs;
}
Index sample_count(const Problem& p) {
    const Tile t = tile_of(p);
    return p.group_channels() * t.rows * t.phases * t.width;
}
/// At least.
std::size_t shared_bytes(const Problem& p) {
    return static_cast<std::size_t>(sample_count(p) + weight_count(p)) * sizeof(float);
}
/// Whether each output's products are one chain of sums.
bool is_single(const Problem& p) {
    return p.terms() <= longest_chain(p.terms());
}

/// All weights in the order in which they are used: [group][batch], then as the sums take them.
std::vector<double> arranged(const Problem& p) {
    const Tile t = tile_of(p);
    const bool neighbours = p.dilation.columns == 1;
    std::vector<double> all;
    for (Index g = 0; g < p.groups; ++g)
        for (Index b = 0; b < t.batches; ++b)
            for (Index c = 0; c < p.group_channels(); ++c)
                for (Index r = 0; r < p.taps.rows; ++r)
                    for (Index run = 0; run < t.runs; ++run) {
                        const std::size_t start = all.size();
                        for (Index s = run; s < p.taps.columns; s += neighbours ? t.runs : p.taps.columns)
                            for (Index o = 0; o < (of_rows(p) ? 1 : outputs); ++o) {
                                const Index k = of_rows(p) ? b : b * outputs + o;
                                all.push_back(k < p.group_filters()
                                                  ? p.weight(g * p.group_filters() + k, c, r, s)
                                                  : 0.0);
                            }
                        if (of_rows(p)) all.resize(start + static_cast<std::size_t>(t.run_taps));
                    }
    return all;
}

using Kernel = void (*)(Job, Tile, const float*, int);
template <class In, int S, int P>
Kernel kernel_of(const Problem& p) {
    if (of_rows(p))
        return is_single(p) ? small_channel<true, true, In, S, P> : small_channel<true, false, In, S, P>;
    return is_single(p) ? small_channel<false, true, In, S, P> : small_channel<false, false, In, S, P>;
}
template <int P>
Kernel straight_kernel_of(const Problem& p) {
    switch (p.taps.columns) {
        case 3:
            return kernel_of<float, 3, P>(p);
        case 5:
            return kernel_of<float, 5, P>(p);
        case 7:
            return kernel_of<float, 7, P>(p);
        case 11:
            return kernel_of<float, 11, P>(p);
        case 15:
            return kernel_of<float, 15, P>(p);
        default:
            return nullptr;
    }
}
Kernel generic_kernel_of(const Problem& p) {
    return dispatch(p.in, [&](auto stored) { return kernel_of<decltype(stored), 0, 0>(p); });
}
Kernel kernel_of(const Problem& p) {
    Kernel kernel = nullptr;
    if (p.in == SampleType::float32 && p.scaling.trivial() && p.dilation.columns == 1) {
        if (p.stride.columns == 1) kernel = straight_kernel_of<1>(p);
        if (p.stride.columns == 2) kernel = straight_kernel_of<2>(p);
    }
    return kernel != nullptr ? kernel : generic_kernel_of(p);
}

class SmallChannelStage : public CudaStage {
  public:
    SmallChannelStage(const Problem& p, const device::Device& d)
        : CudaStage(p, d),
          tile_(tile_of(p)),
          weights_(weight_count(p)),
          samples_bytes_(sample_count(p) * sizeof(float)),
          arranged_(upload_values(d, SampleType::float32, arranged(p))),
          kernel_(kernel_of(p)),
          room_(use_shared_memory(reinterpret_cast<const void*>(kernel_), d)) {}

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        if (job.in_end - job.in_first > std::numeric_limits<int>::max() / 2)
            throw failed({}, "the chunk has more columns than the GPU's strategy counts",
                         "use a smaller --chunk");
        const Index down = of_rows(problem()) ? warps * outputs : warps;
        Tile tile = tile_;
        tile.tiles_across = blocks_of((job.out_count + columns - 1) / columns);
        tile.tiles_down = blocks_of((job.out_rows + down - 1) / down);
        tile.tiles =
            blocks_of(Index{tile.tiles_across} * tile.tiles_down * job.parts * job.groups * job.images);
        tile.vectors = job.out_steps.column == 1 && job.out_steps.row % across == 0 &&
                       job.out_steps.channel % across == 0 && job.out_steps.image % across == 0 &&
                       reinterpret_cast<std::uintptr_t>(job.out) % sizeof(float4) == 0;
        const int at_once =
            std::max(device().attributes.multiprocessors, 1) * blocks_at_once(is_single(problem()));
        const unsigned splits = split(tile, at_once);
        const std::size_t shared = place(tile);
        const dim3 grid(std::min(tile.tiles, std::max(at_once / splits, 1u)), splits);
        kernel_<<<grid, threads, shared, stream>>>(
            job, tile, reinterpret_cast<const float*>(arranged_.data()), static_cast<int>(weights_));
        device::check_launch("small_channel");
    }

  private:
    // Few tiles are shared by several blocks, each with some of the filters.
    static unsigned split(Tile& tile, int at_once) {
        unsigned splits = 1;
        while (Index{tile.tiles} * splits < 6 * Index{at_once} && Index{splits} * 2 <= tile.batches)
            splits *= 2;
        tile.batches_each = (tile.batches + static_cast<int>(splits) - 1) / static_cast<int>(splits);
        return static_cast<unsigned>((tile.batches + tile.batches_each - 1) / tile.batches_each);
    }
    // What is in shared memory, and its bytes.
    std::size_t place(Tile& tile) const {
        const std::size_t one = static_cast<std::size_t>(weights_) * sizeof(float),
                          all = one * static_cast<std::size_t>(tile.batches_each);
        tile.resident = all <= resident_bytes;
        const std::size_t weights = tile.resident ? all : one;
        const auto blocks = static_cast<std::size_t>(blocks_at_once(is_single(problem())));
        tile.buffers = (2 * samples_bytes_ + weights + 1024) * blocks <= room_ ? 2 : 1;
        return static_cast<std::size_t>(tile.buffers) * samples_bytes_ + weights;
    }

    Tile tile_;
    Index weights_;  // of a batch
    std::size_t samples_bytes_;
    device::Buffer arranged_;
    Kernel kernel_;
    std::size_t room_;
};

/// Many filters of few taps wait for memory anyway, and are written better by tiles.
bool rolls(const Problem& p, const device::Device& d) {
    return rolling_rows_fit(p, d) && (p.terms() > 9 || p.group_filters() < 6);
}

std::string cannot(const Problem& p, const device::Device& d) {
    if (rolls(p, d)) return {};
    if (p.precision == Precision::float64) return "it computes in float32";
    if (p.extent.rows > Index{1} << 30) return "its rows are more than it counts";
    const std::size_t there = std::max<std::size_t>(d.attributes.shared_bytes_per_block, 49152) - 1024;
    const Pair spread = p.spread();
    const Index most = Index{1} << 20;
    if (spread.rows > most || spread.columns > most || p.stride.rows > most || p.stride.columns > most ||
        p.group_channels() > most || shared_bytes(p) > there)
        return "its samples and weights do not fit into shared memory";
    return {};
}

// Eight outputs and 128 columns are computed whole; with much shared memory few blocks are at work at once.
// Slowdowns measured on one H200.
std::optional<double> cost(const Problem& p, const device::Device& d) {
    if (rolls(p, d)) return rolling_rows_cost(p, d);
    const double filters = static_cast<double>(p.group_filters());
    const double wasted = of_rows(p) ? 1.2 : std::ceil(filters / outputs) * outputs / filters;
    const double q = static_cast<double>(p.outputs().columns);
    const double narrow = std::ceil(q / columns) * columns / q;
    const double crowded = shared_bytes(p) > (112u << 10) ? 1.6 : 1.0;
    const double scattered = p.dilation.columns == 1 ? 1.0 : 2.5;
    const double loops = kernel_of(p) == generic_kernel_of(p) ? 1.6 : 1.0;
    return time_of(p, d, 1.5 * wasted * narrow * crowded * scattered * loops);
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy small_channel_cuda{
    "small_channel",
    device::Backend::cuda,
    "sums in registers, for few input channels",
    gpu::cannot,
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        if (gpu::rolls(p, d)) return gpu::make_rolling_rows(p, d);
        return std::make_unique<gpu::SmallChannelStage>(p, d);
    },
    gpu::cost};

}  // namespace convoy::conv2d
