// Plain host memory, no GPU: the work is done where the samples are, when it is submitted.
#include <utility>
#include <vector>

#include "core/memory/memory.hpp"

namespace convoy::memory {

namespace {

class HostRing : public Ring {
  public:
    HostRing(const device::Device& device, const RingShape& shape) : shape_(shape) {
        for (int i = 0; i < shape.slots; ++i)
            buffers_.emplace_back(device::Buffer(device, shape.in_bytes),
                                  device::Buffer(device, shape.out_bytes));
    }

    Slot slot(int index) const override {
        const auto& [in, out] = buffers_[static_cast<std::size_t>(index)];
        return {in.data(), out.data()};
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
    RingShape shape_;
    std::vector<std::pair<device::Buffer, device::Buffer>> buffers_;
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
