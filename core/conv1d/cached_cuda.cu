// A tile of samples without halos in shared memory: the samples of a block's own outputs; those of its
// neighbours, which lie in L2 because the neighbours just read them, come from global memory.
#include "core/conv1d/plain_cuda.cuh"
#include "core/conv1d/tile_cuda.cuh"

namespace convoy::conv1d {

namespace gpu {
namespace {

constexpr int most_threads = 256, outputs_each = 16;
constexpr Index most_plain_taps = 4096;  // of tiles that keep all taps in shared memory

// Outputs of a tile: a few for each thread; with much decimation, as their samples have room for.
int outputs_for(Index decimate) {
    return decimate == 1 ? outputs_each * most_threads
                         : static_cast<int>(std::clamp<Index>(8192 / decimate, 1, 4 * most_threads));
}

// A plain tile keeps all taps in shared memory.
constexpr int plain_outputs = outputs_each * most_threads;
bool plain_tiles(const Job& job) {
    return has_plain(job) && job.decimate == 1 && job.out_span.count >= plain_outputs &&
           job.taps <= most_plain_taps;
}

// Own samples of a tile are in shared memory, those of its neighbours come through L2. Clip: the tile may
// reach beyond the ends of the row.
template <class T, class In, bool Clip>
struct PlainTile {
    static constexpr int width = plain_outputs, at_once = 4;
    const PlainRun<T, In>& run;
    const In* row;
    Index first;        // the tile's first sample, in the row
    const T *taps, *x;  // in shared memory
    int all, middle, segment;

    // Output n, some of whose samples are the neighbours': taps [before, after) meet the tile's own.
    __device__ __forceinline__ T across(int n) const {
        const int start = n - middle, before = max(-start, 0), after = min(width - start, all);
        const auto sample = [&](int j) {
            return Clip ? run.clipped(row, first + start + j)
                        : static_cast<T>(__ldg(row + first + start + j));
        };
        T total = 0;
        for (int j = 0; j < all;) {
            const int end = min(j + segment, all), begin_own = min(end, before), end_own = min(end, after);
            T sum = 0;
#pragma unroll 4
            for (; j < begin_own; ++j)
                sum = fma(taps[j], sample(j), sum);
#pragma unroll 8
            for (; j < end_own; ++j)
                sum = fma(taps[j], x[start + j], sum);
#pragma unroll 4
            for (; j < end; ++j)
                sum = fma(taps[j], sample(j), sum);
            total += sum;
        }
        return total;
    }
    __device__ __forceinline__ void write(T* out, int outputs) const {
        const int thread = threadIdx.x, reach = all - 1 - middle, end = Clip ? outputs : width;
        int n = thread;
        for (; n - thread < middle && n < end; n += most_threads)
            out[n] = across(n);
        for (; n - thread + at_once * most_threads + reach <= width; n += at_once * most_threads) {
            T totals[at_once] = {};
            Strided<T, at_once>::add(totals, x + n - middle, 0, most_threads, taps, all, segment);
#pragma unroll
            for (int e = 0; e < at_once; ++e)
                if (!Clip || n + e * most_threads < end) out[n + e * most_threads] = totals[e];
        }
        for (; n < end; n += most_threads)
            out[n] = across(n);
    }
};

template <class T, class In>
__global__ void __launch_bounds__(most_threads)
    cached_kernel(const Job job, const Tiling tiling, const int own, const T* __restrict__ taps,
                  const int segment) {
    T* const x = shared<T>();
    const Tile tile = tile_at(job, tiling, blockIdx.x);
    const bool planar = job.inner == 1;
    const Seat me = seat(planar, tiling.rows, blockDim.x, threadIdx.x);
    const bool taken = me.taken && me.row < tile.rows;
    const Lane<T, In> lane(job, tile.outer + (planar && taken ? me.row : 0),
                           tile.inner + (planar || !taken ? 0 : me.row));
    // Frames [first, first + width) are those of the tile's own outputs: the middle of what each of them
    // uses.
    const int width = tiling.outputs * own;
    const Index centre = (job.taps - 1) / 2, first = job.frame_of(tile.first) + centre;
    T* const row = x + me.row * (width + 1);
    if (taken) {
        const Run there = plain_part(job, first, width);
        for (int i = me.at; i < width; i += me.step)
            row[i] = i >= there.begin && i < there.end ? lane.value(lane.stored(first + i))
                                                       : lane.extended(job, first + i);
    }
    __syncthreads();
    if (!taken) return;
    const TapsInMemory<T> tap{taps};
    const Index left = job.out_span.end() - tile.first;
    const int outputs = left < tiling.outputs ? static_cast<int>(left) : tiling.outputs;
    T* const out =
        reinterpret_cast<T*>(job.out) +
        job.output_at(tile.outer + (planar ? me.row : 0), tile.inner + (planar ? 0 : me.row), tile.first);
    const int all = static_cast<int>(job.taps), middle = static_cast<int>(centre);
    for (int n = me.at; n < outputs; n += me.step) {
        // Taps [before, after) meet samples of the tile.
        const int start = n * own - middle;  // of the output's samples, in the tile
        const int before = min(max(-start, 0), all), after = min(max(width - start, 0), all);
        if (before == 0 && after == all) {
            out[n * job.inner] = sum_products<T>(all, segment, tap, row + start);
            continue;
        }
        Sum<T> sum(segment);
        add_from_memory(sum, 0, before, tap, job, lane, first + start);
        sum.add(before, after - before, tap, Stored<T, T>{row + (start + before)});
        add_from_memory(sum, after, all - after, tap, job, lane, first + start + after);
        out[n * job.inner] = sum.value();
    }
}

template <class T, class In>
__global__ void __launch_bounds__(most_threads, sizeof(T) == 4 ? 5 : 4)
    plain_kernel(const __grid_constant__ PlainRun<T, In> run, const T* __restrict__ taps) {
    let_next_begin();
    const unsigned block = blockIdx.x;
    const Index row = blockIdx.y, first = static_cast<Index>(block) * plain_outputs;
    T *const x = shared<T>(), *const g = x + plain_outputs;
    const int thread = threadIdx.x, middle = (run.taps - 1) / 2;
    const In* const from = run.in + row * run.in_pitch;
    const Index own = first + middle;
    for (int j = thread; j < run.taps; j += most_threads)
        g[j] = taps[j];
    if (run.plain(block)) {
        In values[outputs_each];
#pragma unroll
        for (int e = 0; e < outputs_each; ++e)
            values[e] = from[own + e * most_threads + thread];
#pragma unroll
        for (int e = 0; e < outputs_each; ++e)
            x[e * most_threads + thread] = static_cast<T>(values[e]);
    } else
#pragma unroll 1
        for (int i = thread; i < plain_outputs; i += most_threads)
            x[i] = run.clipped(from, own + i);
    __syncthreads();
    if constexpr (std::is_same_v<T, float>)
        if (run.wide != nullptr) {
            LoudAndFaint seen;
#pragma unroll
            for (int i = 0; i < plain_outputs; i += 4 * most_threads)
                seen.quad(reinterpret_cast<const float4*>(x + i)[thread]);
            // The first and the last tile of a row look at what is left over too.
            const auto others = [&](Index begin, Index end) {
#pragma unroll 1
                for (Index i = begin + 4 * thread; i < end; i += 4 * most_threads)
                    seen.quad(make_float4(run.clipped(from, i), run.clipped(from, i + 1),
                                          run.clipped(from, i + 2), run.clipped(from, i + 3)));
            };
            if (block == 0) others(0, middle);
            if (run.last(block)) others(own + plain_outputs, first + plain_outputs + run.taps);
            seen.join(run.wide);
        }
    T* const out = run.out + row * run.out_pitch + first;
    if (run.plain(block))
        PlainTile<T, In, false>{run, from, own, g, x, run.taps, middle, run.segment}.write(out,
                                                                                           plain_outputs);
    else
        PlainTile<T, In, true>{run, from, own, g, x, run.taps, middle, run.segment}.write(
            out, static_cast<int>(min(run.outputs - first, Index{plain_outputs})));
}

class CachedStage : public CudaStage {
  public:
    CachedStage(const Problem& p, const device::Device& device)
        : CudaStage(p, device), taps_(upload_values(device, p.arithmetic, backwards(p.taps))) {}
    bool single_pass() const override { return taps() == 1; }

  protected:
    bool looks(const Job& job) const override { return plain_tiles(job) && plain_looks(job); }
    void launch(const Job& job, cudaStream_t stream) override {
        single() ? launch_as<float>(job, stream) : launch_as<double>(job, stream);
        device::check_launch("cached");
    }

  private:
    template <class T>
    void launch_as(const Job& job, cudaStream_t stream) const {
        const int outputs = outputs_for(job.decimate), threads = std::min(outputs, most_threads);
        const int rows = cached_rows(job, threads, outputs), segment = equal_segment(job.taps);
        const Tiling tiles = tiling(job, rows, threads / rows * (outputs / threads));
        const int own =
            static_cast<int>(std::min<Index>(job.decimate, 8192));  // samples that are an output's own
        const bool plain = plain_tiles(job);
        const std::size_t bytes = sizeof(T) * (static_cast<std::size_t>(rows * (tiles.outputs * own + 1)) +
                                               (plain ? static_cast<std::size_t>(job.taps) : 0));
        const T* const taps = reinterpret_cast<const T*>(taps_.data());
        dispatch(job.type, [&](auto in) {
            using In = decltype(in);
            if (plain) {
                constexpr auto kernel = plain_kernel<T, In>;
                use_shared_memory(reinterpret_cast<const void*>(kernel), device());
                kernel<<<plain_grid(job, plain_outputs), threads, bytes, stream>>>(
                    plain_run<T, In>(job, plain_outputs, 0, segment), taps);
            } else {
                constexpr auto kernel = cached_kernel<T, In>;
                use_shared_memory(reinterpret_cast<const void*>(kernel), device());
                kernel<<<static_cast<unsigned>(tiles.tiles()), threads, bytes, stream>>>(job, tiles, own,
                                                                                         taps, segment);
            }
        });
    }
    static int cached_rows(const Job& job, int threads, int outputs) {
        const Index lanes = job.inner == 1 ? job.outer : job.inner;
        const Index room = job.inner == 1 ? std::max<Index>(outputs / job.out_span.count, 1) : 16;
        return static_cast<int>(std::min({lanes, room, Index{threads}}));
    }

    device::Buffer taps_;
};

}  // namespace
}  // namespace gpu

extern constinit const Strategy cached_cuda{
    "cached",
    device::Backend::cuda,
    "tiles in shared memory, halos through the L2 cache",
    [](const Problem&, const device::Device&) { return std::string(); },
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        return std::make_unique<gpu::CachedStage>(p, d);
    },
    [](const Problem& p, const device::Device& d) { return std::optional(gpu::time_of(p, d, 4.7)); }};

}  // namespace convoy::conv1d
