// A block of threads brings the samples of its outputs into shared memory, one channel after the other, and
// the weights of one filter: the textbook's tiled convolution.
#include "core/conv2d/fetch_cuda.cuh"

namespace convoy::conv2d {

namespace gpu {
namespace {

constexpr int across = 32, down = 8;  // threads, an output each

struct Tile {
    int rows, columns;  // of samples
    Index tiles_across, tiles_down;
};

Tile tile_of(const Problem& p) {
    Tile t{};
    t.rows = static_cast<int>((down - 1) * p.stride.rows + p.spread().rows);
    t.columns = static_cast<int>((across - 1) * p.stride.columns + p.spread().columns);
    return t;
}
std::size_t shared_bytes(const Problem& p) {
    const Tile t = tile_of(p);
    return static_cast<std::size_t>((Index{t.rows} * t.columns + p.taps.rows * p.taps.columns) *
                                    bytes_of(p.arithmetic()));
}

template <class A, class In>
__global__ void __launch_bounds__(across* down) tiled(Job job, Tile tile) {
    extern __shared__ __align__(16) unsigned char memory[];
    A* const x = reinterpret_cast<A*>(memory);
    A* const w = x + tile.rows * tile.columns;
    const int taps = job.tap_rows * job.tap_columns, filters = job.groups * job.group_filters;
    Index rest = blockIdx.x;
    const Index q0 = rest % tile.tiles_across * across;
    rest /= tile.tiles_across;
    const Index p0 = rest % tile.tiles_down * down;
    rest /= tile.tiles_down;
    const int part = static_cast<int>(rest % job.parts);
    rest /= job.parts;
    const int filter = static_cast<int>(rest % filters);
    const Index image = rest / filters;
    const int channel = filter / job.group_filters * job.group_channels;
    const Index top = p0 * job.stride_rows - job.before_rows;
    const Index left = (job.out_first + q0) * job.stride_columns - job.before_columns;
    const int tx = threadIdx.x % across, ty = threadIdx.x / across;
    A total = 0, chain = 0;
    int summed = 0;
    for (int c = 0; c < job.group_channels; ++c) {
        __syncthreads();
        for (int r = ty; r < tile.rows; r += down) {
            const Index at = top + r;
            const bool there = at >= 0 && at < job.rows;
            const Line<A, In> line(job, image, channel + c, there ? at : 0, part);
            for (int i = tx; i < tile.columns; i += across)
                x[r * tile.columns + i] = there ? line.at(job, left + i) : A{0};
        }
        const A* const from =
            static_cast<const A*>(job.weights) + (Index{filter} * job.group_channels + c) * taps;
        for (int i = threadIdx.x; i < taps; i += across * down)
            w[i] = from[i];
        __syncthreads();
        for (int r = 0; r < job.tap_rows; ++r) {
            const A* const row =
                x + (ty * job.stride_rows + r * job.dilation_rows) * tile.columns + tx * job.stride_columns;
            for (int s = 0; s < job.tap_columns; ++s) {
                chain += w[r * job.tap_columns + s] * row[s * job.dilation_columns];
                if (++summed < job.chain) continue;
                total += chain;
                chain = 0;
                summed = 0;
            }
        }
    }
    if (p0 + ty < job.out_rows && q0 + tx < job.out_count)
        finish(job, image, filter, p0 + ty, q0 + tx, part, total + chain);
}

class TiledStage : public CudaStage {
  public:
    TiledStage(const Problem& p, const device::Device& d) : CudaStage(p, d) {
        with_types(p, [&](auto arithmetic, auto stored) {
            use_shared_memory(reinterpret_cast<const void*>(&tiled<decltype(arithmetic), decltype(stored)>),
                              d);
        });
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        Tile tile = tile_of(problem());
        tile.tiles_across = (job.out_count + across - 1) / across;
        tile.tiles_down = (job.out_rows + down - 1) / down;
        const unsigned blocks =
            blocks_of(tile.tiles_across * tile.tiles_down * job.parts * job.images * problem().filters);
        with_types(problem(), [&](auto arithmetic, auto stored) {
            tiled<decltype(arithmetic), decltype(stored)>
                <<<blocks, across * down, shared_bytes(problem()), stream>>>(job, tile);
        });
        device::check_launch("tiled");
    }
};

std::string cannot(const Problem& p, const device::Device& d) {
    const std::size_t there = std::max<std::size_t>(d.attributes.shared_bytes_per_block, 49152) - 1024;
    const Pair spread = p.spread();
    const Index most = Index{1} << 20;
    if (spread.rows > most || spread.columns > most || p.stride.rows > most || p.stride.columns > most ||
        shared_bytes(p) > there)
        return "a tile of its samples does not fit into shared memory";
    return {};
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy tiled_cuda{
    "tiled",
    device::Backend::cuda,
    "one thread an output, samples and weights in shared memory",
    gpu::cannot,
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        return std::make_unique<gpu::TiledStage>(p, d);
    },
    [](const Problem& p, const device::Device& d) { return std::optional(gpu::time_of(p, d, 30)); }};

}  // namespace convoy::conv2d
