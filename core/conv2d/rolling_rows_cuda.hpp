// small_channel for square kernels over one or three channels: down the rows, each sample read once.
#pragma once

#include <memory>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d::gpu {

/// Whether the problem suits it: real float32 samples as they are, columns side by side, a kernel of 3 to 15
/// rows and columns, no dilation.
bool rolling_rows_fit(const Problem& p, const device::Device& device);
std::unique_ptr<Stage> make_rolling_rows(const Problem& p, const device::Device& device);
/// As Strategy::cost.
double rolling_rows_cost(const Problem& p, const device::Device& device);

}  // namespace convoy::conv2d::gpu
