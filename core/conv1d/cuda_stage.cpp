#include "core/conv1d/cuda_stage.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/conv1d/wide_range.hpp"
#include "core/device/check.hpp"

namespace convoy::conv1d::gpu {

namespace {

// Measured on one H200 (data/benchmarks): a copy moves 4.2 TB/s, FMA runs at 56 Tflop/s; double at half of
// that.
constexpr double bytes_per_multiprocessor = 4.2e12 / 132;
constexpr double flops_per_multiprocessor = 56e12 / 132;

std::vector<LaneScale> scales_of(const Scaling& s) {
    std::vector<LaneScale> scales(std::max<std::size_t>(s.gain.size(), s.offset.size()));
    for (std::size_t c = 0; c < scales.size(); ++c) {
        if (!s.gain.empty()) scales[c].gain = s.gain[s.gain.size() == 1 ? 0 : c];
        if (!s.offset.empty()) scales[c].offset = s.offset[s.offset.size() == 1 ? 0 : c];
    }
    return scales;
}

}  // namespace

CudaStage::CudaStage(const Problem& p, const device::Device& device, bool guards) : p_(p), device_(device) {
    if (!guards && may_be_wide(p)) {
        struct {
            unsigned long long count = 0;
            Range ranges[2];
        } const start;
        wide_ = device::Buffer(device, sizeof start);
        device::upload(wide_, &start, sizeof start);
        wide_taps_ = upload_values(device, SampleType::float64, backwards(p.taps));
    }
    if (p_.scaling.trivial()) return;
    const auto scales = scales_of(p_.scaling);
    one_scale_ = scales.size() == 1;
    scales_ = device::Buffer(device, scales.size() * sizeof(LaneScale));
    device::upload(scales_, scales.data(), scales.size() * sizeof(LaneScale));
}

Shape CudaStage::shape() const {
    return {p_.shape.outer, p_.outputs(), p_.shape.inner};
}

Span CudaStage::needed(Span out) const {
    const Index first = out.first * p_.decimate + p_.offset() - (taps() - 1);
    return p_.folded(first, first + (out.count - 1) * p_.decimate + taps());
}

Index CudaStage::needed_at_most(Index count) const {
    return std::min(p_.shape.frames, (count - 1) * p_.decimate + taps());
}

void CudaStage::run(const Window& in, const Window& out, Lanes lanes, device::Stream& stream) {
    if (out.span.count <= 0 || lanes.count() <= 0) return;
    device::use(device_);
    Job job;
    job.in = in.data;
    job.out = out.data;
    job.type = in.type;
    job.padding = p_.padding;
    job.outer = in.outer;
    job.inner = in.inner;
    job.in_span = in.span;
    job.out_span = out.span;
    job.in_pitch = in.pitch;
    job.out_pitch = out.pitch;
    job.frames = p_.shape.frames;
    job.decimate = p_.decimate;
    job.first = p_.offset() - (taps() - 1);
    job.taps = taps();
    if (scales_.size() > 0) job.scales = reinterpret_cast<const LaneScale*>(scales_.data());
    job.one_scale = one_scale_;
    job.parts = p_.complex ? 2 : 1;
    job.channel_outer = lanes.outer_first;
    job.channel_inner = lanes.inner_first;
    job.channel_row = p_.shape.inner / job.parts;
    queue(job, static_cast<cudaStream_t>(stream.handle()));
}

void CudaStage::queue(Job job, cudaStream_t stream) {
    if (wide_.size() == 0) return launch(job, stream);
    const bool looked = looks(job);
    Range* const ranges = reinterpret_cast<Range*>(wide_.data() + 8);
    turn_ = 1 - turn_;
    job.wide = ranges + turn_;
    const Job seen = job;
    if (!looked) job.wide = nullptr;
    launch(job, stream);
    launch_wide(seen, device_, reinterpret_cast<const double*>(wide_taps_.data()),
                reinterpret_cast<unsigned long long*>(wide_.data()), ranges + (1 - turn_), looked, stream);
}

Stage::Facts CudaStage::facts() const {
    if (wide_.size() == 0) return {};
    unsigned long long count = 0;
    device::use(device_);
    device::check(cudaMemcpy(&count, wide_.data(), sizeof count, cudaMemcpyDeviceToHost), "counting outputs");
    return {{"outputs_float64", static_cast<double>(count)}};
}

device::Buffer upload_values(const device::Device& device, SampleType arithmetic,
                             const std::vector<double>& values) {
    const auto put = [&](const auto& typed) {
        const std::size_t bytes = typed.size() * sizeof(typed[0]);
        device::Buffer buffer(device, bytes);
        device::upload(buffer, typed.data(), bytes);
        return buffer;
    };
    if (arithmetic == SampleType::float64) return put(values);
    std::vector<float> singles(values.size());
    std::transform(values.begin(), values.end(), singles.begin(),
                   [](double v) { return static_cast<float>(v); });
    return put(singles);
}

std::vector<double> backwards(const std::vector<double>& taps) {
    return {taps.rbegin(), taps.rend()};
}

std::vector<double> by_phase(const Cut& cut, const std::vector<double>& taps, Index decimate) {
    const std::vector<double> g = backwards(taps);
    std::vector<double> table(static_cast<std::size_t>(cut.all_phases * cut.tap_pitch), 0.0);
    for (std::size_t j = 0; j < g.size(); ++j) {
        const Index phase = static_cast<Index>(j) % decimate, step = static_cast<Index>(j) / decimate;
        table[static_cast<std::size_t>(phase * cut.tap_pitch + step)] = g[j];
    }
    return table;
}

std::size_t use_shared_memory(const void* kernel, const device::Device& device) {
    const std::size_t bytes = std::max<std::size_t>(device.attributes.shared_bytes_per_block, 49152) - 1024;
    device::use(device);
    device::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "asking for shared memory");
    return bytes;
}

Floor floor_of(const Problem& p, const device::Device& device) {
    const double units = std::max(device.attributes.multiprocessors, 1);
    const double bytes = static_cast<double>(bytes_of(p.in) * p.decimate + bytes_of(p.arithmetic));
    const double flops =
        2.0 * static_cast<double>(p.taps.size()) * (p.arithmetic == SampleType::float64 ? 2 : 1);
    return {1e9 * bytes / (units * bytes_per_multiprocessor),
            1e9 * flops / (units * flops_per_multiprocessor)};
}

double time_of(const Problem& p, const device::Device& device, double slowdown) {
    const Floor floor = floor_of(p, device);
    return 1.4 * floor.memory + slowdown * floor.arithmetic;
}

}  // namespace convoy::conv1d::gpu
