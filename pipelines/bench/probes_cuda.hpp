// Kernels that only measure.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/device/device.hpp"

namespace convoy::pipelines::bench {

/// Queues a kernel that does nothing but fused multiply-adds in float32; returns how many floating-point
/// operations that is. `sink` is device memory of at least 8 bytes.
double run_fma(const device::Device& gpu, std::byte* sink, cudaStream_t queue);
/// The same in float64.
double run_fma_double(const device::Device& gpu, std::byte* sink, cudaStream_t queue);

/// Queues a kernel that reads every byte once, 16 at a time, and writes nothing.
void run_read(const device::Device& gpu, const std::byte* data, std::size_t bytes, std::byte* sink,
              cudaStream_t queue);

}  // namespace convoy::pipelines::bench
