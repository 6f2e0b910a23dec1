// What the parameters of the step `conv2d` mean for an image.
#pragma once

#include "core/conv2d/conv2d.hpp"
#include "io/npy.hpp"
#include "pipelines/step.hpp"

namespace convoy::pipelines {

/// Whether the image's channels are its last axis (NHWC), behind rows and columns.
bool channels_last(const Params& p);
/// The kernel as [rows][columns] or [filters][channels][rows][columns].
io::Array conv2d_kernel(const Params& p);
/// Error (a wrong request, with the input's name) where the image, the kernel and the parameters do not go
/// together.
conv2d::Problem conv2d_problem(const Params& p, const Flow& flow, const Execution& execution,
                               const io::Array& kernel);

}  // namespace convoy::pipelines
