// Memory for one end of a slot: what the CPU fills or reads, and what the GPU may see of it. Whole pieces of
// 2 MiB, so that no two ends share a page and every hint covers exactly one end.
#pragma once

#include <cstddef>

#include "core/device/device.hpp"
#include "core/memory/memory.hpp"

namespace convoy::memory {

class Block {
  public:
    enum class Kind { pageable, pinned, managed };

    /// At least `bytes`, set to zero, on a GPU's machine. Pageable and pinned memory is populated; managed
    /// memory is not yet anywhere (populate it, or let pages come when touched). Throws Error where there is
    /// not enough.
    Block(const device::Device& gpu, Kind kind, std::size_t bytes);
    Block(Block&& other) noexcept;
    Block& operator=(Block&&) = delete;
    ~Block();

    std::byte* host() const { return host_; }
    std::byte* on_gpu() const { return on_gpu_; }  // as the GPU sees it; nullptr for pageable memory
    std::size_t size() const { return size_; }

  private:
    Kind kind_;
    std::size_t size_;
    std::byte* host_ = nullptr;
    std::byte* on_gpu_ = nullptr;
};

/// Bytes of a block for `bytes`: the next multiple of 2 MiB, at least one.
std::size_t block_bytes(std::size_t bytes);

/// Touches every page, with all threads: the memory is then on the host.
void populate(const Block& block);

/// Hints that managed memory is to stay on the host, mapped by the GPU: nothing migrates.
void keep_on_host(const Block& block, const device::Device& gpu);

/// What the managed modes need: an Error's text that names the attribute and its value, or empty.
std::string managed_unsupported(const device::Device& device);

/// Error where a ring of this shape would take more managed memory than a ring may; nothing is allocated yet.
void check_managed_budget(const RingShape& shape, const device::Device& gpu);

}  // namespace convoy::memory
