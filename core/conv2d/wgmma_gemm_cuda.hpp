// implicit_gemm on Hopper GPUs, whose tensor cores take both factors from shared memory.
#pragma once

#include <memory>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d::gpu {

/// Whether the GPU has these tensor cores and the problem suits them: float32 or TF32 of real float32
/// samples as they are, of 48 terms or more.
bool wgmma_gemm_fits(const Problem& p, const device::Device& device);
std::unique_ptr<Stage> make_wgmma_gemm(const Problem& p, const device::Device& device);
/// As Strategy::cost.
double wgmma_gemm_cost(const Problem& p, const device::Device& device);

}  // namespace convoy::conv2d::gpu
