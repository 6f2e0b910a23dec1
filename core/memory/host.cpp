// Plain host memory, no GPU: the work is done where the samples are, when it is submitted.
#include "core/memory/memory.hpp"

namespace convoy::memory {

namespace {

class HostRing : public Ring {
  public:
    HostRing(const device::Device& device, const RingShape& shape)
        : shape_(shape),
          in_(rounded(shape.in_bytes)),
          out_(rounded(shape.out_bytes)),
          memory_(device, static_cast<std::size_t>(shape.slots) * (in_ + out_)) {}

    Slot slot(int index) const override {
        std::byte* const in = memory_.data() + static_cast<std::size_t>(index) * (in_ + out_);
        return {in, in + in_};
    }

    void submit(int index, std::size_t, std::size_t, const Work& work) override {
        device::Stream here;
        const Slot s = slot(index);
        work(s.in, s.out, here);
    }

    void wait(int) override {}

    Footprint footprint() const override {
        return {.host = static_cast<std::size_t>(shape_.slots) * (shape_.in_bytes + shape_.out_bytes)};
    }

  private:
    // To whole cache lines, and one more: slots at the same place of a page would share the cache's sets.
    static std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

    RingShape shape_;
    std::size_t in_, out_;
    device::Buffer memory_;  // of all slots: in huge pages, which are touched at once
};

std::string unsupported(const device::Device& device) {
    return device.backend == device::Backend::cpu
               ? ""
               : "host memory is for the CPU; " + device.id() + " is a GPU";
}

std::unique_ptr<Ring> make(const device::Device& device, const RingShape& shape) {
    return std::make_unique<HostRing>(device, shape);
}

}  // namespace

extern constinit const Mode host{"host", "CPU", "plain host memory, no GPU", unsupported, make};

}  // namespace convoy::memory
