// One thread an output: the kernels that `naive` and `constant` share; they differ in where the taps are.
#pragma once

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/plain_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

constexpr int flat_threads = 256;

/// Outputs of any kind.
template <class T, class In, class Tap>
__global__ void __launch_bounds__(flat_threads, 8)
    flat_kernel(const __grid_constant__ Job job, const __grid_constant__ Tap tap, const int segment) {
    const Place at = place(job, blockIdx.x, flat_threads, threadIdx.x);
    if (at.output >= job.out_span.end()) return;
    for (Index o = blockIdx.y; o < job.outer; o += gridDim.y) {
        const Lane<T, In> lane(job, o, at.inner);
        Sum<T> sum(segment);
        add_from_memory(sum, 0, job.taps, tap, job, lane, job.frame_of(at.output));
        reinterpret_cast<T*>(job.out)[job.output_at(o, at.inner, at.output)] = sum.value();
    }
}

/// Looks at the samples that a plain block begins with, four at a time from a boundary of 16 bytes; other
/// blocks, and the last, at all that they use.
template <class T, class In>
__device__ __forceinline__ void look_by_the_way(const PlainRun<T, In>& run, unsigned block, const In* row) {
    if constexpr (std::is_same_v<T, float> && std::is_same_v<In, float>) {
        LoudAndFaint seen;
        const Index first = static_cast<Index>(block) * flat_threads;
        if (run.plain(block) && !run.last(block)) {
            if (threadIdx.x >= flat_threads / 4) return;
            const In* const x = row + first;
            const In* const from = x - reinterpret_cast<std::uintptr_t>(x) / sizeof(In) % 4;
            seen.quad(reinterpret_cast<const float4*>(from)[threadIdx.x]);
        } else {
            for (Index i = first - 3 + 4 * threadIdx.x; i < first + flat_threads + run.taps;
                 i += 4 * flat_threads)
                seen.quad(make_float4(run.clipped(row, i), run.clipped(row, i + 1), run.clipped(row, i + 2),
                                      run.clipped(row, i + 3)));
        }
        seen.join(run.wide);
    }
}

/// Many blocks at once, for nothing else hides the way of the samples. `simple`: one row, no decimation;
/// fewer instructions, which are the limit of short filters.
template <bool simple, class T, class In, class Tap>
__global__ void __launch_bounds__(flat_threads, 8)
    plain_flat_kernel(const __grid_constant__ PlainRun<T, In> run, const __grid_constant__ Tap tap) {
    let_next_begin();
    const unsigned block = blockIdx.x;
    const Index n = static_cast<Index>(block) * flat_threads + threadIdx.x;
    const Index i = simple ? n : n * run.decimate;
    const In* const x = simple ? run.in : run.in + blockIdx.y * run.in_pitch;
    T* const y = (simple ? run.out : run.out + blockIdx.y * run.out_pitch) + n;
    if (run.wide != nullptr) look_by_the_way(run, block, x);
    if (run.plain(block)) {
        *y = sum_products<T>(run.taps, run.segment, tap, x + i);
        return;
    }
    if (n >= run.outputs) return;
    // Taps [low, high) meet samples; a product with a zero changes no sum.
    const auto within = [&](Index j) { return static_cast<int>(min(max(j, Index{0}), Index{run.taps})); };
    const int low = within(run.low - i), high = within(run.high - i);
    T total = 0;
    for (int first = 0; first < run.taps; first += run.segment) {
        const int end = min(first + run.segment, high);
        T sum = 0;
#pragma unroll 1
        for (int j = max(first, low); j < end; ++j)
            sum = fma(tap(j), static_cast<T>(x[i + j]), sum);
        total += sum;
    }
    *y = total;
}

template <class T, class Tap>
void launch_flat(const Job& job, const Tap& tap, cudaStream_t stream) {
    const int segment = equal_segment(job.taps);
    const Index blocks = ceil_div(job.out_span.count * job.inner, flat_threads);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(min_of(job.outer, 65535)));
    dispatch(job.type, [&](auto in) {
        using In = decltype(in);
        if (!has_plain(job)) {
            flat_kernel<T, In, Tap><<<grid, flat_threads, 0, stream>>>(job, tap, segment);
            return;
        }
        const auto run = plain_run<T, In>(job, flat_threads, 0, segment);
        if (job.outer == 1 && job.decimate == 1)
            plain_flat_kernel<true, T, In, Tap><<<grid, flat_threads, 0, stream>>>(run, tap);
        else
            plain_flat_kernel<false, T, In, Tap><<<grid, flat_threads, 0, stream>>>(run, tap);
    });
}

}  // namespace convoy::conv1d::gpu
