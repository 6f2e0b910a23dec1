// A build without CUDA: the CPU is the only device.
#include <algorithm>

#include "core/device/copy.hpp"

namespace convoy::device {

void copy_bytes(const Device&, const std::byte* in, std::byte* out, std::size_t bytes, std::byte flip,
                Stream&) {
    std::transform(in, in + bytes, out, [flip](std::byte b) { return b ^ flip; });
}

}  // namespace convoy::device
