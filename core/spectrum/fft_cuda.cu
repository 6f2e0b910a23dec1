// Spectrograms on a GPU: window, transform, power, bands, averages and decibels in one kernel. Which of the
// two kernels runs depends on the job only, and each column is made by itself, so that bits do not depend on
// the chunk.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/device/check.hpp"
#include "core/fft/mixed_radix.hpp"
#include "core/spectrum/block_cuda.cuh"
#include "core/spectrum/stage.hpp"
#include "core/spectrum/warp_cuda.cuh"

namespace convoy::spectrum {

namespace gpu {
namespace {

constexpr std::size_t scratch_limit = std::size_t{512} << 20;

template <class V>
device::Buffer uploaded(const device::Device& device, const std::vector<V>& values) {
    if (values.empty()) return {};
    device::Buffer buffer(device, values.size() * sizeof(V));
    device::upload(buffer, values.data(), values.size() * sizeof(V));
    return buffer;
}

template <class V>
V* in(const device::Buffer& buffer) {
    return reinterpret_cast<V*>(buffer.data());
}

// exp(-2 pi i k / n)
template <class T>
Complex<T> root(Index k, Index n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
    return {static_cast<T>(std::cos(angle)), static_cast<T>(-std::sin(angle))};
}

template <class T>
std::vector<Complex<T>> half_turn_roots(Index nfft) {
    std::vector<Complex<T>> roots;
    for (Index k = 0; k <= nfft / 4; ++k)
        roots.push_back(root<T>(k, nfft));
    return roots;
}

// The parts that both kernels share.
class CudaStage : public SpectrogramStage {
  public:
    CudaStage(const Problem& p, const device::Device& device) : SpectrogramStage(p), device_(device) {
        const auto& gain = p.scaling.gain;
        const auto& offset = p.scaling.offset;
        std::vector<LaneScale> scales(std::max(gain.size(), offset.size()));
        for (std::size_t c = 0; c < scales.size(); ++c) {
            if (!gain.empty()) scales[c].gain = gain[gain.size() == 1 ? 0 : c];
            if (!offset.empty()) scales[c].offset = offset[offset.size() == 1 ? 0 : c];
        }
        one_scale_ = scales.size() == 1;
        scales_ = uploaded(device, scales);
    }

    void run(const Window& from, const Window& to, Lanes lanes, device::Stream& stream) final {
        if (to.span.count <= 0 || lanes.count() <= 0) return;
        device::use(device_);
        launch(job_of(from, to, lanes), static_cast<cudaStream_t>(stream.handle()));
    }

  protected:
    virtual void launch(const Job& job, cudaStream_t stream) = 0;
    const device::Device& device() const { return device_; }

  private:
    Job job_of(const Window& from, const Window& to, const Lanes& lanes) const {
        const Problem& p = problem();
        const Index parts = input_parts();
        Job job;
        job.in = {
            from.data,          from.type,
            from.inner,         parts,
            from.inner / parts, from.span,
            from.pitch,         p.shape.frames,
            p.padding,          scales_.size() > 0 ? in<const LaneScale>(scales_) : nullptr,
            one_scale_,         lanes.outer_first * (p.shape.inner / parts) + lanes.inner_first / parts};
        job.out = {to.data,
                   to.span,
                   to.pitch,
                   p.bins(),
                   from.outer * from.inner / parts,
                   p.stored(),
                   p.gain(0),
                   p.gain(1),
                   p.decibels.has_value(),
                   10,
                   0,
                   0};
        if (p.decibels) {
            const Problem::Logarithm log = p.logarithm();
            job.out.factor = log.factor;
            job.out.offset = log.offset;
            job.out.floor = log.floor;
        }
        job.frames.nfft = p.nfft;
        job.frames.hop = p.hop;
        job.frames.first = p.start(0);
        job.frames.length = p.window_length();
        job.frames.lead = p.lead();
        job.frames.total = p.transforms();
        job.frames.detrend = p.detrend;
        if (p.average) {
            job.frames.averaged = true;
            job.frames.each = p.average->frames;
            job.frames.kind = p.average->kind;
            job.frames.percent = p.average->percent;
        }
        return job;
    }

    device::Device device_;
    device::Buffer scales_;
    bool one_scale_ = false;
};

template <int N>
class WarpStage : public CudaStage {
  public:
    using Fft = WarpFft<float, N>;
    WarpStage(const Problem& p, const device::Device& device) : CudaStage(p, device) {
        std::vector<Complex<float>> twiddles;
        for (int k = 0; k < Fft::points; ++k)
            for (int l = 0; l < Fft::lanes; ++l)
                twiddles.push_back(root<float>(l * k, N));
        twiddles_ = uploaded(device, twiddles);
        untangle_ = uploaded(device, half_turn_roots<float>(2 * N));
        window_ = uploaded(device, std::vector<float>(p.window.begin(), p.window.end()));
        if (p.quantity != Quantity::magnitude && !p.decibels) kernel_ = warp_kernel<N, true>;
        device::use(device);
        device::check(
            cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, WarpShared<N>::bytes),
            "asking for shared memory");
    }
    static bool fits(const Problem& p, const device::Device& device) {
        return p.nfft == 2 * N && p.window_length() == p.nfft && !p.complex && !p.detrend &&
               p.bands.empty() && !p.average && p.quantity != Quantity::complex &&
               p.arithmetic == SampleType::float32 &&
               device.attributes.shared_bytes_per_block >= static_cast<std::size_t>(WarpShared<N>::bytes);
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        const Index tiles = (job.out.span.count + tile_columns - 1) / tile_columns;
        kernel_<<<static_cast<unsigned>(tiles * job.out.channels), warp_threads, WarpShared<N>::bytes,
                  stream>>>(job, in<const float2>(window_), in<const Complex<float>>(twiddles_),
                            in<const Complex<float>>(untangle_));
        device::check_launch("the spectrogram");
    }

  private:
    void (*kernel_)(const Job, const float2*, const Complex<float>*,
                    const Complex<float>*) = warp_kernel<N, false>;
    device::Buffer window_, twiddles_, untangle_;
};

template <class T>
class BlockStage : public CudaStage {
  public:
    BlockStage(const Problem& p, const device::Device& device) : CudaStage(p, device) {
        const bool pairs = !p.complex && p.nfft % 2 == 0;
        tables_.size = pairs ? p.nfft / 2 : p.nfft;
        tables_.linear_bins = p.linear_bins();
        tables_.window = keep(std::vector<T>(p.window.begin(), p.window.end()));
        plan_passes();
        tables_.untangle = pairs ? keep(half_turn_roots<T>(p.nfft)) : nullptr;
        if (!p.bands.empty()) {
            std::vector<Index> first, starts{0};
            std::vector<T> weights;
            for (const Band& band : p.bands) {
                first.push_back(band.first);
                for (const double w : band.weights)
                    weights.push_back(static_cast<T>(w));
                starts.push_back(static_cast<Index>(weights.size()));
            }
            tables_.band_first = keep(first);
            tables_.band_weights = keep(starts);
            tables_.weights = keep(weights);
        }
        plan_memory(p);
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        const Index items = job.out.channels * job.out.span.count;
        const auto grid = static_cast<unsigned>(std::min<Index>(items, blocks_));
        block_kernel<T><<<grid, block_threads, shared_bytes_, stream>>>(job, tables_, scratch_);
        device::check_launch("the spectrogram");
    }

  private:
    template <class V>
    V* keep(const std::vector<V>& values) {
        kept_.push_back(uploaded(device(), values));
        return in<V>(kept_.back());
    }
    template <class V>
    V* room(std::size_t count) {
        kept_.emplace_back(device(), count * sizeof(V));
        return in<V>(kept_.back());
    }

    void plan_passes() {
        const fft::MixedRadix<T> plan(tables_.size);
        std::vector<Pass> passes;
        std::vector<Complex<T>> turns;
        for (const auto& p : plan.passes()) {
            Pass pass{static_cast<int>(p.radix), p.groups, p.stride, static_cast<Index>(turns.size()), 0};
            for (std::size_t i = 0; i < p.twiddles.size(); i += 2)
                turns.push_back({p.twiddles[i], p.twiddles[i + 1]});
            pass.roots = static_cast<Index>(turns.size());
            for (Index r = 0; r < p.radix; ++r)
                turns.push_back(root<T>(r, p.radix));
            passes.push_back(pass);
        }
        tables_.pass_count = static_cast<int>(passes.size());
        tables_.passes = keep(passes);
        tables_.turns = keep(turns);
    }

    // Two buffers a block, in shared memory where they fit; no more blocks than the scratch has room for.
    void plan_memory(const Problem& p) {
        const std::size_t buffers = 2 * sizeof(Complex<T>) * static_cast<std::size_t>(tables_.size + 1);
        const std::size_t limit =
            std::max<std::size_t>(device().attributes.shared_bytes_per_block, 49152) - 1024;
        const bool shared = buffers <= limit;
        const auto bins = static_cast<std::size_t>(p.bins());
        const bool percentile = p.average && p.average->kind == Average::Kind::percentile;
        const std::size_t all = percentile ? bins * static_cast<std::size_t>(p.average->frames) : 0;
        const std::size_t bytes = (shared ? 0 : buffers) + all * sizeof(T);
        blocks_ = std::max(device().attributes.multiprocessors, 1) * 8;
        if (bytes > 0) blocks_ = std::clamp<Index>(static_cast<Index>(scratch_limit / bytes), 1, blocks_);
        const auto blocks = static_cast<std::size_t>(blocks_);
        if (!shared)
            scratch_.buffers = room<Complex<T>>(blocks * 2 * static_cast<std::size_t>(tables_.size + 1));
        if (percentile)
            scratch_.all = room<T>(blocks * all);
        else if (p.average)
            scratch_.sums = room<double>(blocks * bins);
        shared_bytes_ = shared ? static_cast<unsigned>(buffers) : 0;
        if (shared_bytes_ <= 49152) return;
        device::use(device());
        device::check(cudaFuncSetAttribute(block_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(limit)),
                      "asking for shared memory");
    }

    Tables<T> tables_{};
    Scratch<T> scratch_{};
    Index blocks_ = 1;
    unsigned shared_bytes_ = 0;
    std::vector<device::Buffer> kept_;
};

std::unique_ptr<Stage> make(const Problem& p, const device::Device& d) {
    if (WarpStage<256>::fits(p, d)) return std::make_unique<WarpStage<256>>(p, d);
    if (WarpStage<512>::fits(p, d)) return std::make_unique<WarpStage<512>>(p, d);
    if (WarpStage<1024>::fits(p, d)) return std::make_unique<WarpStage<1024>>(p, d);
    if (p.arithmetic == SampleType::float64) return std::make_unique<BlockStage<double>>(p, d);
    return std::make_unique<BlockStage<float>>(p, d);
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy fft_cuda{
    "fft", device::Backend::cuda,
    "window, transform and values in one kernel, half a warp or a block a frame",
    [](const Problem&, const device::Device&) { return std::string(); }, gpu::make};

}  // namespace convoy::spectrum
