// Spectrograms of samples that are already where they are computed: how fast the kernels are, against what
// the memory allows.
#pragma once

#include <vector>

#include "core/spectrum/spectrum.hpp"
#include "pipelines/bench/figures.hpp"

namespace convoy::pipelines::bench {

struct StftBenchOptions {
    device::Device device;
    std::vector<Index> nfft = {512, 1024, 2048};
    Index hop_divisor = 4;    // hop = nfft / hop_divisor
    Index samples = 1 << 20;  // a channel
    Index channels = 64;
    spectrum::Quantity quantity = spectrum::Quantity::power;
    int repeat = 9;
    int threads = 1;  // of the CPU
};

struct StftRow {
    Index nfft = 0, hop = 0, samples = 0, channels = 0, frames = 0;  // frames of all channels
    double seconds = not_measured;                                   // median
    double msamples_per_s = not_measured;                            // of the input
    double mframes_per_s = not_measured;
    double gbytes_per_s = not_measured;  // samples read once, values written once
    double floor_s = not_measured;       // those bytes at the rate of a copy
    double floor_share = not_measured;   // floor_s / seconds
};

struct StftBench {
    double copy_gbytes_per_s = not_measured;  // read and written
    std::vector<StftRow> rows;
};

StftBench bench_stft(const StftBenchOptions& options);

}  // namespace convoy::pipelines::bench
