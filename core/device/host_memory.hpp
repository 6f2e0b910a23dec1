// Plain host memory for buffers and rings: aligned to 2 MiB from that size on (huge pages), to 64 bytes
// below.
#pragma once

#include <cstddef>

namespace convoy::device {

/// Memory of `bytes` (0 gives nullptr); throws Error where there is not enough.
std::byte* host_allocate(std::size_t bytes);
void host_free(std::byte* data) noexcept;
/// What the system says could be allocated without swapping (MemAvailable).
std::size_t host_available_bytes();

}  // namespace convoy::device
