#include "core/device/host_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "core/base/error.hpp"

namespace convoy::device {

namespace {

constexpr std::size_t huge = std::size_t{2} << 20, page = 4096;
constexpr std::size_t least = std::size_t{128} << 10;  // of blocks that are mapped

std::size_t rounded(std::size_t bytes, std::size_t step) {
    return (bytes + step - 1) / step * step;
}

/// Whole pages, from 2 MiB on huge ones and aligned to them; nullptr where there is not enough memory.
std::byte* map_pages(std::size_t size) {
    const std::size_t alignment = size >= huge ? huge : page;
    void* const data =
        ::mmap(nullptr, size + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
    std::byte* const from = static_cast<std::byte*>(data);
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const std::size_t before = rounded(address, alignment) - address;
    if (before > 0) ::munmap(from, before);
    if (before < alignment) ::munmap(from + before + size, alignment - before);
    // A wish: first touch is several times faster.
    if (alignment == huge) ::madvise(from + before, size, MADV_HUGEPAGE);
    return from + before;
}

/// Blocks of whole pages. Those that are given back wait for the next file of a batch: pages that were
/// touched before cost nothing. What waits and what is in use stay within the most that a stream takes.
class Blocks {
  public:
    std::byte* take(std::size_t size) {
        const std::scoped_lock lock(mutex_);
        if (const auto at = waiting_.lower_bound(size); at != waiting_.end() && at->first <= 2 * size) {
            std::byte* const data = at->second;
            waiting_.erase(at);
            return data;
        }
        if (all_bytes_ + size > most) unmap_waiting();
        std::byte* data = map_pages(size);
        if (data == nullptr) {
            unmap_waiting();
            data = map_pages(size);
        }
        if (data == nullptr) return nullptr;
        sizes_.emplace(data, size);
        all_bytes_ += size;
        return data;
    }

    /// Whether the block was one of these.
    bool give_back(std::byte* data) {
        const std::scoped_lock lock(mutex_);
        const auto at = sizes_.find(data);
        if (at == sizes_.end()) return false;
        waiting_.emplace(at->second, data);
        if (all_bytes_ > most) unmap_waiting();
        return true;
    }

  private:
    static constexpr std::size_t most = std::size_t{176} << 20;

    void unmap_waiting() {
        for (const auto& [size, data] : waiting_) {
            ::munmap(data, size);
            sizes_.erase(data);
            all_bytes_ -= size;
        }
        waiting_.clear();
    }

    std::mutex mutex_;
    std::map<std::byte*, std::size_t> sizes_;         // of all blocks
    std::multimap<std::size_t, std::byte*> waiting_;  // by size
    std::size_t all_bytes_ = 0;
};

Blocks& blocks() {
    static Blocks& there = *new Blocks;  // never destroyed: buffers may live as long as the program
    return there;
}

}  // namespace

std::byte* host_allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    std::byte* const data = bytes >= least
                                ? blocks().take(rounded(bytes, bytes >= huge ? huge : page))
                                : static_cast<std::byte*>(std::aligned_alloc(64, rounded(bytes, 64)));
    if (data == nullptr)
        throw failed({}, "no memory for " + std::to_string(bytes) + " bytes", "use a smaller --chunk");
    return data;
}

void host_free(std::byte* data) noexcept {
    if (data == nullptr) return;
    if (reinterpret_cast<std::uintptr_t>(data) % page == 0 && blocks().give_back(data)) return;
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
