// Page-locked host memory that the GPU loads and stores in place.
#include "core/memory/ring_cuda.hpp"

namespace convoy::memory {

namespace {

std::string unsupported(const device::Device& device) {
    if (device.backend != device::Backend::cuda) return "it needs a GPU, and the work is on the CPU";
    return device.attributes.can_map_host_memory ? "" : "canMapHostMemory is 0 on " + device.id();
}

std::unique_ptr<Ring> make(const device::Device& gpu, const RingShape& shape) {
    return make_in_place_ring(gpu, shape, Block::Kind::pinned);
}

}  // namespace

extern constinit const Mode mapped{
    "mapped", "in place", "page-locked host memory that the GPU works on in place", unsupported, make};

}  // namespace convoy::memory
