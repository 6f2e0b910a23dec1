// Page-locked host memory, device memory, asynchronous copies both ways: what every GPU can do well.
#include "core/memory/ring_cuda.hpp"

namespace convoy::memory {

namespace {

std::string unsupported(const device::Device& device) {
    return device.backend == device::Backend::cuda ? "" : "it needs a GPU, and the work is on the CPU";
}

std::unique_ptr<Ring> make(const device::Device& gpu, const RingShape& shape) {
    return make_copying_ring(gpu, shape, Block::Kind::pinned);
}

}  // namespace

extern constinit const Mode pinned{
    "pinned", "copy engine", "page-locked host memory, copied to device memory and back while others compute",
    unsupported, make};

}  // namespace convoy::memory
