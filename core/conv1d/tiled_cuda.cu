// A tile of samples with both halos, and the taps, in shared memory: each sample is read from global memory
// once a tile, whatever the number of taps, which come in chunks. Each thread makes a few outputs that lie a
// row of threads apart.
#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/tile_cuda.cuh"

namespace convoy::conv1d {

namespace gpu {
namespace {

// Outputs of a thread; with much decimation a tile of few outputs fills the shared memory.
constexpr int many = 16, some = 4, one = 1;

template <class T, int Outputs>
class TiledStage : public CudaStage {
  public:
    TiledStage(const Problem& p, const device::Device& device)
        : CudaStage(p, device), kernel_(p, device, 1) {}
    bool single_pass() const override {
        return problem().shape.inner == 1 && reread(kernel_.cut(), tile_threads) <= 1. / 16;
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override { kernel_.launch(job, stream, "tiled"); }

  private:
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
