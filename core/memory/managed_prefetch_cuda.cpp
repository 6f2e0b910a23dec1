// Managed memory that moves to the GPU and back by hints. What will be overwritten is discarded where CUDA
// can (13 and newer), so that only what is needed travels: the input goes in and its pages come home empty,
// the output's pages go in empty and come home filled.
#include "core/device/check.hpp"
#include "core/memory/ring_cuda.hpp"

namespace convoy::memory {

namespace {

using device::check;

constexpr bool has_discard = CUDART_VERSION >= 13000;

void prefetch(const Block& block, std::size_t bytes, cudaMemLocation to, cudaStream_t queue) {
    check(cudaMemPrefetchAsync(block.host(), block_bytes(bytes), to, 0, queue), "prefetching a chunk");
}

// The pages move and what was in them does not.
void move_empty(const Block& block, std::size_t bytes, cudaMemLocation to, cudaStream_t queue) {
#if CUDART_VERSION >= 13000
    void* data = block.host();
    std::size_t size = block_bytes(bytes), first = 0;
    check(cudaMemDiscardAndPrefetchBatchAsync(&data, &size, 1, &to, &first, 1, 0, queue),
          "discarding a used chunk");
#else
    prefetch(block, bytes, to, queue);
#endif
}

class PrefetchWays : public Ways {
  public:
    PrefetchWays(const device::Device& gpu, const RingShape& shape)
        : blocks_(gpu, shape, Block::Kind::managed), gpu_{cudaMemLocationTypeDevice, gpu.ordinal} {
        blocks_.for_each(populate);
    }

    Slot on_host(int slot) const override { return blocks_.on_host(slot); }
    Slot on_gpu(int slot) const override { return blocks_.on_host(slot); }
    Phases phases() const override { return {.in = true, .out = true}; }

    void in(int slot, Load load, cudaStream_t queue) override {
        prefetch(blocks_.in(slot), load.in_bytes, gpu_, queue);
        move_empty(blocks_.out(slot), load.out_bytes, gpu_, queue);
    }
    void out(int slot, Load load, cudaStream_t queue) override {
        prefetch(blocks_.out(slot), load.out_bytes, host_, queue);
        move_empty(blocks_.in(slot), load.in_bytes, host_, queue);
    }

    Load moved(Load load) const override {
        if (has_discard) return load;
        return {load.in_bytes + load.out_bytes, load.in_bytes + load.out_bytes};
    }
    Ring::Footprint footprint() const override { return blocks_.footprint(); }

  private:
    Blocks blocks_;
    cudaMemLocation gpu_;
    cudaMemLocation host_{cudaMemLocationTypeHost, 0};
};

std::unique_ptr<Ring> make(const device::Device& gpu, const RingShape& shape) {
    check_managed_budget(shape, gpu);
    return make_ring(gpu, shape.slots, std::make_unique<PrefetchWays>(gpu, shape));
}

}  // namespace

extern constinit const Mode managed_prefetch{"managed-prefetch", "migrate",
                                             "managed memory moved to the GPU and back by prefetches",
                                             managed_unsupported, make};

}  // namespace convoy::memory
