// Compiled by nvcc, which alone knows what it compiles kernels for (CMAKE_CUDA_ARCHITECTURES may say
// "native").
#include "core/device/architectures.hpp"

namespace convoy::device {

int oldest_architecture() {
    constexpr int built[] = {__CUDA_ARCH_LIST__};  // in ascending order, as 100 * major + 10 * minor
    return built[0] / 10;
}

}  // namespace convoy::device
