// Lines of samples made straight in shared memory, where samples are float32 as they are: eight warps, four
// for every other step, load its samples (wgmma_samples_cuda.cuh) while the products of the steps before run,
// and put them down as packed lines have them (wgmma_pack_cuda.cuh).
#pragma once

#include "core/conv2d/wgmma_product_cuda.cuh"
#include "core/conv2d/wgmma_samples_cuda.cuh"

namespace convoy::conv2d::gpu {

/// Brings the weights and makes the lines of all steps of all tiles, as stages become free. Each half of the
/// warps makes every other step, so that the samples of two are on their way.
template <bool exact, Reading reading>
__device__ void make_lines(const Job& job, const Tables& t, Ring ring, unsigned char* memory) {
    const int thread = static_cast<int>(threadIdx.x) - groups * group_threads;
    Walk walk(job, t);
    bool more = true;
    const auto skip = [&] {
        ring.next();
        more = more && walk.next();
    };
    if (thread >= half_threads) skip();
    Samples<exact, reading> samples(job, t, thread % half_threads);
    while (more) {
        const Step step(t, walk.step());
        samples.load(walk.source(), step);
        const unsigned full = ring.full();
        barrier_wait(ring.empty(), ring.parity ^ 1);
        if (thread % half_threads == 0)
            bring_weights(t, walk.source().weights, step, walk.step(), ring.stage(), full, 0);
        samples.store(walk.source(), walk.step(), memory + ring.offset() + t.weight_bytes);
        stores_seen();
        __syncwarp();
        if (thread % 32 == 0) barrier_arrive(full);
        skip();
        skip();
    }
}

/// The kernel of wgmma_gemm: two groups of four warps multiply what the others bring, which are one that
/// copies packed lines, or eight that make lines. These leave registers to those that multiply: of 128 that
/// each thread has at first.
template <bool exact, bool packed, int under_way>
__global__ void __launch_bounds__(threads_of(packed), 1)
    wgmma_product(const __grid_constant__ Job job, const __grid_constant__ Tables t) {
    extern __shared__ __align__(128) unsigned char memory[];
    constexpr int fillers = packed ? 1 : 1 + half_threads / 32;
    const Ring ring = set_up(t, fillers, memory);
    if (threadIdx.x < groups * group_threads) {
        if (!packed) take_registers<160>();
        compute<exact, under_way>(job, t, ring);
    } else if constexpr (packed) {
        if (threadIdx.x == groups * group_threads) bring<exact>(job, t, ring);
    } else {
        leave_registers<96>();
        if (!t.by_channels)
            make_lines<exact, Reading::entries>(job, t, ring, memory);
        else if (t.vectors)
            make_lines<exact, Reading::vectors>(job, t, ring, memory);
        else
            make_lines<exact, Reading::channels>(job, t, ring, memory);
    }
}

}  // namespace convoy::conv2d::gpu
