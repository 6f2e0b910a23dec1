// The ring of every GPU mode: three queues (copy in, compute, copy out) joined by events. A mode says whose
// memory the slots are and how it gets to the GPU and back; nothing here allocates after the ring is made.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "core/device/device.hpp"
#include "core/memory/block_cuda.hpp"
#include "core/memory/memory.hpp"

namespace convoy::memory {

/// What is in use of a slot in one flight.
struct Load {
    std::size_t in_bytes = 0, out_bytes = 0;
};

/// The ways to the GPU and back of one mode.
class Ways {
  public:
    virtual ~Ways() = default;
    virtual Slot on_host(int slot) const = 0;
    virtual Slot on_gpu(int slot) const = 0;
    /// Which ways there are; memory used in place has none. `out_blocks`: the way out holds up the thread
    /// that asks for it, so it is left to the one that waits for the slot.
    struct Phases {
        bool in = false, out = false, out_blocks = false;
    };
    virtual Phases phases() const { return {}; }
    virtual void in(int, Load, cudaStream_t) {}
    virtual void out(int, Load, cudaStream_t) {}
    /// Bytes over the link, for one flight.
    virtual Load moved(Load load) const { return load; }
    virtual Ring::Footprint footprint() const = 0;
};

/// A ring over a mode's ways.
std::unique_ptr<Ring> make_ring(const device::Device& gpu, int slots, std::unique_ptr<Ways> ways);

/// Copy engines move chunks between host blocks and device memory, of which every slot has its own: as many
/// flights overlap as there are slots.
std::unique_ptr<Ring> make_copying_ring(const device::Device& gpu, const RingShape& shape, Block::Kind kind);

/// The GPU works on the host blocks where they are. With `shape.staged` the input is copied to device memory
/// first, for stages that read it more than once; the output is written once and stays in place.
std::unique_ptr<Ring> make_in_place_ring(const device::Device& gpu, const RingShape& shape, Block::Kind kind);

/// The host blocks of a ring, both ends of each slot.
class Blocks {
  public:
    Blocks(const device::Device& gpu, const RingShape& shape, Block::Kind kind);
    const Block& in(int slot) const { return in_[static_cast<std::size_t>(slot)]; }
    const Block& out(int slot) const { return out_[static_cast<std::size_t>(slot)]; }
    Slot on_host(int slot) const { return {in(slot).host(), out(slot).host()}; }
    Ring::Footprint footprint() const;
    template <class F>
    void for_each(F&& f) const {
        for (const auto* ends : {&in_, &out_})
            for (const Block& block : *ends)
                f(block);
    }

  private:
    Block::Kind kind_;
    std::vector<Block> in_, out_;
};

}  // namespace convoy::memory
