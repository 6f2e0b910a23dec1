// Managed memory that stays on the host: the CPU fills it like any memory, the GPU works on it over the link,
// and nothing migrates. For data that passes once it keeps up with copies, without their device buffers.
#include "core/memory/ring_cuda.hpp"

namespace convoy::memory {

namespace {

std::unique_ptr<Ring> make(const device::Device& gpu, const RingShape& shape) {
    check_managed_budget(shape, gpu);
    return make_in_place_ring(gpu, shape, Block::Kind::managed);
}

}  // namespace

extern constinit const Mode managed{"managed", "in place",
                                    "managed memory that stays on the host; the GPU works on it in place",
                                    managed_unsupported, make};

}  // namespace convoy::memory
