// A build without CUDA: there are no GPUs, and memory is the host's.
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/error.hpp"
#include "core/device/device.hpp"
#include "core/device/host_memory.hpp"

namespace convoy::device {

std::size_t Device::free_bytes() const {
    return host_available_bytes();
}

const std::vector<Device>& gpus() {
    static const std::vector<Device> none;
    return none;
}

const std::string& gpu_remark() {
    static const std::string remark = "this program was built without CUDA";
    return remark;
}

Buffer::Buffer(const Device&, std::size_t bytes) : data_(host_allocate(bytes)), size_(bytes) {}

Buffer::~Buffer() {
    host_free(data_);
}

void upload(const Buffer& to, const void* from, std::size_t bytes) {
    std::memcpy(to.data(), from, bytes);
}

void synchronize(const Device&) {}

}  // namespace convoy::device
