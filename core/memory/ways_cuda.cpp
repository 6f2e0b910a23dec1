// The ways that several modes share: copies by the engines, and work in place.
#include <utility>

#include "core/device/check.hpp"
#include "core/memory/ring_cuda.hpp"

namespace convoy::memory {

namespace {

using device::check;

// Device memory, one piece a slot.
class DeviceSlots {
  public:
    DeviceSlots(const device::Device& gpu, int slots, std::size_t bytes) {
        for (int i = 0; i < slots; ++i)
            buffers_.emplace_back(gpu, bytes);
    }
    std::byte* at(int slot) const { return buffers_[static_cast<std::size_t>(slot)].data(); }
    std::size_t size() const {
        std::size_t all = 0;
        for (const device::Buffer& b : buffers_)
            all += b.size();
        return all;
    }

  private:
    std::vector<device::Buffer> buffers_;
};

class CopyWays : public Ways {
  public:
    CopyWays(const device::Device& gpu, const RingShape& shape, Block::Kind kind)
        : blocks_(gpu, shape, kind),
          in_(gpu, shape.slots, block_bytes(shape.in_bytes)),
          out_(gpu, shape.slots, block_bytes(shape.out_bytes)),
          out_blocks_(kind == Block::Kind::pageable) {}

    Slot on_host(int slot) const override { return blocks_.on_host(slot); }
    Slot on_gpu(int slot) const override { return {in_.at(slot), out_.at(slot)}; }
    Phases phases() const override { return {.in = true, .out = true, .out_blocks = out_blocks_}; }

    void in(int slot, Load load, cudaStream_t queue) override {
        check(cudaMemcpyAsync(in_.at(slot), blocks_.in(slot).host(), load.in_bytes, cudaMemcpyHostToDevice,
                              queue),
              "copying a chunk to it");
    }
    void out(int slot, Load load, cudaStream_t queue) override {
        check(cudaMemcpyAsync(blocks_.out(slot).host(), out_.at(slot), load.out_bytes, cudaMemcpyDeviceToHost,
                              queue),
              "copying a chunk from it");
    }

    Ring::Footprint footprint() const override {
        Ring::Footprint f = blocks_.footprint();
        f.device = in_.size() + out_.size();
        return f;
    }

  private:
    Blocks blocks_;
    DeviceSlots in_, out_;
    bool out_blocks_;
};

class InPlaceWays : public Ways {
  public:
    InPlaceWays(const device::Device& gpu, const RingShape& shape, Block::Kind kind)
        : kind_(kind == Block::Kind::managed ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice),
          blocks_(gpu, shape, kind),
          staging_(gpu, shape.staged ? shape.slots : 0, block_bytes(shape.in_bytes)),
          staged_(shape.staged) {
        if (kind != Block::Kind::managed) return;
        blocks_.for_each([&](const Block& block) { keep_on_host(block, gpu); });
        blocks_.for_each(populate);
    }

    Slot on_host(int slot) const override { return blocks_.on_host(slot); }
    Slot on_gpu(int slot) const override {
        return {staged_ ? staging_.at(slot) : blocks_.in(slot).on_gpu(), blocks_.out(slot).on_gpu()};
    }
    Phases phases() const override { return {.in = staged_}; }

    // Managed memory is named as the GPU's own, which it can reach where it lies: else the driver takes it
    // for pageable memory and stages it (7 GB/s in place of 50 on one H200).
    void in(int slot, Load load, cudaStream_t queue) override {
        check(cudaMemcpyAsync(staging_.at(slot), blocks_.in(slot).on_gpu(), load.in_bytes, kind_, queue),
              "copying a chunk to it");
    }

    Ring::Footprint footprint() const override {
        Ring::Footprint f = blocks_.footprint();
        f.device = staging_.size();
        f.staged = staged_;
        return f;
    }

  private:
    cudaMemcpyKind kind_;
    Blocks blocks_;
    DeviceSlots staging_;
    bool staged_;
};

}  // namespace

std::unique_ptr<Ring> make_copying_ring(const device::Device& gpu, const RingShape& shape, Block::Kind kind) {
    return make_ring(gpu, shape.slots, std::make_unique<CopyWays>(gpu, shape, kind));
}

std::unique_ptr<Ring> make_in_place_ring(const device::Device& gpu, const RingShape& shape,
                                         Block::Kind kind) {
    return make_ring(gpu, shape.slots, std::make_unique<InPlaceWays>(gpu, shape, kind));
}

}  // namespace convoy::memory
