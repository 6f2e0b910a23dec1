// One thread an output: the kernel that `naive` and `constant` share; they differ in where the taps are.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/sums_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

template <class T, class In, class Tap>
__global__ void __launch_bounds__(256) flat_kernel(const Job job, const Tap tap, const int segment) {
    const Place at = place(job, blockIdx.x, blockDim.x, threadIdx.x);
    if (at.output >= job.out_span.end()) return;
    const Index f = job.frame_of(at.output);
    for (Index o = blockIdx.y; o < job.outer; o += gridDim.y) {
        const Lane<T, In> lane(job, o, at.inner);
        const T sum =
            job.plain(f, f + job.taps)
                ? sum_products<T>(job.taps, segment, tap,
                                  [&](Index j) { return lane.value(lane.stored(f + j)); })
                : sum_products<T>(job.taps, segment, tap, [&](Index j) { return lane.extended(job, f + j); });
        reinterpret_cast<T*>(job.out)[job.output_at(o, at.inner, at.output)] = sum;
    }
}

template <class T, class Tap>
void launch_flat(const Job& job, const Tap& tap, cudaStream_t stream) {
    constexpr int threads = 256;
    const dim3 grid(static_cast<unsigned>(ceil_div(job.out_span.count * job.inner, threads)),
                    static_cast<unsigned>(job.outer < 65535 ? job.outer : 65535));
    const int segment = longest_segment(job.taps);
    dispatch(job.type, [&](auto in) {
        flat_kernel<T, decltype(in), Tap><<<grid, threads, 0, stream>>>(job, tap, segment);
    });
}

}  // namespace convoy::conv1d::gpu
