#include "core/memory/ring_cuda.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "core/device/check.hpp"
#include "core/device/ranges.hpp"

namespace convoy::memory {

namespace {

using device::check;

// A moment in a queue. Waiting for it looks for a little while, since waking up takes as long as a small
// chunk, and then sleeps: the CPU's cores are needed for filling and draining.
class Event {
  public:
    Event() { check(cudaEventCreateWithFlags(&event_, cudaEventBlockingSync), "making an event"); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event_); }
    void record(cudaStream_t queue) { check(cudaEventRecord(event_, queue), "recording an event"); }
    void wait() const {
        using Clock = std::chrono::steady_clock;
        for (const auto until = Clock::now() + std::chrono::microseconds(200); Clock::now() < until;) {
            const cudaError_t status = cudaEventQuery(event_);
            if (status != cudaErrorNotReady) return check(status, "the work on a chunk");
            std::this_thread::yield();
        }
        check(cudaEventSynchronize(event_), "the work on a chunk");
    }
    void hold(cudaStream_t queue) const { check(cudaStreamWaitEvent(queue, event_), "joining two queues"); }
    double seconds_since(const Event& earlier) const {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, earlier.event_, event_), "timing a chunk");
        return ms * 1e-3;
    }

  private:
    cudaEvent_t event_ = nullptr;
};

// A queue apart from the legacy one. It goes only when its work is done. An urgent one has its kernels
// started first, so that the next chunk comes in beside a kernel that fills the GPU.
class Queue {
  public:
    explicit Queue(bool urgent) {
        int least = 0, greatest = 0;
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "making a stream");
        check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? greatest : least),
              "making a stream");
    }
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    ~Queue() {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    operator cudaStream_t() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

struct Flight {
    Event in_begin, in_end, work_begin, work_end, out_begin, out_end;
    Load load;
    bool pending = false;
};

class CudaRing : public Ring {
  public:
    CudaRing(const device::Device& gpu, int slots, std::unique_ptr<Ways> ways)
        : gpu_(gpu),
          ways_(std::move(ways)),
          phases_(ways_->phases()),
          flights_(static_cast<std::size_t>(slots)) {}

    Slot slot(int index) const override { return ways_->on_host(index); }

    void submit(int index, std::size_t in_bytes, std::size_t out_bytes, const Work& work) override {
        Flight& f = flights_[static_cast<std::size_t>(index)];
        if (f.pending)
            throw failed({}, "slot " + std::to_string(index) + " was submitted while it is in flight");
        device::use(gpu_);
        f.load = {in_bytes, out_bytes};
        if (phases_.in) {
            const device::Range range("h2d");
            f.in_begin.record(in_);
            ways_->in(index, f.load, in_);
            f.in_end.record(in_);
            f.in_end.hold(work_);
        }
        {
            const device::Range range("kernel");
            const Slot there = ways_->on_gpu(index);
            device::Stream stream(static_cast<cudaStream_t>(work_));
            f.work_begin.record(work_);
            work(there.in, there.out, stream);
            f.work_end.record(work_);
        }
        f.pending = true;
        if (phases_.out && !phases_.out_blocks) queue_out(index, f);
    }

    void wait(int index) override {
        Flight& f = flights_[static_cast<std::size_t>(index)];
        if (!f.pending) return;
        device::use(gpu_);
        if (phases_.out && phases_.out_blocks) queue_out(index, f);
        (phases_.out ? f.out_end : f.work_end).wait();
        f.pending = false;
        const Load moved = ways_->moved(f.load);
        traffic_.bytes_h2d += moved.in_bytes;
        traffic_.bytes_d2h += moved.out_bytes;
        if (phases_.in) traffic_.h2d_s += f.in_end.seconds_since(f.in_begin);
        traffic_.kernel_s += f.work_end.seconds_since(f.work_begin);
        if (phases_.out) traffic_.d2h_s += f.out_end.seconds_since(f.out_begin);
    }

    Traffic traffic() const override { return traffic_; }
    Footprint footprint() const override { return ways_->footprint(); }

  private:
    void queue_out(int index, Flight& f) {
        const device::Range range("d2h");
        f.work_end.hold(out_);
        f.out_begin.record(out_);
        ways_->out(index, f.load, out_);
        f.out_end.record(out_);
    }

    device::Device gpu_;
    std::unique_ptr<Ways> ways_;
    Ways::Phases phases_;
    std::vector<Flight> flights_;
    Traffic traffic_;
    // Last: they end, and with them all work on the slots, before the memory goes.
    Queue in_{true}, work_{false}, out_{false};
};

}  // namespace

std::unique_ptr<Ring> make_ring(const device::Device& gpu, int slots, std::unique_ptr<Ways> ways) {
    device::use(gpu);
    return std::make_unique<CudaRing>(gpu, slots, std::move(ways));
}

Blocks::Blocks(const device::Device& gpu, const RingShape& shape, Block::Kind kind) : kind_(kind) {
    for (int i = 0; i < shape.slots; ++i) {
        in_.emplace_back(gpu, kind, shape.in_bytes);
        out_.emplace_back(gpu, kind, shape.out_bytes);
    }
}

Ring::Footprint Blocks::footprint() const {
    std::size_t all = 0;
    for_each([&](const Block& block) { all += block.size(); });
    Ring::Footprint f;
    (kind_ == Block::Kind::managed ? f.managed : kind_ == Block::Kind::pinned ? f.pinned : f.host) = all;
    return f;
}

}  // namespace convoy::memory
