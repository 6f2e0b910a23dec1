#include "core/conv2d/cuda_stage.hpp"

#include <algorithm>

#include "core/device/check.hpp"

namespace convoy::conv2d::gpu {

namespace {

// Measured on one H200 (data/benchmarks): a copy moves 4.2 TB/s, FMA runs at 56 Tflop/s; double at half of
// that.
constexpr double bytes_per_multiprocessor = 4.2e12 / 132;
constexpr double flops_per_multiprocessor = 56e12 / 132;

// Tiles of all kernels are as many rows high, or a part of that: where a row lies in its tile says in which
// order its products are summed.
constexpr Index most_tile_rows = 128;

template <class T>
device::Buffer put(const device::Device& device, const std::vector<T>& values) {
    if (values.empty()) return {};
    device::Buffer buffer(device, values.size() * sizeof(T));
    device::upload(buffer, values.data(), values.size() * sizeof(T));
    return buffer;
}

std::vector<double> weights_of(const Problem& p) {
    std::vector<double> all;
    for (Index k = 0; k < p.filters; ++k)
        for (Index c = 0; c < p.group_channels(); ++c)
            for (Index r = 0; r < p.taps.rows; ++r)
                for (Index s = 0; s < p.taps.columns; ++s)
                    all.push_back(p.weight(k, c, r, s));
    return all;
}

Job::Steps steps_of(const Problem& p, Index planes, Index rows, Index pitch) {
    const Index parts = p.parts();
    if (p.channels_last)
        return {rows * pitch * planes * parts, parts, pitch * planes * parts, planes * parts};
    return {planes * rows * pitch * parts, rows * pitch * parts, pitch * parts, parts};
}

}  // namespace

device::Buffer upload_values(const device::Device& device, SampleType arithmetic,
                             const std::vector<double>& values) {
    if (arithmetic == SampleType::float64) return put(device, values);
    std::vector<float> singles;
    for (const double v : values)
        singles.push_back(static_cast<float>(v));
    return put(device, singles);
}

CudaStage::CudaStage(const Problem& p, const device::Device& device)
    : p_(p),
      bands_(p, most_tile_rows),
      device_(device),
      weights_(upload_values(device, p.arithmetic(), weights_of(p))),
      bias_(upload_values(device, p.arithmetic(), p.bias)) {
    const auto& gain = p.scaling.gain;
    const auto& offset = p.scaling.offset;
    std::vector<LaneScale> scales(std::max(gain.size(), offset.size()));
    for (std::size_t i = 0; i < scales.size(); ++i) {
        if (!gain.empty()) scales[i].gain = gain[gain.size() == 1 ? 0 : i];
        if (!offset.empty()) scales[i].offset = offset[offset.size() == 1 ? 0 : i];
    }
    scales_ = put(device, scales);
}

void CudaStage::run(const Window& in, const Window& out, Lanes, device::Stream& stream) {
    if (out.span.count <= 0) return;
    device::use(device_);
    bands_.each({out.outer_first, out.outer, 0, out.inner}, [&](const Box& box) {
        launch(job_of(box, in, out), static_cast<cudaStream_t>(stream.handle()));
    });
}

// A band is a lower image of its own: what lies beyond its rows of the input lies beyond the image's, or is
// not used.
Job CudaStage::job_of(const Box& box, const Window& in, const Window& out) const {
    const Index in_row = bands_.in_row(box);
    Job job;
    job.in = in.data + (in_row - in.outer_first) * in.row_bytes();
    job.out = out.data + (bands_.out_row(box) - out.outer_first) * out.row_bytes();
    job.type = in.type;
    job.in_first = in.span.first;
    job.in_end = in.span.end();
    job.out_first = out.span.first;
    job.out_count = out.span.count;
    job.in_steps = steps_of(p_, p_.channels, box.in_rows, in.pitch);
    job.out_steps = steps_of(p_, p_.filters, box.out_rows, out.pitch);
    job.channels_last = p_.channels_last;
    job.images = box.images;
    job.parts = static_cast<int>(p_.parts());
    job.groups = static_cast<int>(p_.groups);
    job.group_channels = static_cast<int>(p_.group_channels());
    job.group_filters = static_cast<int>(p_.group_filters());
    job.rows = box.in_rows;
    job.columns = p_.extent.columns;
    job.out_rows = box.out_rows;
    job.tap_rows = static_cast<int>(p_.taps.rows);
    job.tap_columns = static_cast<int>(p_.taps.columns);
    job.stride_rows = static_cast<int>(p_.stride.rows);
    job.stride_columns = static_cast<int>(p_.stride.columns);
    job.dilation_rows = static_cast<int>(p_.dilation.rows);
    job.dilation_columns = static_cast<int>(p_.dilation.columns);
    job.before_rows = p_.before().rows - box.out_first * p_.stride.rows + box.in_first;
    job.before_columns = p_.before().columns;
    job.one_scale = scales_.size() == sizeof(LaneScale);
    if (scales_.size() > 0)  // one for each row, or each channel of a row
        job.scales = reinterpret_cast<const LaneScale*>(scales_.data()) +
                     (job.one_scale ? 0 : in_row * (p_.channels_last ? p_.channels : 1));
    job.weights = weights_.data();
    job.bias = bias_.data();
    job.relu = p_.relu;
    job.chain = static_cast<int>(longest_chain(p_.terms()));
    return job;
}

std::size_t use_shared_memory(const void* kernel, const device::Device& device) {
    const std::size_t bytes = std::max<std::size_t>(device.attributes.shared_bytes_per_block, 49152) - 1024;
    device::use(device);
    device::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "asking for shared memory");
    return bytes;
}

double copy_time(const device::Device& device, double bytes) {
    return bytes / (std::max(device.attributes.multiprocessors, 1) * bytes_per_multiprocessor);
}

double time_of(const Problem& p, const device::Device& device, double slowdown) {
    const double units = std::max(device.attributes.multiprocessors, 1);
    const Shape out = p.out_shape();
    const double bytes = static_cast<double>(p.in_shape().samples() * bytes_of(p.in)) +
                         static_cast<double>(out.samples() * bytes_of(p.arithmetic()));
    const double flops = 2.0 * static_cast<double>(p.terms()) * static_cast<double>(out.samples()) *
                         (p.arithmetic() == SampleType::float64 ? 2 : 1);
    return std::max(1.1 * bytes / (units * bytes_per_multiprocessor),
                    slowdown * flops / (units * flops_per_multiprocessor));
}

unsigned blocks_of(Index count) {
    if (count > 0x7fffffff)
        throw failed({}, "the chunk has more tiles than a grid of the GPU", "use a smaller --chunk");
    return static_cast<unsigned>(count);
}

}  // namespace convoy::conv2d::gpu
