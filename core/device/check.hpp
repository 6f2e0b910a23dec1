// CUDA's status codes as errors that a person can act on. Only *_cuda files include this.
#pragma once

#include <cuda_runtime.h>  // CUDA 12 has the calls that take a cudaMemLocation only here

#include "core/device/device.hpp"

namespace convoy::device {

/// Throws Error if a call of the CUDA runtime failed. `doing` completes "the GPU failed at ...": "copying to
/// the GPU".
void check(cudaError_t status, const char* doing);

/// Throws Error if the kernel launch just made was refused.
inline void check_launch(const char* kernel) {
    check(cudaGetLastError(), kernel);
}

/// Makes a GPU the calling thread's current device (and creates its context, once).
void use(const Device& gpu);

}  // namespace convoy::device
