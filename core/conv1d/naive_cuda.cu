// One thread an output, samples and taps straight from global memory: what one writes first.
#include "core/conv1d/flat_cuda.cuh"

namespace convoy::conv1d {

namespace gpu {
namespace {

class NaiveStage : public CudaStage {
  public:
    NaiveStage(const Problem& p, const device::Device& device)
        : CudaStage(p, device), taps_(upload_values(device, p.arithmetic, backwards(p.taps))) {}
    bool single_pass() const override { return taps() == 1; }

  protected:
    bool looks(const Job& job) const override { return plain_looks(job); }
    void launch(const Job& job, cudaStream_t stream) override {
        if (single())
            launch_flat<float>(job, TapsInMemory<float>{reinterpret_cast<const float*>(taps_.data())},
                               stream);
        else
            launch_flat<double>(job, TapsInMemory<double>{reinterpret_cast<const double*>(taps_.data())},
                                stream);
        device::check_launch("naive");
    }

  private:
    device::Buffer taps_;
};

}  // namespace
}  // namespace gpu

extern constinit const Strategy naive_cuda{
    "naive",
    device::Backend::cuda,
    "one thread an output, everything from global memory",
    [](const Problem&, const device::Device&) { return std::string(); },
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        return std::make_unique<gpu::NaiveStage>(p, d);
    },
    [](const Problem& p, const device::Device& d) { return std::optional(gpu::time_of(p, d, 5.5)); }};

}  // namespace convoy::conv1d
