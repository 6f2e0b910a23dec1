// Direct sums in registers: each thread keeps eight outputs by four columns. The eight are filters where
// there are enough, else rows of one filter; samples are read from shared memory once for all eight, and the
// taps of all eight once for the four columns. Right for few input channels, whose samples fit in shared
// memory.
#include "core/conv2d/small_channel_cuda.cuh"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/conv2d/fetch_cuda.cuh"

namespace convoy::conv2d {

namespace gpu {
namespace {

constexpr int lanes = 32, warps = 8, threads = lanes * warps;
constexpr int columns = lanes * across;  // of a block
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
constexpr int blocks_at_once(bool single) {
    return single ? 3 : 2;
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

/// Where a block's outputs are.
struct Place {
    Index column, row, image;
    int part, group;

    __device__ Place(const Job& job, const Tile& tile, unsigned rest, int down) {
        column = Index{rest % tile.tiles_across} * columns;
        rest /= tile.tiles_across;
        row = Index{rest % tile.tiles_down} * down;
        rest /= tile.tiles_down;
        part = static_cast<int>(rest % static_cast<unsigned>(job.parts));
        rest /= static_cast<unsigned>(job.parts);
        group = static_cast<int>(rest % static_cast<unsigned>(job.groups));
        image = rest / static_cast<unsigned>(job.groups);
    }
};

/// Samples as they are stored, by asynchronous copies, many at once; P: the stride of columns.
template <int P>
__device__ __forceinline__ void copy_samples(const Job& job, const Tile& tile, const Place& at, float* x) {
    constexpr int turns = 5;  // of 32 places: a line's width
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const int top = static_cast<int>(at.row * job.stride_rows - job.before_rows);
    const int first = static_cast<int>((job.out_first + at.column) * P - job.before_columns - job.in_first);
    const int count = static_cast<int>(job.in_end - job.in_first),
              step = static_cast<int>(job.in_steps.column);
    const float* from = reinterpret_cast<const float*>(job.in) + at.image * job.in_steps.image +
                        Index{at.group} * job.group_channels * job.in_steps.channel + at.part +
                        Index{first} * step;
    bool inside[P][turns];
#pragma unroll
    for (int phase = 0; phase < P; ++phase)
#pragma unroll
        for (int i = 0; i < turns; ++i)
            inside[phase][i] =
                lane + 32 * i < tile.width &&
                static_cast<unsigned>(first + (lane + 32 * i) * P + phase) < static_cast<unsigned>(count);
    const unsigned row_bytes = P * tile.width * sizeof(float);
    unsigned plane = static_cast<unsigned>(__cvta_generic_to_shared(x)) + lane * sizeof(float);
    for (int c = 0; c < job.group_channels; ++c, from += job.in_steps.channel, plane += tile.rows * row_bytes)
        for (int r = warp; r < tile.rows; r += warps) {
            const unsigned to = plane + r * row_bytes;
            const int row = top + r;
            const bool there = row >= 0 && row < job.rows;
            const float* const line = from + Index{row} * job.in_steps.row + lane * P * step;
#pragma unroll
            for (int phase = 0; phase < P; ++phase)
#pragma unroll
                for (int i = 0; i < turns; ++i)
                    if (lane + 32 * i < tile.width)
                        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                                         to + (phase * tile.width + 32 * i) * 4),
                                     "l"(line + (32 * i * P + phase) * step),
                                     "r"(there && inside[phase][i] ? 4 : 0));
        }
}

/// Samples of any type, scaled.
template <class In>
__device__ __forceinline__ void bring_samples(const Job& job, const Tile& tile, const Place& at, float* x) {
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const Index top = at.row * job.stride_rows - job.before_rows;
    const Index left = (job.out_first + at.column) * job.stride_columns - job.before_columns;
    for (int c = 0; c < job.group_channels; ++c)
        for (int r = warp; r < tile.rows; r += warps) {
            const Index row = top + r;
            const bool there = row >= 0 && row < job.rows;
            const Line<float, In> from(job, at.image, at.group * job.group_channels + c, there ? row : 0,
                                       at.part);
            float* to = x + (c * tile.rows + r) * tile.phases * tile.width;
            for (int phase = 0; phase < tile.phases; ++phase, to += tile.width)
                for (int i = lane; i < tile.width; i += lanes)
                    to[i] = there ? from.at(job, left + Index{i} * job.stride_columns + phase) : 0.0f;
        }
}

__device__ __forceinline__ void bring_weights(const float* from, int count, float* w) {
    for (int i = threadIdx.x; i < count / 4; i += threads)
        reinterpret_cast<float4*>(w)[i] = reinterpret_cast<const float4*>(from)[i];
}

/// Writes outputs o = 0, 1, ... that are there: rows of filter `filter`, or filters from it on.
template <bool by_rows>
__device__ __forceinline__ void write(const Job& job, const Tile& tile, const Place& at, int filter,
                                      Index row, int there, const float (&sum)[outputs][across]) {
    const Job::Steps& to = job.out_steps;
    const Index q = at.column + threadIdx.x % lanes * across;
    const Index step = by_rows ? to.row : to.channel;
    float* line = reinterpret_cast<float*>(job.out) + at.image * to.image + filter * to.channel +
                  row * to.row + q * to.column + at.part;
    const bool whole = tile.vectors && q + across <= job.out_count;
#pragma unroll
    for (int o = 0; o < outputs; ++o, line += step) {
        if (o >= there) return;
        const bool biased = job.bias != nullptr;
        const float bias = biased ? static_cast<const float*>(job.bias)[by_rows ? filter : filter + o] : 0.0f;
        float v[across];
#pragma unroll
        for (int j = 0; j < across; ++j) {
            v[j] = biased ? sum[o][j] + bias : sum[o][j];
            if (job.relu && v[j] < 0) v[j] = 0;
        }
        if (whole) {
            *reinterpret_cast<float4*>(line) = {v[0], v[1], v[2], v[3]};
            continue;
        }
#pragma unroll
        for (int j = 0; j < across; ++j)
            if (q + j < job.out_count) line[j * to.column] = v[j];
    }
}

/// Blocks stay and take one tile after the other. S, P: as filters_of has them; samples then are used as they
/// are stored.
template <bool by_rows, bool single, class In, int S, int P>
__global__ void __launch_bounds__(threads, blocks_at_once(single))
    small_channel(const __grid_constant__ Job job, const __grid_constant__ Tile tile, const float* arranged,
                  int weights) {
    extern __shared__ __align__(16) float memory[];
    constexpr int down = by_rows ? warps * outputs : warps;
    const int row_step = tile.phases * tile.width, samples = job.group_channels * tile.rows * row_step;
    float* const w = memory + tile.buffers * samples;
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const int first_batch = static_cast<int>(blockIdx.y) * tile.batches_each;
    const int end_batch = min(first_batch + tile.batches_each, tile.batches);
    const auto bring = [&](unsigned i, int buffer) {
        if (i < tile.tiles) {
            const Place at(job, tile, i, down);
            if constexpr (S > 0)
                copy_samples<P>(job, tile, at, memory + buffer * samples);
            else
                bring_samples<In>(job, tile, at, memory + buffer * samples);
        }
        asm volatile("cp.async.commit_group;");
    };
    int group = -1, buffer = 0;
    bring(blockIdx.x, 0);
    for (unsigned i = blockIdx.x; i < tile.tiles; i += gridDim.x) {
        const Place at(job, tile, i, down);
        const float* const from = arranged + Index{at.group} * tile.batches * weights;
        if (tile.resident && at.group != group)
            bring_weights(from + first_batch * weights, weights * (end_batch - first_batch), w);
        group = at.group;
        if (tile.buffers == 2) {
            bring(i + gridDim.x, buffer ^ 1);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        const float* const x = memory + buffer * samples +
                               warp * (by_rows ? outputs : job.stride_rows) * row_step + lane * across;
        const Index row = at.row + warp * (by_rows ? outputs : 1), rows_left = job.out_rows - row;
        for (int batch = first_batch; batch < end_batch; ++batch) {
            if (!tile.resident) {
                __syncthreads();
                bring_weights(from + batch * weights, weights, w);
                __syncthreads();
            }
            if (rows_left <= 0) continue;
            const float* const taps = w + (tile.resident ? (batch - first_batch) * weights : 0);
            Sums<single> sums;
            if constexpr (by_rows)
                rows_of<single, S, P>(job, tile, x, taps, sums);
            else
                filters_of<single, S, P>(job, tile, x, taps, sums);
            const int first = by_rows ? batch : batch * outputs;
            const int there =
                static_cast<int>(by_rows ? min(rows_left, Index{outputs})
                                         : min(Index{job.group_filters - first}, Index{outputs}));
            write<by_rows>(job, tile, at, at.group * job.group_filters + first, row, there, sums.result());
        }
        __syncthreads();
        if (tile.buffers == 2)
            buffer ^= 1;
        else
            bring(i + gridDim.x, 0);
    }
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

std::string cannot(const Problem& p, const device::Device& d) {
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
    "eight outputs by four columns a thread, for few input channels",
    gpu::cannot,
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        return std::make_unique<gpu::SmallChannelStage>(p, d);
    },
    gpu::cost};

}  // namespace convoy::conv2d
