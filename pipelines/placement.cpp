#include "pipelines/placement.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace convoy::pipelines {

DeviceChoice choose_device(const std::string& asked, std::span<const StepCall> steps,
                           const std::string& input) {
    DeviceChoice choice{device::select(asked), {}};
    if (choice.device.backend == device::Backend::cpu) {
        if (asked == "auto") choice.remark = device::gpu_remark();
        return choice;
    }
    for (const StepCall& call : steps) {
        if (!call.step->cpu_only) continue;
        const std::string name(call.step->name);
        if (asked != "auto")
            throw usage_error("the step " + name + " runs on the CPU only", "give --device auto or cpu",
                              call.place);
        choice.remark = "the step " + name + " runs on the CPU only, and so does the whole job";
        warn(input, choice.remark);
        choice.device = device::cpu();
        break;
    }
    return choice;
}

StreamOptions stream_options(const Params& options, const device::Device& device, int share,
                             const io::Recording& input, const Flow& result) {
    StreamOptions stream;
    stream.device = device;
    // Chunks that stay in the caches between reading and writing, and that are worth a piece for each thread.
    const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
    stream.chunk_bytes_most = 8u << 20;
    stream.chunk_bytes = std::clamp(threads << 19, std::size_t{1} << 20, stream.chunk_bytes_most);
    if (device.backend == device::Backend::cuda) {
        stream.chunk_bytes = stream.chunk_bytes_most = 64u << 20;
        stream.memory_limit = std::size_t{1} << 30;
    }
    stream.memory_limit /= static_cast<std::size_t>(share);
    const ChunkRequest chunk = chunk_request(options, input.rate);
    if (chunk.frames > 0) {
        const double ratio =
            static_cast<double>(result.shape.frames) / static_cast<double>(input.shape.frames);
        stream.chunk_frames = std::max<Index>(1, std::llround(static_cast<double>(chunk.frames) * ratio));
    }
    if (chunk.bytes > 0) {
        stream.chunk_bytes = stream.chunk_bytes_most = static_cast<std::size_t>(chunk.bytes);
        stream.memory_limit = std::max(stream.memory_limit, 16 * stream.chunk_bytes);
    }
    return stream;
}

}  // namespace convoy::pipelines
