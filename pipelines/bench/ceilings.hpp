// What the machine can do at best: the rates that every other figure is a share of.
#pragma once

#include <cstddef>
#include <string>

#include "core/device/device.hpp"
#include "pipelines/bench/figures.hpp"

namespace convoy::pipelines::bench {

struct CeilingOptions {
    device::Device device;
    std::size_t bytes = std::size_t{256} << 20;  // of each buffer and of the file
    int repeat = 7;
    std::string
        folder;  // for the file figures: a file is written there and removed; empty: they are left out
};

/// The host's figures (memory copies, first touch, and file read and write where a folder is given) and, on a
/// GPU, its own: copies each way and both ways, work in place, prefetches, faults, FMA rate, device copies,
/// set-up.
Figures measure_ceilings(const CeilingOptions& options);

/// The two halves.
Figures host_ceilings(const CeilingOptions& options);
Figures gpu_ceilings(const CeilingOptions& options);

}  // namespace convoy::pipelines::bench
