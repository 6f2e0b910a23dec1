#include <cstdint>

#include "core/device/check.hpp"
#include "pipelines/bench/probes_cuda.hpp"

namespace convoy::pipelines::bench {

namespace {

constexpr int threads = 256;
constexpr int chains = 16;  // independent sums a thread: more than the latency of an FMA needs
constexpr int iterations = 4096;

template <class T>
__global__ void fma_only(T* sink, T by, T plus) {
    T sum[chains];
#pragma unroll
    for (int c = 0; c < chains; ++c)
        sum[c] = static_cast<T>(threadIdx.x + c);
    for (int i = 0; i < iterations; ++i)
#pragma unroll
        for (int c = 0; c < chains; ++c)
            sum[c] = fma(sum[c], by, plus);
    T all = 0;
#pragma unroll
    for (int c = 0; c < chains; ++c)
        all += sum[c];
    if (all == T(1e30)) *sink = all;  // never: the sums converge; but the compiler cannot know
}

__global__ void read_only(const uint4* __restrict__ in, std::int64_t words, unsigned* sink) {
    constexpr int unrolled = 4;
    unsigned all = 0;
    const std::int64_t step = std::int64_t{gridDim.x} * threads * unrolled;
    for (std::int64_t first = std::int64_t{blockIdx.x} * threads * unrolled + threadIdx.x; first < words;
         first += step) {
#pragma unroll
        for (int u = 0; u < unrolled; ++u) {
            if (first + u * threads >= words) continue;
            const uint4 v = in[first + u * threads];
            all |= v.x ^ v.y ^ v.z ^ v.w;
        }
    }
    if (all == 0x9e3779b9u) atomicAdd(sink, 1u);  // keeps the loads
}

template <class T>
double run_fma_of(const device::Device& gpu, std::byte* sink, cudaStream_t queue) {
    const int blocks = gpu.attributes.multiprocessors * 32;
    fma_only<T><<<blocks, threads, 0, queue>>>(reinterpret_cast<T*>(sink), T(0.5), T(1));
    device::check_launch("the FMA probe");
    return 2.0 * blocks * threads * chains * iterations;
}

}  // namespace

double run_fma(const device::Device& gpu, std::byte* sink, cudaStream_t queue) {
    return run_fma_of<float>(gpu, sink, queue);
}

double run_fma_double(const device::Device& gpu, std::byte* sink, cudaStream_t queue) {
    return run_fma_of<double>(gpu, sink, queue);
}

void run_read(const device::Device& gpu, const std::byte* data, std::size_t bytes, std::byte* sink,
              cudaStream_t queue) {
    const int blocks = gpu.attributes.multiprocessors * 8;
    read_only<<<blocks, threads, 0, queue>>>(reinterpret_cast<const uint4*>(data),
                                             static_cast<std::int64_t>(bytes / 16),
                                             reinterpret_cast<unsigned*>(sink));
    device::check_launch("the read probe");
}

}  // namespace convoy::pipelines::bench
