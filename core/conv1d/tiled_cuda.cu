// A tile of samples with both halos, and the taps, in shared memory: each sample is read from global memory
// once a tile, whatever the number of taps, which come in chunks. Each thread makes a few outputs that lie a
// row of threads apart.
#include "core/conv1d/plain_cuda.cuh"
#include "core/conv1d/tile_cuda.cuh"

namespace convoy::conv1d {

namespace gpu {
namespace {

// Outputs of a thread; with much decimation a tile of few outputs fills the shared memory.
constexpr int many = 16, some = 4, one = 1;

// A plain tile keeps all taps in shared memory, and reads up to 3 samples more than it needs on either side.
constexpr Index most_plain_taps = 4096;
constexpr int plain_outputs = many * tile_threads, spare = 3;

bool plain_tiles(const Job& job) {
    return has_plain(job) && job.decimate == 1 && job.out_span.count >= plain_outputs &&
           job.taps <= most_plain_taps;
}
std::size_t plain_bytes(const Job& job, std::size_t size) {
    return size * static_cast<std::size_t>(plain_outputs + 2 * job.taps + 16);
}

// Puts samples [0, count) from `from` on to x, which lies on 16 bytes; returns where they begin, up to 3
// samples later. Four of them are read at once.
template <class T, class In>
__device__ __forceinline__ T* load_plain(const In* from, int count, T* x) {
    constexpr int batch = many / 4;
    const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) / sizeof(In) % 4);
    const auto* const quads = reinterpret_cast<const Quad<In>*>(from - lead);
    const int end = (lead + count + 3) / 4;
#pragma unroll 1
    for (int k = threadIdx.x; k < end; k += batch * tile_threads) {
        Quad<In> loaded[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (k + b * tile_threads < end) loaded[b] = quads[k + b * tile_threads];
#pragma unroll
        for (int b = 0; b < batch; ++b)
            if (k + b * tile_threads < end)
                store_quad(x + 4 * (k + b * tile_threads), loaded[b], [](In v) { return static_cast<T>(v); });
    }
    return x + lead;
}

template <class T, class In>
__global__ void __launch_bounds__(tile_threads, sizeof(T) == 4 ? 9 : 6)
    plain_kernel(const __grid_constant__ PlainRun<T, In> run, const T* __restrict__ taps) {
    let_next_begin();
    // The last tile of a row, which takes longer, first.
    const unsigned block = blockIdx.x == 0 ? gridDim.x - 1 : blockIdx.x - 1;
    const Index row = blockIdx.y;
    const int thread = threadIdx.x;
    const bool plain = run.plain(block);
    const Index first = static_cast<Index>(block) * plain_outputs;
    T *const g = shared<T>(), *const room = g + round_up(run.taps, 4);
    for (int j = thread; j < run.taps; j += tile_threads)
        g[j] = taps[j];
    const In* const from = run.in + row * run.in_pitch;
    const int samples = plain_outputs + run.taps - 1;
    const T* x = room;
    if (plain)
        x = load_plain(from + first, samples, room);
    else
#pragma unroll 1
        for (int i = thread; i < static_cast<int>(round_up(samples, 4)); i += tile_threads)
            room[i] = run.clipped(from, first + i);
    __syncthreads();
    if constexpr (std::is_same_v<T, float>)
        if (run.wide != nullptr) {
            // The last tile of a row looks at what is left over too.
            const auto* const quads = reinterpret_cast<const float4*>(room);
            LoudAndFaint seen;
#pragma unroll
            for (int i = 0; i < many / 4; ++i)
                seen.quad(quads[thread + i * tile_threads]);
            if (block + 1 == gridDim.x)
#pragma unroll 1
                for (int i = plain_outputs / 4 + thread; i < (x - room + samples + 3) / 4; i += tile_threads)
                    seen.quad(quads[i]);
            seen.join(run.wide);
        }
    T totals[many] = {};
    Strided<T, many>::add(totals, x, thread, tile_threads, g, run.taps, run.segment);
    T* const out = run.out + row * run.out_pitch + first + thread;
#pragma unroll
    for (int e = 0; e < many; ++e)
        if (plain || first + thread + e * tile_threads < run.outputs) out[e * tile_threads] = totals[e];
}

template <class T, int Outputs>
class TiledStage : public CudaStage {
  public:
    TiledStage(const Problem& p, const device::Device& device)
        : CudaStage(p, device), kernel_(p, device, 1) {}
    bool single_pass() const override {
        return problem().shape.inner == 1 && reread(kernel_.cut(), tile_threads) <= 1. / 16;
    }

  protected:
    bool looks(const Job& job) const override { return plain(job) && plain_looks(job); }
    void launch(const Job& job, cudaStream_t stream) override {
        if (!plain(job)) return kernel_.launch(job, stream, "tiled");
        const int segment = kernel_.cut().segment;
        const std::size_t bytes = plain_bytes(job, sizeof(T));
        dispatch(job.type, [&](auto in) {
            using In = decltype(in);
            constexpr auto kernel = plain_kernel<T, In>;
            use_shared_memory(reinterpret_cast<const void*>(kernel), device());
            kernel<<<plain_grid(job, plain_outputs), tile_threads, bytes, stream>>>(
                plain_run<T, In>(job, plain_outputs, spare, segment), kernel_.taps());
        });
        device::check_launch("tiled");
    }

  private:
    static bool plain(const Job& job) { return Outputs == many && plain_tiles(job); }

    TileKernel<T, Strided<T, Outputs>> kernel_;
};

template <class T>
std::unique_ptr<Stage> make(const Problem& p, const device::Device& d) {
    if (p.decimate <= 2) return std::make_unique<TiledStage<T, many>>(p, d);
    if (p.decimate <= 8) return std::make_unique<TiledStage<T, some>>(p, d);
    return std::make_unique<TiledStage<T, one>>(p, d);
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy tiled_cuda{
    "tiled",
    device::Backend::cuda,
    "tiles with both halos in shared memory",
    [](const Problem&, const device::Device&) { return std::string(); },
    [](const Problem& p, const device::Device& d) {
        return p.arithmetic == SampleType::float64 ? gpu::make<double>(p, d) : gpu::make<float>(p, d);
    },
    [](const Problem& p, const device::Device& d) { return std::optional(gpu::time_of(p, d, 2.5)); }};

}  // namespace convoy::conv1d
