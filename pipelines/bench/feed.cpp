#include "pipelines/bench/feed.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <semaphore>

#include "core/device/ranges.hpp"
#include "pipelines/bench/figures.hpp"

namespace convoy::pipelines::bench {

namespace {

// Copies with the threads of an arena, each one stretch.
void copy_by(tbb::task_arena& arena, std::byte* to, const std::byte* from, std::size_t bytes) {
    const auto parts = static_cast<std::size_t>(arena.max_concurrency());
    const std::size_t part = (bytes / parts + 4096) / 4096 * 4096;
    arena.execute([&] {
        tbb::parallel_for(
            std::size_t{0}, parts,
            [&](std::size_t i) {
                const std::size_t first = std::min(bytes, i * part);
                std::memcpy(to + first, from + first, std::min(part, bytes - first));
            },
            tbb::simple_partitioner());
    });
}

// Chunks that one end has made ready for the other; an end that fails closes it, so that none waits for ever.
class Gate {
  public:
    explicit Gate(std::ptrdiff_t open) : count_(open) {}
    bool enter() {
        count_.acquire();
        return !closed_;
    }
    void leave() { count_.release(); }
    void close() {
        closed_ = true;
        count_.release();
    }

  private:
    std::counting_semaphore<> count_;
    std::atomic<bool> closed_ = false;
};

}  // namespace

Ram::Ram(std::size_t bytes) : source_(bytes), sink_(bytes) {
    // Every word different, so that a chunk in the wrong place is seen.
    for (std::size_t i = 0; i + sizeof i <= bytes; i += sizeof i) {
        const std::size_t word = i * 0x9e3779b97f4a7c15u;
        std::memcpy(&source_[i], &word, sizeof word);
    }
}

std::size_t Ram::offset(std::size_t chunk, std::size_t chunk_bytes) const {
    return chunk % std::max<std::size_t>(1, source_.size() / chunk_bytes) * chunk_bytes;
}

const std::byte* Ram::source(std::size_t chunk, std::size_t chunk_bytes) const {
    return source_.data() + offset(chunk, chunk_bytes);
}

std::byte* Ram::sink(std::size_t chunk, std::size_t chunk_bytes) {
    return sink_.data() + offset(chunk, chunk_bytes);
}

double run_with_cpu(memory::Ring& ring, const Feed& feed, Ram& ram, const memory::Work& work) {
    tbb::task_arena fill(feed.threads), drain(feed.threads);
    Gate empty(feed.slots), full(0);
    const auto slot_of = [&](std::size_t chunk) {
        return static_cast<int>(chunk % static_cast<std::size_t>(feed.slots));
    };
    const Stopwatch watch;
    auto drained = std::async(std::launch::async, [&] {
        try {
            for (std::size_t chunk = 0; chunk < feed.chunks && full.enter(); ++chunk) {
                ring.wait(slot_of(chunk));
                const device::Range range("write");
                copy_by(drain, ram.sink(chunk, feed.chunk_bytes), ring.slot(slot_of(chunk)).out,
                        feed.chunk_bytes);
                empty.leave();
            }
        } catch (...) {
            empty.close();
            throw;
        }
    });
    try {
        for (std::size_t chunk = 0; chunk < feed.chunks && empty.enter(); ++chunk) {
            {
                const device::Range range("read");
                copy_by(fill, ring.slot(slot_of(chunk)).in, ram.source(chunk, feed.chunk_bytes),
                        feed.chunk_bytes);
            }
            ring.submit(slot_of(chunk), feed.chunk_bytes, feed.chunk_bytes, work);
            full.leave();
        }
    } catch (...) {
        full.close();
        throw;
    }
    drained.get();
    return watch.seconds();
}

double run_without_cpu(memory::Ring& ring, const Feed& feed, const memory::Work& work) {
    const Stopwatch watch;
    for (std::size_t chunk = 0; chunk < feed.chunks; ++chunk) {
        const int slot = static_cast<int>(chunk % static_cast<std::size_t>(feed.slots));
        ring.wait(slot);
        ring.submit(slot, feed.chunk_bytes, feed.chunk_bytes, work);
    }
    for (int slot = 0; slot < feed.slots; ++slot)
        ring.wait(slot);
    return watch.seconds();
}

}  // namespace convoy::pipelines::bench
