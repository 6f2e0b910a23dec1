// One thread an output: the kernel that `naive` and `constant` share; they differ in where the taps are.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/sums_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

template <class T, class In, class Tap>
// Many blocks at once: the common way needs few registers, and the rare one may spill.
__global__ void __launch_bounds__(256, 8)
    flat_kernel(const Job job, const PlainBlocks plain, const Tap tap, const int segment) {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    auto* const out = reinterpret_cast<T*>(job.out);
    if (blockIdx.x >= plain.begin && blockIdx.x < plain.end) {
        const Index at = static_cast<Index>(blockIdx.x) * threads + thread;
        for (Index o = blockIdx.y; o < job.outer; o += gridDim.y) {
            const In* x =
                reinterpret_cast<const In*>(job.in) + plain.in + o * job.in_pitch + at * job.decimate;
            out[o * job.out_pitch + at] = sum_products<T>(static_cast<int>(job.taps), segment, tap, x);
        }
        return;
    }
    const Place at = place(job, blockIdx.x, threads, thread);
    if (at.output >= job.out_span.end()) return;
    for (Index o = blockIdx.y; o < job.outer; o += gridDim.y) {
        const Lane<T, In> lane(job, o, at.inner);
        Sum<T> sum(segment);
        add_from_memory(sum, 0, job.taps, tap, job, lane, job.frame_of(at.output));
        out[job.output_at(o, at.inner, at.output)] = sum.value();
    }
}

template <class T, class Tap>
void launch_flat(const Job& job, const Tap& tap, cudaStream_t stream) {
    constexpr int threads = 256;
    const dim3 grid(static_cast<unsigned>(ceil_div(job.out_span.count * job.inner, threads)),
                    static_cast<unsigned>(job.outer < 65535 ? job.outer : 65535));
    const int segment = longest_segment(job.taps);
    const bool simple = job.inner == 1 && job.scales == nullptr && job.taps < (Index{1} << 30);
    const PlainBlocks plain = simple ? plain_blocks(job, threads) : PlainBlocks{0, 0, 0};
    dispatch(job.type, [&](auto in) {
        flat_kernel<T, decltype(in), Tap><<<grid, threads, 0, stream>>>(job, plain, tap, segment);
    });
}

}  // namespace convoy::conv1d::gpu
