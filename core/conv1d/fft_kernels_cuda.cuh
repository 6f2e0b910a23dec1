// The overlap-save kernels. That in float writes all results and lists the pairs of which an output is not as
// good as a direct sum; that in double takes those (or all), and sums directly what even it cannot promise,
// and what NaN and Inf touch.
#pragma once

#include "core/conv1d/fft_pair_cuda.cuh"

namespace convoy::conv1d::gpu {

/// In float: writes results, and lists the items of which one is not promised.
template <int R, int Q>
__global__ void __launch_bounds__(R * 16, R == 16 ? 2 : 1)
    fft_kernel(const Job job, const FftFilter<float> filter, const FftWork work, const FftLeft left) {
    PairOfBlocks<float, float, R, Q> pair(job, filter, shared<std::byte>());
    for (Index i = blockIdx.x; i < work.count; i += gridDim.x) {
        const bool good = pair.run(place(job, work.pairs, work.first + i), 0, work.by_decimation);
        if (!good && threadIdx.x == 0) left.items[atomicAdd(left.listed, 1u)] = static_cast<unsigned>(i);
    }
}

/// In double: the listed items, or all, each in pieces of 2 keep results.
template <class S, int Q>
__global__ void __launch_bounds__(256, 1)
    careful_kernel(const Job job, const FftFilter<double> filter, const FftWork work, const FftLeft left,
                   const bool listed, const double* __restrict__ taps) {
    PairOfBlocks<double, S, 16, Q> pair(job, filter, shared<std::byte>());
    const Index count = (listed ? static_cast<Index>(*left.listed) : work.count) * work.pieces;
    for (Index i = blockIdx.x; i < count; i += gridDim.x) {
        const Index number = i / work.pieces;
        const int begin = static_cast<int>(i - number * work.pieces) * 2 * filter.keep;
        const PairPlace at = place(job, work.pairs, work.first + (listed ? left.items[number] : number));
        if (begin >= at.wanted) continue;
        const bool good = pair.run(at, begin, work.by_decimation);
        const bool summed = !good && pair.mend(taps, work.by_decimation);
        if (threadIdx.x == 0) {
            if (listed) atomicAdd(left.counts, 1ull);
            if (summed) atomicAdd(left.counts + 1, 1ull);
        }
        __syncthreads();
    }
}

}  // namespace convoy::conv1d::gpu
