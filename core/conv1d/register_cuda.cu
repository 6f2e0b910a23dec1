// Each thread keeps a stretch of neighbouring outputs and the samples under them in registers: 16 bytes read
// from shared memory feed up to 80 products, so that the arithmetic is the limit, or else the memory's
// bandwidth.
#include "core/conv1d/staged_cuda.cuh"
#include "core/conv1d/stream_cuda.cuh"
#include "core/conv1d/tile_cuda.cuh"

namespace convoy::conv1d {

namespace gpu {
namespace {

/// Groups that share the phases of a decimating filter: with many phases a tile has few outputs, and threads
/// to spare.
int groups_for(const Problem& p) {
    const Index phases = std::min(p.decimate, static_cast<Index>(p.taps.size()));
    int groups = 1;
    while (groups < 32 && phases > 16 * groups)
        groups *= 2;
    return groups;
}

template <class T, int Vectors>
class RegisterStage : public CudaStage {
  public:
    RegisterStage(const Problem& p, const device::Device& device)
        : CudaStage(p, device),
          tiles_(p, device, groups_for(p)),
          stream_(p, device, tiles_.cut().segment),
          staged_(p, device, tiles_.cut().segment) {}
    bool single_pass() const override {
        return problem().shape.inner == 1 && reread(tiles_.cut(), tile_threads) <= 1. / 16;
    }

  protected:
    bool looks(const Job& job) const override { return stream_.fits(job) || staged_.fits(job); }
    void launch(const Job& job, cudaStream_t stream) override {
        if (stream_.fits(job))
            stream_.launch(job, stream);
        else if (staged_.fits(job))
            staged_.launch(job, stream);
        else
            tiles_.launch(job, stream, "register");
    }

  private:
    TileKernel<T, Neighbouring<T, Vectors * Vector<T>::size>> tiles_;
    StreamKernel<T> stream_;
    StagedKernel<T> staged_;
};

template <class T>
std::unique_ptr<Stage> make(const Problem& p, const device::Device& d) {
    if (p.decimate <= 2) return std::make_unique<RegisterStage<T, 7>>(p, d);
    if (p.decimate <= 4) return std::make_unique<RegisterStage<T, 3>>(p, d);
    return std::make_unique<RegisterStage<T, 1>>(p, d);
}

// Fitted to one H200 (data/benchmarks/h200-fir*.json), within a tenth: tiles that arrive by themselves hide
// most of their way, the more so where they need not be converted; those of other filters cost 4.3 ps a
// sample to bring and to sort.
std::optional<double> cost(const Problem& p, const device::Device& d) {
    const Floor floor = floor_of(p, d);
    const double multiprocessors = std::max(d.attributes.multiprocessors, 1);
    const auto bringing = [&](double ps) {
        return ps * 1e-3 * static_cast<double>(p.decimate) * 132 / multiprocessors;
    };
    if (p.decimate > 1 || static_cast<Index>(p.taps.size()) > StagedKernel<float>::most_taps)
        return bringing(4.3) + 0.98 * floor.arithmetic;
    if (p.shape.inner > 1 || p.in != p.arithmetic || !p.scaling.trivial())
        return std::max(1.15 * floor.memory,
                        bringing(p.shape.inner > 1 ? 2.0 : 1.2) + 1.05 * floor.arithmetic);
    return std::max(1.15 * floor.memory, 0.3 * floor.memory + 0.98 * floor.arithmetic);
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy register_cuda{
    "register",
    device::Backend::cuda,
    "outputs and samples in registers, tiles arriving beside the arithmetic",
    [](const Problem&, const device::Device&) { return std::string(); },
    [](const Problem& p, const device::Device& d) {
        return p.arithmetic == SampleType::float64 ? gpu::make<double>(p, d) : gpu::make<float>(p, d);
    },
    gpu::cost};

}  // namespace convoy::conv1d
