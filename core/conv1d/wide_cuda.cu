// Sums outputs of a wide range in double, with taps in double: those of wide_range.hpp, on the GPU.
#include <algorithm>

#include "core/conv1d/cuda_stage.hpp"
#include "core/conv1d/wide_cuda.cuh"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

namespace {

constexpr int threads = 256, tile_outputs = 16384;

/// Extended samples of one lane, as float.
template <class In>
struct Samples {
    const Job& job;
    Lane<float, In> lane;
    __device__ float operator()(Index f) const {
        return job.plain(f, f + 1) ? lane.value(lane.stored(f)) : lane.extended(job, f);
    }
};

/// Whether the window that begins at frame f is of a wide range.
template <class In>
__device__ bool wide_window(const Samples<In>& x, Index f, Index taps) {
    static_assert(wide_stretch == 8);
    float loudest = 0, faintest = __int_as_float(0x7f800000), one = 0, two[2] = {}, four[4] = {};
    for (Index k = 0; k < taps; ++k) {
        // The peaks of the last 2, 4 and 8 samples.
        const float a = fmaxf(fabsf(x(f + k)), 0.f);  // 0 for a NaN
        const float of_two = fmaxf(a, one), of_four = fmaxf(of_two, two[1]),
                    of_eight = fmaxf(of_four, four[3]);
        one = a;
        two[1] = two[0], two[0] = of_two;
        four[3] = four[2], four[2] = four[1], four[1] = four[0], four[0] = of_four;
        loudest = fmaxf(loudest, a);
        if (k + 1 >= wide_stretch && of_eight > 0) faintest = fminf(faintest, of_eight);
    }
    return loudest > wide_range * faintest;
}

/// Samples [begin, end) by all threads of the block.
template <class In>
__device__ void look(LoudAndFaint& seen, const Job& job, const Samples<In>& x, Index begin, Index end) {
    Index f = begin;
    if constexpr (std::is_same_v<In, float>)
        if (job.inner == 1 && !x.lane.scaled() && job.plain(begin, end)) {
            const float* const from = x.lane.at(begin);
            const auto past = static_cast<Index>(reinterpret_cast<std::uintptr_t>(from) / 4 % 4);
            const Index lead = min((4 - past) % 4, end - begin), quads = (end - begin - lead) / 4;
            if (static_cast<Index>(threadIdx.x) < lead) seen.sample(from[threadIdx.x]);
            const auto* const q = reinterpret_cast<const float4*>(from + lead);
#pragma unroll 4
            for (Index i = threadIdx.x; i < quads; i += threads)
                seen.quad(q[i]);
            f = begin + lead + 4 * quads;
        }
    for (f += 4 * static_cast<Index>(threadIdx.x); f < end; f += 4 * threads)
        if (f + 4 <= end)
            seen.quad(make_float4(x(f), x(f + 1), x(f + 2), x(f + 3)));
        else
            for (Index i = f; i < end; ++i)
                seen.sample(x(i));
}

/// Blocks walk over tiles of outputs of one lane each.
template <class In>
__global__ void __launch_bounds__(threads)
    wide_kernel(const Job job, const Index along, const bool looked, const double* __restrict__ taps,
                unsigned long long* count, Range* other) {
    __shared__ unsigned words[2];
    Range& range = *reinterpret_cast<Range*>(words);
    wait_for_last();
    if (blockIdx.x == 0 && threadIdx.x == 0) *other = Range{};
    if (looked && !LoudAndFaint::wide(*job.wide)) return;
    for (Index tile = blockIdx.x; tile < along * job.outer * job.inner; tile += gridDim.x) {
        const Index lane_number = tile / along, number = tile - lane_number * along;
        const Index outer = lane_number / job.inner, inner = lane_number - outer * job.inner;
        const Index first = job.out_span.first + number * tile_outputs;
        const Index outputs = min(Index{tile_outputs}, job.out_span.end() - first);
        const Index begin = job.frame_of(first), end = job.frame_of(first + outputs - 1) + job.taps;
        const Samples<In> x{job, Lane<float, In>(job, outer, inner)};
        __syncthreads();
        if (threadIdx.x == 0) range = Range{};
        __syncthreads();
        LoudAndFaint seen;
        look(seen, job, x, begin, end);
        seen.join(&range);
        __syncthreads();
        if (!LoudAndFaint::wide(range)) continue;
        auto* const out = reinterpret_cast<float*>(job.out) + job.output_at(outer, inner, first);
        for (Index n = threadIdx.x; n < outputs; n += threads) {
            const Index f = job.frame_of(first + n);
            if (!wide_window(x, f, job.taps)) continue;
            double sum = 0;
            for (Index k = 0; k < job.taps; ++k)
                sum = fma(taps[k], static_cast<double>(x(f + k)), sum);
            out[n * job.inner] = static_cast<float>(sum);
            atomicAdd(count, 1ull);
        }
    }
}

/// Whether the code that this device runs waits for the kernel before by itself.
template <class In>
bool waits(const device::Device& device) {
    if (device.attributes.compute_major < 9) return false;
    static const bool known = [] {
        cudaFuncAttributes of{};
        device::check(cudaFuncGetAttributes(&of, wide_kernel<In>), "asking for a kernel");
        return of.ptxVersion >= 90;
    }();
    return known;
}

}  // namespace

void launch_wide(const Job& job, const device::Device& device, const double* taps, unsigned long long* count,
                 Range* other, bool looked, cudaStream_t stream) {
    const Index along = ceil_div(job.out_span.count, tile_outputs), tiles = along * job.outer * job.inner;
    // After a look by the way there is rarely anything to do: few blocks, which begin while the kernel before
    // still runs.
    const Index each = looked ? 4 : 8;
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t launch{};
    launch.gridDim =
        static_cast<unsigned>(std::min<Index>(tiles, each * std::max(device.attributes.multiprocessors, 1)));
    launch.blockDim = threads;
    launch.stream = stream;
    launch.attrs = &early;
    dispatch(job.type, [&](auto in) {
        using In = decltype(in);
        launch.numAttrs = looked && waits<In>(device) ? 1 : 0;
        device::check(cudaLaunchKernelEx(&launch, wide_kernel<In>, job, along, looked, taps, count, other),
                      "looking for outputs of a wide range");
    });
}

}  // namespace convoy::conv1d::gpu
