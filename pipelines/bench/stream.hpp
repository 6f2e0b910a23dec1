// Memory modes without files: chunks pass through a ring, with the CPU filling and draining it or with the
// chunks already there. How well a mode feeds a device, and nothing else.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.hpp"
#include "core/memory/memory.hpp"
#include "pipelines/bench/figures.hpp"

namespace convoy::pipelines::bench {

struct StreamBenchOptions {
    device::Device device;
    std::vector<const memory::Mode*> modes;  // empty: all that there are
    std::vector<std::size_t> chunks = {std::size_t{4} << 20, std::size_t{16} << 20, std::size_t{64} << 20};
    int slots = 4;
    std::size_t total = std::size_t{1} << 30;  // bytes each way that one repetition passes
    int repeat = 10;
    int threads = 0;      // that fill, and as many that drain; 0: half of the CPUs allowed
    bool staged = false;  // as a stage that reads its input more than once would have it
    /// The work on a chunk of so many bytes in and out; by default each byte is read once and written once.
    std::function<memory::Work(std::size_t bytes)> work;
};

/// One mode at one chunk size. Rates count bytes each way: 1 GB/s takes 1e9 bytes in and 1e9 bytes out.
struct StreamRow {
    std::string_view mode, mechanism;
    std::string reason;  // why there are no figures; empty where there are
    std::size_t chunk_bytes = 0;
    int slots = 0;
    int threads = 0;          // that fill, and as many that drain
    Spread with_cpu;          // GB/s; the CPU copies each chunk in from RAM and out to RAM
    Spread without_cpu;       // GB/s; NaN where nothing moves unless the CPU touches it
    Spread setup_s;           // making the ring
    memory::Traffic traffic;  // of the last repetition with the CPU
    memory::Ring::Footprint footprint;
};

/// What the CPU alone does at that chunk size, filling and draining a ring on which no work is done: the
/// ceiling of `with_cpu`, GB/s each way.
struct CpuAlone {
    std::size_t chunk_bytes = 0;
    Spread rate;
};

struct StreamBench {
    std::vector<StreamRow> rows;
    std::vector<CpuAlone> cpu_alone;
};

/// Measures every mode at every chunk size, repetitions of the modes interleaved. A mode that the device
/// lacks is a row that says why. Throws Error if bytes come out wrong (default work only).
StreamBench bench_stream(const StreamBenchOptions& options);

}  // namespace convoy::pipelines::bench
