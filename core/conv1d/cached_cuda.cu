// A tile of samples without halos in shared memory: the samples of a block's own outputs; those of its
// neighbours, which lie in L2 because the neighbours just read them, come from global memory.
#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/tile_cuda.cuh"

namespace convoy::conv1d {

namespace gpu {
namespace {

constexpr int most_threads = 256;

// Outputs of a tile: a few for each thread; with much decimation, as their samples have room for.
int outputs_for(Index decimate) {
    return static_cast<int>(std::clamp<Index>(8192 / decimate, 1, 4 * most_threads));
}

template <class T, class In>
__global__ void __launch_bounds__(most_threads)
    cached_kernel(const Job job, const Tiling tiling, const Index own, const T* __restrict__ taps,
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
    const int width = tiling.outputs * static_cast<int>(own);
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
        const int start = n * static_cast<int>(own) - middle;  // of the output's samples, in the tile
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

class CachedStage : public CudaStage {
  public:
    CachedStage(const Problem& p, const device::Device& device)
        : CudaStage(p, device), taps_(upload_values(device, p.arithmetic, backwards(p.taps))) {}
    bool single_pass() const override { return taps() == 1; }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        single() ? launch_as<float>(job, stream) : launch_as<double>(job, stream);
        device::check_launch("cached");
    }

  private:
    template <class T>
    void launch_as(const Job& job, cudaStream_t stream) const {
        const int outputs = outputs_for(job.decimate), threads = std::min(outputs, most_threads);
        const int rows = cached_rows(job, threads, outputs);
        const Tiling tiles = tiling(job, rows, threads / rows * (outputs / threads));
        const Index own = std::min<Index>(job.decimate, 8192);  // frames that an output calls its own
        const std::size_t bytes = static_cast<std::size_t>(rows * (tiles.outputs * own + 1)) * sizeof(T);
        dispatch(job.type, [&](auto in) {
            use_shared_memory(reinterpret_cast<const void*>(&cached_kernel<T, decltype(in)>), device());
            cached_kernel<T, decltype(in)><<<static_cast<unsigned>(tiles.tiles()), threads, bytes, stream>>>(
                job, tiles, own, reinterpret_cast<const T*>(taps_.data()), longest_segment(job.taps));
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
    [](const Problem& p, const device::Device& d) { return std::optional(gpu::time_of(p, d, 6)); }};

}  // namespace convoy::conv1d
