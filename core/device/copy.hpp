// The least that a device can do with bytes: read each once, write each once. What memory modes are measured
// and tested with.
#pragma once

#include <cstddef>

#include "core/device/device.hpp"

namespace convoy::device {

/// Queues out[i] = in[i] ^ flip for `bytes` bytes, done by the device's own processors (not by its copy
/// engines). Both ends are memory that the device can see; they do not overlap. flip 0 copies, 0xff turns
/// every bit.
void copy_bytes(const Device& device, const std::byte* in, std::byte* out, std::size_t bytes, std::byte flip,
                Stream& stream);

}  // namespace convoy::device
