// The GPU's ceilings. Device times by events in one queue; what moves by faults or hints is timed from a
// known place.
#include <algorithm>
#include <functional>

#include "core/device/check.hpp"
#include "core/device/copy.hpp"
#include "core/memory/block_cuda.hpp"
#include "pipelines/bench/ceilings.hpp"
#include "pipelines/bench/probes_cuda.hpp"
#include "pipelines/bench/timer_cuda.hpp"

namespace convoy::pipelines::bench {

namespace {

using device::check;
using memory::Block;

constexpr cudaMemLocation on_host{cudaMemLocationTypeHost, 0};

// Two queues, and timing of what is queued on the first.
class Bench {
  public:
    Bench(const device::Device& gpu, int repeat) : gpu_(gpu), timer_(repeat) {
        check(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking), "making a stream");
        check(cudaEventCreate(&joined_), "making an event");
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;
    ~Bench() {
        cudaEventDestroy(joined_);
        cudaStreamDestroy(other_);
    }

    double seconds(const std::function<void()>& f, const std::function<void()>& prepare = {}) const {
        return timer_.seconds(f, prepare);
    }

    // f's work on the other queue, between what is on the first before and after.
    void beside(const std::function<void(cudaStream_t)>& f, const std::function<void()>& meanwhile) {
        check(cudaStreamWaitEvent(other_, timer_.begin()), "joining two queues");
        f(other_);
        check(cudaEventRecord(joined_, other_), "recording an event");
        meanwhile();
        check(cudaStreamWaitEvent(queue(), joined_), "joining two queues");
    }

    void copy(std::byte* to, const std::byte* from, std::size_t bytes, cudaStream_t on) {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on), "copying");
    }
    void prefetch(const Block& block, cudaMemLocation to) {
        check(cudaMemPrefetchAsync(block.host(), block.size(), to, 0, queue()), "prefetching");
    }
    void kernel_copy(const std::byte* in, std::byte* out, std::size_t bytes) {
        device::Stream stream(queue());
        device::copy_bytes(gpu_, in, out, bytes, std::byte{0}, stream);
    }
    cudaStream_t queue() const { return timer_.queue(); }
    const device::Device& gpu() const { return gpu_; }

  private:
    device::Device gpu_;
    Timer timer_;
    cudaStream_t other_ = nullptr;
    cudaEvent_t joined_ = nullptr;
};

void copies(Bench& b, std::size_t bytes, const device::Buffer& near_in, const device::Buffer& near_out,
            Figures& figures) {
    const double gb = static_cast<double>(bytes) * 1e-9;
    for (const auto kind : {Block::Kind::pinned, Block::Kind::pageable}) {
        const Stopwatch watch;
        const Block in(b.gpu(), kind, bytes), out(b.gpu(), kind, bytes);
        const double setup = watch.seconds();
        const std::string name = kind == Block::Kind::pinned ? "pinned" : "pageable";
        const auto copy_in = [&] { b.copy(near_in.data(), in.host(), bytes, b.queue()); };
        const auto copy_out = [&] { b.copy(out.host(), near_out.data(), bytes, b.queue()); };
        figures.push_back(
            {name + "_setup", 1.073741824 / (2 * gb) * setup, "s/GiB", "populated by all threads"});
        figures.push_back({name + "_copy_in", gb / b.seconds(copy_in), "GB/s", {}});
        figures.push_back({name + "_copy_out", gb / b.seconds(copy_out), "GB/s", {}});
        if (kind == Block::Kind::pageable) continue;
        const double both = b.seconds([&] {
            b.beside([&](cudaStream_t other) { b.copy(out.host(), near_out.data(), bytes, other); }, copy_in);
        });
        figures.push_back({"pinned_copy_both", gb / both, "GB/s", "each way, at once"});
        const double read =
            b.seconds([&] { run_read(b.gpu(), in.on_gpu(), bytes, near_in.data(), b.queue()); });
        figures.push_back(
            {"mapped_read", gb / read, "GB/s", "the GPU reads page-locked host memory in place"});
        const double write = b.seconds([&] { b.kernel_copy(near_in.data(), out.on_gpu(), bytes); });
        figures.push_back({"mapped_write", gb / write, "GB/s", {}});
        const double copy = b.seconds([&] { b.kernel_copy(in.on_gpu(), out.on_gpu(), bytes); });
        figures.push_back({"mapped_read_write", gb / copy, "GB/s", "each way, at once"});
    }
}

void managed_in_place(Bench& b, std::size_t bytes, const device::Buffer& near, Figures& figures) {
    const double gb = static_cast<double>(bytes) * 1e-9;
    const Stopwatch watch;
    const Block in(b.gpu(), Block::Kind::managed, bytes), out(b.gpu(), Block::Kind::managed, bytes);
    for (const Block* block : {&in, &out})
        keep_on_host(*block, b.gpu());
    for (const Block* block : {&in, &out})
        populate(*block);
    figures.push_back(
        {"managed_setup", 1.073741824 / (2 * gb) * watch.seconds(), "s/GiB", "populated by all threads"});
    const double read = b.seconds([&] { run_read(b.gpu(), in.on_gpu(), bytes, near.data(), b.queue()); });
    figures.push_back(
        {"managed_read", gb / read, "GB/s", "the GPU reads host-resident managed memory in place"});
    const double write = b.seconds([&] { b.kernel_copy(near.data(), out.on_gpu(), bytes); });
    figures.push_back({"managed_write", gb / write, "GB/s", {}});
    const double copy = b.seconds([&] { b.kernel_copy(in.on_gpu(), out.on_gpu(), bytes); });
    figures.push_back({"managed_read_write", gb / copy, "GB/s", "each way, at once"});
    const double staged = b.seconds([&] {
        check(cudaMemcpyAsync(near.data(), in.on_gpu(), bytes, cudaMemcpyDeviceToDevice, b.queue()),
              "copying");
    });
    figures.push_back(
        {"managed_copy_in", gb / staged, "GB/s", "by the copy engine, as the GPU's own memory"});
}

void managed_migration(Bench& b, std::size_t bytes, const device::Buffer& near, Figures& figures) {
    const double gb = static_cast<double>(bytes) * 1e-9;
    const cudaMemLocation on_gpu{cudaMemLocationTypeDevice, b.gpu().ordinal};
    const Block block(b.gpu(), Block::Kind::managed, bytes);
    populate(block);
    const auto go = [&] { b.prefetch(block, on_gpu); };
    const auto come = [&] { b.prefetch(block, on_host); };
    figures.push_back({"prefetch_in", gb / b.seconds(go, come), "GB/s", {}});
    figures.push_back({"prefetch_out", gb / b.seconds(come, go), "GB/s", {}});
    const double fault =
        b.seconds([&] { run_read(b.gpu(), block.on_gpu(), bytes, near.data(), b.queue()); }, come);
    figures.push_back({"fault_in", gb / fault, "GB/s", "a kernel on pages that are on the host"});
    std::vector<double> back;
    for (int i = 0; i < 3; ++i) {
        go();
        check(cudaStreamSynchronize(b.queue()), "a measurement");
        const Stopwatch watch;
        volatile const std::byte* data = block.host();
        for (std::size_t at = 0; at < block.size(); at += 4096)
            static_cast<void>(data[at]);
        back.push_back(watch.seconds());
    }
    figures.push_back(
        {"fault_out", gb / spread_of(back).median, "GB/s", "one CPU thread on pages that are on the GPU"});
}

}  // namespace

Figures gpu_ceilings(const CeilingOptions& o) {
    Figures figures;
    const Stopwatch watch;
    device::use(o.device);
    check(cudaFree(nullptr), "starting CUDA");
    figures.push_back({"context", watch.seconds(), "s", "near 0 where the program used the GPU before"});

    const std::size_t bytes = memory::block_bytes(o.bytes);
    Bench b(o.device, o.repeat);
    {
        const std::size_t large = std::min(4 * bytes, o.device.free_bytes() / 8);
        const device::Buffer from(o.device, large), to(o.device, large);
        const double copy = b.seconds([&] { b.copy(to.data(), from.data(), large, b.queue()); });
        figures.push_back({"device_copy", 2e-9 * static_cast<double>(large) / copy, "GB/s", "read + write"});
        const double kernel = b.seconds([&] { b.kernel_copy(from.data(), to.data(), large); });
        figures.push_back(
            {"device_copy_kernel", 2e-9 * static_cast<double>(large) / kernel, "GB/s", "read + write"});
        double operations = 0;
        const double fma = b.seconds([&] { operations = run_fma(o.device, to.data(), b.queue()); });
        figures.push_back({"fma_float32", operations / fma * 1e-12, "TFLOP/s", {}});
    }
    const device::Buffer in(o.device, bytes), out(o.device, bytes);
    copies(b, bytes, in, out, figures);
    if (const std::string why = memory::managed_unsupported(o.device); !why.empty()) {
        for (const char* name : {"managed_read", "managed_write", "managed_read_write", "managed_copy_in",
                                 "prefetch_in", "prefetch_out", "fault_in", "fault_out"})
            figures.push_back({name, not_measured, "GB/s", why});
        return figures;
    }
    memory::check_budget(2 * bytes, o.device.free_bytes());
    managed_in_place(b, bytes, in, figures);
    managed_migration(b, bytes, in, figures);
    return figures;
}

}  // namespace convoy::pipelines::bench
