// Feeds a ring from RAM and drains it to RAM, with threads for each end.
#pragma once

#include <cstddef>
#include <vector>

#include "core/memory/memory.hpp"

namespace convoy::pipelines::bench {

/// RAM that chunks come from and go to: as large as fits the caches badly, used over and over.
class Ram {
  public:
    explicit Ram(std::size_t bytes);
    const std::byte* source(std::size_t chunk, std::size_t chunk_bytes) const;
    std::byte* sink(std::size_t chunk, std::size_t chunk_bytes);

  private:
    std::size_t offset(std::size_t chunk, std::size_t chunk_bytes) const;
    std::vector<std::byte> source_, sink_;
};

struct Feed {
    int slots = 0;
    std::size_t chunk_bytes = 0;
    std::size_t chunks = 0;
    int threads = 1;  // that fill, and as many that drain
};

/// Fills, submits, waits for and drains `feed.chunks` chunks; returns seconds from the first fill to the last
/// drain.
double run_with_cpu(memory::Ring& ring, const Feed& feed, Ram& ram, const memory::Work& work);

/// The same with the chunks already in the slots.
double run_without_cpu(memory::Ring& ring, const Feed& feed, const memory::Work& work);

}  // namespace convoy::pipelines::bench
