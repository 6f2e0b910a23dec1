// What the overlap-save kernels are given: the filter, the work, what is left for whom, the shape of shared
// memory; and how they read samples and join values over lanes.
#pragma once

#include "core/conv1d/fft_error.hpp"
#include "core/conv1d/overlap_save.hpp"
#include "core/conv1d/samples_cuda.cuh"
#include "core/fft/block_fft.hpp"

namespace convoy::conv1d::gpu {

/// A filter as the kernels want it: T is the arithmetic of the transforms.
template <class T>
struct FftFilter {
    const fft::Complex<T>* turns;    // block_turns()
    const fft::Complex<T>* spectra;  // [parts][length]
    const T* parts_of;  // of each part: squares of norm and gain, how its products err, the guard's slack
    const T* weights;   // of the segments of each part, and zeros to whole vectors of 4
    int weight_count;   // a multiple of 4
    int keep, parts;
    Index part, taps;
    T error;                // fft_error_factor times the unit roundoff
    T allowed;              // of an output, in units of its sum of magnitudes
    int longest;            // segment of a direct sum
    fft::Complex<T>* sums;  // [block][length]: sums of the parts' products
};

/// What is to be done: items [first, first + count) of the pairs, or those that are listed, each in `pieces`.
struct FftWork {
    Pairs pairs;
    Index first = 0, count = 0;
    int pieces = 1;
    Divisor by_decimation;
};

/// Pairs that the kernel in float leaves to that in double, and what that does with them.
struct FftLeft {
    unsigned* listed;            // how many
    unsigned* items;             // which, counted from FftWork::first
    unsigned long long* counts;  // pairs in double so far; pairs with outputs that were summed
};

/// T is the arithmetic, R the radix, Q the samples of a segment.
template <class T, int R, int Q>
struct FftShared {
    using Fft = fft::BlockFft<T, R>;
    static constexpr int warps = Fft::threads / 32;
    static constexpr std::size_t levels = 6 * warps;  // peak and energy of samples and results, least bound
    /// Segments of a pair, with those that vectors of 4 reach into: past the end, and 4 before the second.
    CONVOY_HD static constexpr int segments(int keep) { return 3 + (keep + Fft::size) / Q + 9; }
    static std::size_t bytes(int keep) {
        return sizeof(fft::Complex<T>) * Fft::exchange +
               sizeof(T) * (levels + static_cast<std::size_t>(segments(keep) + 2 * keep / Q + 4));
    }
};

/// v[i] of the 2 Half neighbouring lanes, joined, comes out in the i-th of them: each step halves the values
/// of a lane.
template <int Half, class T, class Join>
__device__ __forceinline__ T across(const T (&v)[2 * Half], const Join& join) {
    const bool upper = (threadIdx.x & Half) != 0;
    T joined[Half];
#pragma unroll
    for (int i = 0; i < Half; ++i) {
        const T low = v[i], high = v[i + Half], give = upper ? low : high, keep = upper ? high : low;
        joined[i] = join(keep, __shfl_xor_sync(0xffffffffu, give, Half));
    }
    if constexpr (Half > 1)
        return across<Half / 2>(joined, join);
    else
        return joined[0];
}
template <class T, class Join>
__device__ __forceinline__ T over_warp(T v, const Join& join) {
#pragma unroll
    for (int d = 16; d >= 1; d /= 2)
        v = join(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

struct Add {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
    __device__ double operator()(double a, double b) const { return fmax(a, b); }
};
struct Smaller {
    __device__ float operator()(float a, float b) const { return fminf(a, b); }
    __device__ double operator()(double a, double b) const { return fmin(a, b); }
};

/// The samples of one pair: sample i is extended frame first + i; from `count` on they count as zero.
template <class S, class In>
struct PairSamples {
    const Job& job;
    Lane<S, In> lane;
    Index first, count;
    __device__ S operator()(Index i) const {
        if (i >= count) return S{0};
        const Index f = first + i;
        return job.plain(f, f + 1) ? lane.value(lane.stored(f)) : lane.extended(job, f);
    }
};

}  // namespace convoy::conv1d::gpu
