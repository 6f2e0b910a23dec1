// How kernels read samples and finish outputs, and the textbook launches' choice of types.
#pragma once

#include "core/conv2d/cuda_stage.hpp"
#include "core/device/check.hpp"

namespace convoy::conv2d::gpu {

/// One row of one channel. Zeros lie beyond the edges, and beyond the window (which only outputs that are not
/// kept reach).
template <class A, class In>
class Line {
  public:
    __device__ __forceinline__ Line(const Job& job, Index image, int channel, Index row, int part)
        : from_(reinterpret_cast<const In*>(job.in) + image * job.in_steps.image +
                channel * job.in_steps.channel + row * job.in_steps.row + part),
          scale_(nullptr) {
        if (job.scales == nullptr) return;
        const int channels = job.groups * job.group_channels;
        const Index lane = job.channels_last ? (image * job.rows + row) * channels + channel
                                             : (image * channels + channel) * job.rows + row;
        scale_ = job.scales + (job.one_scale ? 0 : lane);
    }
    /// The scaled sample at a column.
    __device__ __forceinline__ A at(const Job& job, Index column) const {
        if (column < job.in_first || column >= job.in_end) return A{0};
        const In stored = from_[(column - job.in_first) * job.in_steps.column];
        if (scale_ == nullptr) return static_cast<A>(stored);
        return static_cast<A>(
            __dadd_rn(__dmul_rn(static_cast<double>(stored), scale_->gain), scale_->offset));
    }
    /// The window's first column.
    __device__ __forceinline__ const In* start() const { return from_; }

  private:
    const In* from_;
    const LaneScale* scale_;
};

/// The output with its bias and ReLU (NaN stays), at its place.
template <class A>
__device__ __forceinline__ void finish(const Job& job, Index image, int filter, Index row, Index column,
                                       int part, A sum) {
    if (job.bias != nullptr) sum += static_cast<const A*>(job.bias)[filter];
    if (job.relu && sum < A{0}) sum = A{0};
    const Job::Steps& to = job.out_steps;
    reinterpret_cast<A*>(
        job.out)[image * to.image + filter * to.channel + row * to.row + column * to.column + part] = sum;
}

/// Calls f(arithmetic zero, stored zero) with the types of the job.
template <class F>
void with_types(const Problem& p, F&& f) {
    dispatch(p.in, [&](auto stored) {
        if (p.arithmetic() == SampleType::float64)
            f(double{}, stored);
        else
            f(float{}, stored);
    });
}

}  // namespace convoy::conv2d::gpu
