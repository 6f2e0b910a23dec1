// What all CUDA strategies share on the host: the weights, biases and scales on the device, and the Job of
// each run. Windows are any memory that the device can reach. A strategy supplies the launch of its kernel.
#pragma once

#include <cuda_runtime.h>

#include "core/base/rows.hpp"
#include "core/conv2d/bands.hpp"

namespace convoy::conv2d::gpu {

/// What kernels know of one run. Plain data, passed by value.
struct Job {
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    SampleType type = SampleType::float32;
    Index in_first = 0, in_end = 0;  // columns of the window
    Index out_first = 0, out_count = 0;
    /// Samples from one image, channel (or filter), row and column to the next.
    struct Steps {
        Index image = 0, channel = 0, row = 0, column = 0;
    };
    Steps in_steps, out_steps;
    bool channels_last = false;
    Index images = 1;
    int parts = 1, groups = 1;
    int group_channels = 1, group_filters = 1;
    Index rows = 0, columns = 0, out_rows = 0;  // H, W, P
    int tap_rows = 1, tap_columns = 1;          // R, S
    int stride_rows = 1, stride_columns = 1, dilation_rows = 1, dilation_columns = 1;
    Index before_rows = 0, before_columns = 0;
    const LaneScale* scales = nullptr;  // nullptr: values are as stored
    bool one_scale = false;
    const void* weights = nullptr;  // [filter][group channel][r][s] of the arithmetic
    const void* bias = nullptr;     // nullptr: none
    bool relu = false;
    int chain = 1;  // products summed before the sums are added up
};

class CudaStage : public Stage {
  public:
    CudaStage(const Problem&, const device::Device&);

    Shape shape() const override { return p_.out_shape(); }
    SampleType type() const override { return p_.arithmetic(); }
    Span needed(Span out) const override { return p_.needed(out); }
    Index needed_at_most(Index count) const override { return p_.needed_at_most(count); }
    Index pieces() const override { return bands_.count(); }
    Lanes lanes_of(Index first, Index count) const override { return bands_.lanes_of(first, count); }
    Lanes used(Lanes out) const override { return bands_.used(out); }
    bool single_pass() const override { return false; }
    void run(const Window& in, const Window& out, Lanes lanes, device::Stream& stream) final;

  protected:
    /// Queues the kernel. The windows are not empty.
    virtual void launch(const Job&, cudaStream_t) = 0;
    const Problem& problem() const { return p_; }
    const device::Device& device() const { return device_; }

  private:
    Job job_of(const Box& box, const Window& in, const Window& out) const;

    Problem p_;
    Bands bands_;
    device::Device device_;
    device::Buffer weights_, bias_, scales_;
};

/// Values on the device as T of the arithmetic; an empty buffer of none.
device::Buffer upload_values(const device::Device&, SampleType arithmetic, const std::vector<double>& values);

/// Lets a kernel use as much shared memory as the device gives a block; returns how much that is.
std::size_t use_shared_memory(const void* kernel, const device::Device&);

/// Modelled seconds of a strategy that takes `slowdown` times as long as its products need: figures measured
/// on one H200, scaled by multiprocessors.
double time_of(const Problem&, const device::Device&, double slowdown);
/// Modelled seconds that so many bytes take to or from device memory.
double copy_time(const device::Device&, double bytes);

/// Blocks of a grid; Error where there are more than a grid can have.
unsigned blocks_of(Index count);

}  // namespace convoy::conv2d::gpu
