// Where a job runs: device, memory mode and the size of its chunks.
#pragma once

#include <span>
#include <string>

#include "pipelines/chain_plan.hpp"

namespace convoy::pipelines {

/// The device that --device asks for, and a remark where another was taken than one might expect. Steps that
/// have no stage for a GPU take the whole job to the CPU: with a warning (naming `input`) under `auto`, else
/// an error.
struct DeviceChoice {
    device::Device device;
    std::string remark;
};
DeviceChoice choose_device(const std::string& asked, std::span<const StepCall> steps,
                           const std::string& input);

/// The stream's chunks and bounds of memory, from --chunk and the device; `share`: of how many jobs at once.
StreamOptions stream_options(const Params& options, const device::Device& device, int share,
                             const io::Recording& input, const Flow& result);

}  // namespace convoy::pipelines
