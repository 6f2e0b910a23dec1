// Device times of what is queued on one stream, by events.
#pragma once

#include <functional>
#include <vector>

#include "core/device/check.hpp"
#include "pipelines/bench/figures.hpp"

namespace convoy::pipelines::bench {

class Timer {
  public:
    explicit Timer(int repeat) : repeat_(repeat) {
        device::check(cudaStreamCreateWithFlags(&queue_, cudaStreamNonBlocking), "making a stream");
        for (cudaEvent_t* e : {&begin_, &end_})
            device::check(cudaEventCreate(e), "making an event");
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
        for (cudaEvent_t e : {begin_, end_})
            cudaEventDestroy(e);
        cudaStreamDestroy(queue_);
    }

    /// Median device seconds of `work`, each time after `prepare`; the first time is not counted.
    double seconds(const std::function<void()>& work, const std::function<void()>& prepare = {}) const {
        std::vector<double> all;
        for (int i = 0; i <= repeat_; ++i) {
            if (prepare) {
                prepare();
                device::check(cudaStreamSynchronize(queue_), "a measurement");
            }
            device::check(cudaEventRecord(begin_, queue_), "recording an event");
            work();
            device::check(cudaEventRecord(end_, queue_), "recording an event");
            device::check(cudaEventSynchronize(end_), "a measurement");
            float ms = 0;
            device::check(cudaEventElapsedTime(&ms, begin_, end_), "timing");
            if (i > 0) all.push_back(ms * 1e-3);
        }
        return spread_of(std::move(all)).median;
    }
    cudaStream_t queue() const { return queue_; }
    /// Passed when the work that is measured begins.
    cudaEvent_t begin() const { return begin_; }

  private:
    int repeat_;
    cudaStream_t queue_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace convoy::pipelines::bench
