// Managed memory without hints: pages move when they are touched, one fault after another. What most people
// mean by unified memory, and the slow way: here to be compared with.
#include "core/memory/ring_cuda.hpp"

namespace convoy::memory {

namespace {

class FaultWays : public Ways {
  public:
    FaultWays(const device::Device& gpu, const RingShape& shape)
        : blocks_(gpu, shape, Block::Kind::managed) {}

    Slot on_host(int slot) const override { return blocks_.on_host(slot); }
    Slot on_gpu(int slot) const override { return blocks_.on_host(slot); }
    Ring::Footprint footprint() const override { return blocks_.footprint(); }

  private:
    Blocks blocks_;
};

std::unique_ptr<Ring> make(const device::Device& gpu, const RingShape& shape) {
    check_managed_budget(shape, gpu);
    return make_ring(gpu, shape.slots, std::make_unique<FaultWays>(gpu, shape));
}

}  // namespace

extern constinit const Mode managed_fault{"managed-fault", "migrate",
                                          "managed memory without hints: pages move when touched",
                                          managed_unsupported, make};

}  // namespace convoy::memory
