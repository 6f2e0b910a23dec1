// The fast way: real float spectra of 512, 1024 or 2048 samples without bands or averages. A frame is half a
// warp's or a warp's work (warp_fft.hpp); a block makes 16 neighbouring columns, which leave through shared
// memory in rows of 64 bytes.
#pragma once

#include "core/spectrum/values_cuda.cuh"

namespace convoy::spectrum::gpu {

constexpr int warp_threads = 256, tile_columns = 16;

template <int N>
struct WarpShared {
    using Fft = WarpFft<float, N>;
    static constexpr int groups = warp_threads / Fft::lanes;
    static constexpr int stage = (N + 1) * (tile_columns + 1);  // floats; the 1 keeps rows on different banks
    static constexpr int bytes = static_cast<int>(sizeof(Complex<float>)) * (groups * Fft::exchange + N) +
                                 static_cast<int>(sizeof(float)) * stage;
};

// The frame's samples times the window, as the complex numbers of one lane.
template <int N>
__device__ void load_frame(const Job& job, const float2* __restrict__ window, Index channel, Index first,
                           int lane, Complex<float> (&a)[WarpFft<float, N>::points]) {
    using Fft = WarpFft<float, N>;
    const Input& in = job.in;
    const bool plain = in.type == SampleType::float32 && in.inner == 1 && in.scales == nullptr &&
                       first >= in.span.first && first + 2 * N <= in.span.end();
    const float* const x = reinterpret_cast<const float*>(in.data) + in.at(channel, 0, first);
    if (plain && reinterpret_cast<std::uintptr_t>(x) % sizeof(float2) == 0) {
        const float2* const pairs = reinterpret_cast<const float2*>(x);
#pragma unroll
        for (int j = 0; j < Fft::points; ++j) {
            const float2 v = pairs[lane + Fft::lanes * j];
            a[j] = {v.x, v.y};
        }
    } else if (plain) {
#pragma unroll
        for (int j = 0; j < Fft::points; ++j) {
            const int n = 2 * (lane + Fft::lanes * j);
            a[j] = {x[n], x[n + 1]};
        }
    } else {
#pragma unroll 1
        for (int j = 0; j < Fft::points; ++j) {
            const Index n = first + 2 * (lane + Fft::lanes * j);
            const Complex<float> v{sample<float>(in, channel, 0, n), sample<float>(in, channel, 0, n + 1)};
#pragma unroll
            for (int i = 0; i < Fft::points; ++i)  // a register cannot be chosen while running
                if (i == j) a[i] = v;
        }
    }
#pragma unroll
    for (int j = 0; j < Fft::points; ++j) {
        const float2 w = __ldg(window + lane + Fft::lanes * j);
        a[j] = {a[j].re * w.x, a[j].im * w.y};
    }
}

/// plain: values are powers, not in decibels. window: 2 N floats; twiddles: N as WarpFft::inner takes them;
/// untangle: exp(-i pi k / N), k = 0 .. N/2.
template <int N, bool plain>
__global__ void __launch_bounds__(warp_threads, 2)
    warp_kernel(const Job job, const float2* __restrict__ window, const Complex<float>* __restrict__ twiddles,
                const Complex<float>* __restrict__ untangle) {
    using Fft = WarpFft<float, N>;
    using Shared = WarpShared<N>;
    constexpr int step = tile_columns + 1;
    extern __shared__ __align__(16) std::byte memory[];
    Complex<float>* const exchanges = reinterpret_cast<Complex<float>*>(memory);
    Complex<float>* const turns = exchanges + Shared::groups * Fft::exchange;
    float* const stage = reinterpret_cast<float*>(turns + N);
    for (int i = threadIdx.x; i < N; i += warp_threads)
        turns[i] = twiddles[i];
    __syncthreads();

    const int lane = threadIdx.x % Fft::lanes, group = threadIdx.x / Fft::lanes;
    const unsigned tiles = static_cast<unsigned>((job.out.span.count + tile_columns - 1) / tile_columns);
    const Index channel = blockIdx.x / tiles;
    const Index tile =
        static_cast<Index>(blockIdx.x % tiles) * tile_columns;  // first column, from the span's first
    Complex<float>* const exchange = exchanges + group * Fft::exchange;
    const float once = static_cast<float>(job.out.once), twice = static_cast<float>(job.out.twice);
    const auto value = [&](Complex<float> x, bool alone) {
        if constexpr (plain) return (x.re * x.re + x.im * x.im) * (alone ? once : twice);
        return finished(job.out, value_of(job.out, x, alone));
    };
#pragma unroll 1
    for (int round = 0; round < tile_columns / Shared::groups; ++round) {
        const int column = round * Shared::groups + group;
        Complex<float> a[Fft::points];
#pragma unroll
        for (int j = 0; j < Fft::points; ++j)
            a[j] = {0, 0};
        if (tile + column < job.out.span.count)
            load_frame<N>(job, window, channel,
                          job.frames.first + (job.out.span.first + tile + column) * job.frames.hop, lane, a);
        Fft::inner(a, lane, turns, exchange);
        __syncwarp();
        Complex<float> b[Fft::sums][Fft::lanes];
        Fft::outer(b, lane, exchange);
        __syncwarp();
        Fft::natural(b, lane, exchange);
        __syncwarp();
        float* const to = stage + column;
#pragma unroll 4
        for (int k = lane; k < N / 2; k += Fft::lanes) {
            const Pair<float> x = real_pair(exchange[k], exchange[(N - k) % N], untangle[k]);
            to[k * step] = value(x.low, k == 0);
            to[(N - k) * step] = value(x.high, k == 0);
        }
        if (lane == 0) {
            const Pair<float> x = real_pair(exchange[N / 2], exchange[N / 2], untangle[N / 2]);
            to[N / 2 * step] = value(x.low, false);
        }
        __syncwarp();
    }
    __syncthreads();
    const int count =
        job.out.span.count - tile < tile_columns ? static_cast<int>(job.out.span.count - tile) : tile_columns;
    float* const to = reinterpret_cast<float*>(job.out.data) + channel * job.out.bins * job.out.pitch + tile;
    const int column = threadIdx.x % tile_columns;
    if (column >= count) return;
    for (int bin = threadIdx.x / tile_columns; bin <= N; bin += warp_threads / tile_columns)
        to[bin * job.out.pitch + column] = stage[bin * step + column];
}

}  // namespace convoy::spectrum::gpu
