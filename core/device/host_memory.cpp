#include "core/device/host_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/error.hpp"

namespace convoy::device {

std::byte* host_allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    constexpr std::size_t huge = std::size_t{2} << 20;
    const std::size_t alignment = bytes >= huge ? huge : 64;
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    void* data = std::aligned_alloc(alignment, size);
    if (data == nullptr)
        throw failed({}, "no memory for " + std::to_string(bytes) + " bytes", "use a smaller --chunk");
    if (alignment == huge) madvise(data, size, MADV_HUGEPAGE);  // a wish: first touch is several times faster
    return static_cast<std::byte*>(data);
}

void host_free(std::byte* data) noexcept {
    std::free(data);
}

std::size_t host_available_bytes() {
    std::ifstream in("/proc/meminfo");
    std::string key;
    std::size_t kib = 0;
    for (std::string rest; in >> key >> kib; std::getline(in, rest))
        if (key == "MemAvailable:") return kib * 1024;
    return 0;
}

}  // namespace convoy::device
