// Direct sums in registers: each thread keeps eight outputs by four columns. The eight are filters where
// there are enough, else rows of one filter; the samples that a tap meets are read from shared memory once
// for all eight, and the taps of all eight once for the four columns. Right for few input channels, whose
// samples fit in shared memory.
#include <algorithm>
#include <cmath>

#include "core/conv2d/fetch_cuda.cuh"

namespace convoy::conv2d {

namespace gpu {
namespace {

constexpr int lanes = 32, warps = 8, threads = lanes * warps;
constexpr int outputs = 8, across = 4;   // of a thread
constexpr int columns = lanes * across;  // of a block

struct Tile {
    int rows;          // of samples
    int width, pitch;  // samples of a phase; of all phases of a row
    int phases;        // columns of samples are split by the stride, so that lanes read neighbours
    int batches;       // of filters in a group
    Index tiles_across, tiles_down;
};

bool of_rows(const Problem& p) {
    return p.group_filters() < 6 && p.stride.rows == 1 && p.dilation.rows == 1;
}

Tile tile_of(const Problem& p) {
    Tile t{};
    const Index down = of_rows(p) ? warps * outputs : warps;
    t.rows = static_cast<int>((down - 1) * p.stride.rows + p.spread().rows);
    t.phases = static_cast<int>(std::min(p.stride.columns, p.spread().columns));
    t.width = columns + static_cast<int>((p.spread().columns - 1) / p.stride.columns);
    t.pitch = t.width * t.phases;
    t.batches =
        static_cast<int>(of_rows(p) ? p.group_filters() : (p.group_filters() + outputs - 1) / outputs);
    return t;
}
std::size_t shared_bytes(const Problem& p) {
    const Tile t = tile_of(p);
    const Index weights = p.terms() * (of_rows(p) ? 1 : outputs);
    return static_cast<std::size_t>((p.group_channels() * t.rows * t.pitch + 3) / 4 * 4 + weights) *
           sizeof(float);
}

// Adds one tap: samples x[32 j], weights w of the outputs.
__device__ __forceinline__ void tap(const float* x, const float (&w)[outputs],
                                    float (&sum)[outputs][across]) {
#pragma unroll
    for (int j = 0; j < across; ++j) {
        const float v = x[lanes * j];
#pragma unroll
        for (int o = 0; o < outputs; ++o)
            sum[o][j] = fmaf(w[o], v, sum[o][j]);
    }
}

__device__ __forceinline__ void add_up(float (&total)[outputs][across], float (&sum)[outputs][across]) {
#pragma unroll
    for (int o = 0; o < outputs; ++o)
#pragma unroll
        for (int j = 0; j < across; ++j) {
            total[o][j] += sum[o][j];
            sum[o][j] = 0;
        }
}

// Where tap s is in a row of the tile.
__device__ __forceinline__ int place(const Job& job, const Tile& tile, int s) {
    const int column = s * job.dilation_columns;
    if (job.stride_columns == 1) return column;
    return column % job.stride_columns * tile.width + column / job.stride_columns;
}

// Eight filters of one row. Rows of zeros beyond the edges are in the tile.
__device__ __forceinline__ void filters_of(const Job& job, const Tile& tile, const float* x, const float* w,
                                           float (&total)[outputs][across]) {
    float sum[outputs][across] = {};
    int summed = 0;
    for (int c = 0; c < job.group_channels; ++c)
        for (int r = 0; r < job.tap_rows; ++r) {
            const float* const row = x + (c * tile.rows + r * job.dilation_rows) * tile.pitch;
            for (int s = 0; s < job.tap_columns; ++s, w += outputs) {
                const float4 a = *reinterpret_cast<const float4*>(w),
                             b = *reinterpret_cast<const float4*>(w + 4);
                const float weights[outputs] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
                tap(row + place(job, tile, s), weights, sum);
                if (++summed < job.chain) continue;
                add_up(total, sum);
                summed = 0;
            }
        }
    add_up(total, sum);
}

// Eight rows of one filter: row i of the samples meets tap row i - o of output o.
__device__ __forceinline__ void rows_of(const Job& job, const Tile& tile, const float* x, const float* w,
                                        float (&total)[outputs][across]) {
    float sum[outputs][across] = {};
    int summed = 0;  // at most, of any output
    for (int c = 0; c < job.group_channels; ++c, w += job.tap_rows * job.tap_columns)
        for (int i = 0; i < job.tap_rows + outputs - 1; ++i) {
            const float* const row = x + (c * tile.rows + i) * tile.pitch;
            const bool all = i >= outputs - 1 && i < job.tap_rows;
            for (int s = 0; s < job.tap_columns; ++s) {
                const float* const at = row + place(job, tile, s);
                if (all) {
                    float weights[outputs];
#pragma unroll
                    for (int o = 0; o < outputs; ++o)
                        weights[o] = w[(i - o) * job.tap_columns + s];
                    tap(at, weights, sum);
                } else {
                    float v[across];
#pragma unroll
                    for (int j = 0; j < across; ++j)
                        v[j] = at[lanes * j];
#pragma unroll
                    for (int o = 0; o < outputs; ++o) {
                        if (i < o || i - o >= job.tap_rows)
                            continue;  // not a zero tap: the sample may be NaN
                        const float weight = w[(i - o) * job.tap_columns + s];
#pragma unroll
                        for (int j = 0; j < across; ++j)
                            sum[o][j] = fmaf(weight, v[j], sum[o][j]);
                    }
                }
                if (++summed < job.chain) continue;
                add_up(total, sum);
                summed = 0;
            }
        }
    add_up(total, sum);
}

template <bool by_rows, class In>
__global__ void __launch_bounds__(threads) small_channel(Job job, Tile tile) {
    extern __shared__ __align__(16) float memory[];
    float* const x = memory;
    float* const w = memory + (job.group_channels * tile.rows * tile.pitch + 3) / 4 * 4;
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const int taps = job.tap_rows * job.tap_columns, terms = job.group_channels * taps;
    Index rest = blockIdx.x;
    const Index q0 = rest % tile.tiles_across * columns;
    rest /= tile.tiles_across;
    const Index p0 = rest % tile.tiles_down * (by_rows ? warps * outputs : warps);
    rest /= tile.tiles_down;
    const int part = static_cast<int>(rest % job.parts);
    rest /= job.parts;
    const int group = static_cast<int>(rest % job.groups);
    const Index image = rest / job.groups;
    const Index channel = (image * job.groups + group) * job.group_channels;
    const Index top = p0 * job.stride_rows - job.before_rows;
    const Index left = (job.out_first + q0) * job.stride_columns - job.before_columns;
    for (int line = warp; line < job.group_channels * tile.rows; line += warps) {
        const int c = line / tile.rows;
        const Index at = top + line % tile.rows;
        const bool there = at >= 0 && at < job.rows;
        const Index outer = (channel + c) * job.rows + at;
        // A lane writes neighbours and reads what is a stride apart: shared memory has the harder rules.
        for (int phase = 0; phase < tile.phases; ++phase)
            for (int i = lane; i < tile.width; i += lanes)
                x[line * tile.pitch + phase * tile.width + i] =
                    there ? sample<float, In>(job, outer, left + Index{i} * job.stride_columns + phase, part)
                          : 0.0f;
    }
    for (int batch = 0; batch < tile.batches; ++batch) {
        __syncthreads();
        const int first = group * job.group_filters + (by_rows ? batch : batch * outputs);
        const int active = by_rows ? 1 : min(outputs, job.group_filters - batch * outputs);
        const float* const from = static_cast<const float*>(job.weights) + Index{first} * terms;
        if (by_rows) {
            for (int i = threadIdx.x; i < terms; i += threads)
                w[i] = from[i];
        } else {
            for (int i = threadIdx.x; i < terms * outputs; i += threads)
                w[i] = i % outputs < active ? from[i % outputs * terms + i / outputs] : 0.0f;
        }
        __syncthreads();
        float total[outputs][across] = {};
        if (by_rows)
            rows_of(job, tile, x + warp * outputs * tile.pitch + lane, w, total);
        else
            filters_of(job, tile, x + warp * job.stride_rows * tile.pitch + lane, w, total);
#pragma unroll
        for (int o = 0; o < outputs; ++o) {
            const Index row = by_rows ? p0 + warp * outputs + o : p0 + warp;
            const int filter = by_rows ? first : first + o;
            if (row >= job.out_rows || (!by_rows && o >= active)) continue;
#pragma unroll
            for (int j = 0; j < across; ++j) {
                const Index q = q0 + lane + lanes * j;
                if (q < job.out_count) finish(job, image, filter, row, q, part, total[o][j]);
            }
        }
    }
}

class SmallChannelStage : public CudaStage {
  public:
    SmallChannelStage(const Problem& p, const device::Device& d) : CudaStage(p, d) {
        dispatch(p.in, [&](auto stored) {
            using In = decltype(stored);
            use_shared_memory(of_rows(p) ? reinterpret_cast<const void*>(&small_channel<true, In>)
                                         : reinterpret_cast<const void*>(&small_channel<false, In>),
                              d);
        });
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        const bool rows = of_rows(problem());
        const Index down = rows ? warps * outputs : warps;
        Tile tile = tile_of(problem());
        tile.tiles_across = (job.out_count + columns - 1) / columns;
        tile.tiles_down = (job.out_rows + down - 1) / down;
        const unsigned blocks =
            blocks_of(tile.tiles_across * tile.tiles_down * job.parts * job.groups * job.images);
        dispatch(problem().in, [&](auto stored) {
            using In = decltype(stored);
            if (rows)
                small_channel<true, In><<<blocks, threads, shared_bytes(problem()), stream>>>(job, tile);
            else
                small_channel<false, In><<<blocks, threads, shared_bytes(problem()), stream>>>(job, tile);
        });
        device::check_launch("small_channel");
    }
};

std::string cannot(const Problem& p, const device::Device& d) {
    if (p.precision == Precision::float64) return "it computes in float32";
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
    const double wasted = of_rows(p) ? 2.8 : std::ceil(filters / outputs) * outputs / filters;
    const double q = static_cast<double>(p.outputs().columns);
    const double narrow = std::ceil(q / columns) * columns / q;
    const double crowded = shared_bytes(p) > (64u << 10) ? 1.6 : 1.0;
    return time_of(p, d, 2.8 * wasted * narrow * crowded);
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
