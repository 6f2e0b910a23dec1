// As naive, with the taps in constant memory: all threads of a warp want the same tap at once, which is what
// constant memory is made for. There are 64 KB of it on a device, for all filters of the process.
#include <array>
#include <mutex>

#include "core/conv1d/flat_cuda.cuh"

namespace convoy::conv1d {

namespace gpu {
namespace {

constexpr std::size_t bank_bytes = 65536;
__constant__ double bank[bank_bytes / sizeof(double)];

template <class T>
struct TapsInConstant {
    int first;
    __device__ TapsInConstant from(Index more) const { return {first + static_cast<int>(more)}; }
    __device__ T operator()(int j) const { return reinterpret_cast<const T*>(bank)[first + j]; }
};

// Whose taps lie in the constant memory of a device, and when the last kernel that reads them is done.
// Another filter or stream waits for that before it puts its own there.
struct Holder {
    std::mutex mutex;
    std::uint64_t owner = 0;
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
};

Holder& holder(int ordinal) {
    static std::array<Holder, 64> of_device;
    return of_device[static_cast<std::size_t>(ordinal) % of_device.size()];
}

std::uint64_t new_owner() {
    static std::mutex mutex;
    static std::uint64_t last = 0;
    const std::lock_guard lock(mutex);
    return ++last;
}

class ConstantStage : public CudaStage {
  public:
    ConstantStage(const Problem& p, const device::Device& device)
        : CudaStage(p, device),
          taps_(upload_values(device, p.arithmetic, backwards(p.taps))),
          id_(new_owner()) {
        Holder& h = holder(device.ordinal);
        const std::lock_guard lock(h.mutex);
        device::use(device);
        if (h.done == nullptr)
            device::check(cudaEventCreateWithFlags(&h.done, cudaEventDisableTiming), "making an event");
    }
    bool single_pass() const override { return taps() == 1; }

  protected:
    bool looks(const Job& job) const override { return plain_looks(job); }
    void queue(Job job, cudaStream_t stream) override {
        Holder& h = holder(device().ordinal);
        const std::lock_guard lock(h.mutex);
        if (h.owner != id_ || h.stream != stream)
            device::check(cudaStreamWaitEvent(stream, h.done), "waiting for constant memory");
        if (h.owner != id_)
            device::check(cudaMemcpyToSymbolAsync(bank, taps_.data(), taps_.size(), 0,
                                                  cudaMemcpyDeviceToDevice, stream),
                          "copying taps to constant memory");
        h.owner = id_;
        h.stream = stream;
        CudaStage::queue(job, stream);
        device::check(cudaEventRecord(h.done, stream), "recording an event");
    }
    void launch(const Job& job, cudaStream_t stream) override {
        if (single())
            launch_flat<float>(job, TapsInConstant<float>{0}, stream);
        else
            launch_flat<double>(job, TapsInConstant<double>{0}, stream);
        device::check_launch("constant");
    }

  private:
    device::Buffer taps_;
    std::uint64_t id_;
};

std::string unsupported(const Problem& p, const device::Device&) {
    const Index most = static_cast<Index>(bank_bytes) / bytes_of(p.arithmetic);
    if (static_cast<Index>(p.taps.size()) <= most) return {};
    return "the filter has " + std::to_string(p.taps.size()) +
           " taps, and the 64 KB of constant memory hold " + std::to_string(most) + " of " +
           std::string(name_of(p.arithmetic));
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy constant_cuda{
    "constant",
    device::Backend::cuda,
    "as naive, with the taps in constant memory (64 KB of them at most)",
    gpu::unsupported,
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        return std::make_unique<gpu::ConstantStage>(p, d);
    },
    [](const Problem& p, const device::Device& d) { return std::optional(gpu::time_of(p, d, 5.4)); }};

}  // namespace convoy::conv1d
