// Plain host memory, copied to device memory and back: the driver stages every copy, and the calling thread
// waits.
#include "core/memory/ring_cuda.hpp"

namespace convoy::memory {

namespace {

std::string unsupported(const device::Device& device) {
    return device.backend == device::Backend::cuda ? "" : "it needs a GPU, and the work is on the CPU";
}

std::unique_ptr<Ring> make(const device::Device& gpu, const RingShape& shape) {
    return make_copying_ring(gpu, shape, Block::Kind::pageable);
}

}  // namespace

extern constinit const Mode pageable{
    "pageable", "copy engine", "plain host memory, copied to device memory and back", unsupported, make};

}  // namespace convoy::memory
