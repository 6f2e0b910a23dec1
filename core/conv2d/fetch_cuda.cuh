// How kernels read samples and finish outputs, and the textbook launches' choice of types.
#pragma once

#include "core/conv2d/cuda_stage.hpp"
#include "core/device/check.hpp"

namespace convoy::conv2d::gpu {

/// The scaled sample at a column of window row `outer`; 0 beyond the edges, and beyond the window (which only
/// outputs that are not kept reach).
template <class A, class In>
__device__ __forceinline__ A sample(const Job& job, Index outer, Index column, int part) {
    if (column < job.in_first || column >= job.in_end) return A{0};
    const In stored = reinterpret_cast<const In*>(
        job.in)[(outer * job.in_pitch + column - job.in_first) * job.parts + part];
    if (job.scales == nullptr) return static_cast<A>(stored);
    const LaneScale s = job.scales[job.one_scale ? 0 : outer];
    return static_cast<A>(__dadd_rn(__dmul_rn(static_cast<double>(stored), s.gain), s.offset));
}

/// The output with its bias and ReLU (NaN stays), at its place.
template <class A>
__device__ __forceinline__ void finish(const Job& job, Index image, int filter, Index row, Index column,
                                       int part, A sum) {
    if (job.bias != nullptr) sum += static_cast<const A*>(job.bias)[filter];
    if (job.relu && sum < A{0}) sum = A{0};
    const Index outer = (image * job.groups * job.group_filters + filter) * job.out_rows + row;
    reinterpret_cast<A*>(job.out)[(outer * job.out_pitch + column) * job.parts + part] = sum;
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
