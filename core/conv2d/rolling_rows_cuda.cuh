// Square kernels over few channels, down the rows: a warp keeps, of 128 neighbouring columns and a few
// filters, the sums of all outputs that the present row of samples still concerns. Each row is read once,
// adds to all of them, and completes one, whose place the next takes. Warps bring their own rows
// (rolling_feed_cuda.cuh), or those of a block have filters of their own and share what one more warp brings.
#pragma once

#include "core/conv2d/rolling_sums_cuda.cuh"

namespace convoy::conv2d::gpu::rolling {

/// Of the only filter, where they are parameters.
template <class S>
struct Weights {
    alignas(16) float of[S::in_parameters ? S::taps * S::taps : 1];
};

template <int from, int end, class F>
__device__ __forceinline__ void each(F&& f) {
    if constexpr (from < end) {
        f.template operator()<from>();
        each<from + 1, end>(f);
    }
}

/// Adds a unit, of which this thread's samples begin at `from`; weights_of(channel, g). Calls meanwhile()
/// when the first ones are on their way.
template <class S, class Weights, class Meanwhile>
__device__ __forceinline__ void add_unit(const float* from, Sums<S>& sums, const Weights& weights_of,
                                         Meanwhile&& meanwhile) {
    each<0, S::channels>([&]<int c>() {
        float x[S::stride][S::stride][Layout<S>::window];
        take<S>(from + c * Layout<S>::plane, x);
        if constexpr (c == 0) meanwhile();
        sums.template add<c>(x, [&](int g) { return weights_of(c, g); });
    });
}

template <class S>
__global__ void __launch_bounds__(Layout<S>::threads, Layout<S>::blocks)
    rolling_rows(const __grid_constant__ Job job, const __grid_constant__ Strips strips,
                 const __grid_constant__ Weights<S> parameters) {
    using L = Layout<S>;
    constexpr int places = L::ahead + 1;
    extern __shared__ __align__(16) float memory[];
    const int warp = threadIdx.x / lanes;
    unsigned rest = blockIdx.x;
    const int set = static_cast<int>(rest % strips.sets);
    rest /= strips.sets;
    const int group = static_cast<int>(rest % static_cast<unsigned>(job.groups));
    rest /= static_cast<unsigned>(job.groups);
    if constexpr (S::alone) rest = rest * (blockDim.x / lanes) + warp;

    const int rings = S::alone ? blockDim.x / lanes : 1, sharing = S::alone ? 1 : strips.sharing;
    const float* const ring = memory + (S::alone ? warp : 0) * places * L::unit;
    float* const weights = memory + rings * places * L::unit;
    const Barriers barriers(weights + sharing * L::warp_weights, places);
    if constexpr (!S::in_parameters) {
        const int count = sharing * L::warp_weights;
        const float* const from = strips.weights + (Index{group} * strips.sets + set) * count;
        for (int i = threadIdx.x; i < count / 4; i += blockDim.x)
            reinterpret_cast<float4*>(weights)[i] = reinterpret_cast<const float4*>(from)[i];
        if (!S::alone && threadIdx.x == 0) barriers.make(places, sharing);
        __syncthreads();
    }
    if (rest >= strips.tiles) return;
    const Index column = Index{rest % strips.tiles_across} * columns;
    rest /= strips.tiles_across;
    const Index row = Index{rest % strips.tiles_down} * strips.rows, image = rest / strips.tiles_down;
    const int rows = static_cast<int>(min(Index{strips.rows}, job.out_rows - row)),
              steps = rows + L::live - 1;
    const auto feed_of = [&] {
        return Feed<S>(job, ring, image, group * S::channels, row * S::stride - job.before_rows,
                       (job.out_first + column) * S::stride - job.before_columns);
    };
    const int mine = S::alone ? 0 : warp;  // of the sets of filters
    const int own = settled(mine * L::warp_weights);
    const int first = settled(static_cast<int>(threadIdx.x % lanes) * across);  // of a unit's samples
    const auto weights_of = [&](int c, int g) {
        if constexpr (S::in_parameters)
            return [&parameters, g](int i) { return parameters.of[g * S::taps + i]; };
        else
            return Taps<L::weight_rows>(weights + own + (c * L::live + g) * L::weight_rows);
    };
    Output<S> output(job, strips, image, group, (set * sharing + mine) * S::filters, row, column);
    Sums<S> sums;
    int slot = 0;
    if constexpr (S::alone) {
        Feed<S> feed = feed_of();
        for (int i = 0; i < L::ahead; ++i) {
            if (i < steps) feed.next(job, i);
            asm volatile("cp.async.commit_group;" ::: "memory");
        }
        for (int step = 0; step < steps; ++step) {
            asm volatile("cp.async.wait_group %0;" ::"n"(L::ahead - 1) : "memory");
            __syncwarp();
            const auto bring = [&] {
                if (step + L::ahead < steps) feed.next(job, slot == 0 ? L::ahead : slot - 1);
                asm volatile("cp.async.commit_group;" ::: "memory");
            };
            if (L::brings_first) bring();
            add_unit<S>(ring + (slot * L::unit + first), sums, weights_of, [&] {
                if (!L::brings_first) bring();
            });
            if (++slot == places) slot = 0;
            if (step >= L::live - 1) output.write(job, sums.oldest());
        }
    } else if (warp == sharing) {
        Feed<S> feed = feed_of();
        unsigned parity = 1;  // places are free at first
        for (int step = 0; step < steps; ++step) {
            barriers.wait_free(slot, parity);
            feed.next(job, slot);
            barriers.fill(slot);
            if (++slot == places) slot = 0, parity ^= 1;
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
    } else {
        unsigned parity = 0;
        for (int step = 0; step < steps; ++step) {
            barriers.wait_full(slot, parity);
            add_unit<S>(ring + (slot * L::unit + first), sums, weights_of, [] {});
            __syncwarp();
            if (threadIdx.x % lanes == 0) barriers.free(slot);
            if (++slot == places) slot = 0, parity ^= 1;
            if (step >= L::live - 1) output.write(job, sums.oldest());
        }
    }
}

}  // namespace convoy::conv2d::gpu::rolling
