// Strategies on samples that are already where they are computed: no files, no transfers. How fast the
// kernels are, against the ceilings measured in the same run.
#pragma once

#include <string>
#include <vector>

#include "core/conv1d/conv1d.hpp"
#include "pipelines/bench/figures.hpp"

namespace convoy::pipelines::bench {

struct FirBenchOptions {
    device::Device device;
    std::vector<std::string> strategies;  // empty: all but the reference
    std::vector<Index> taps = {25, 63, 127, 255, 1023};
    std::vector<Index> samples = {1 << 20};  // a channel
    std::vector<Index> channels = {1};
    bool interleaved = false;  // frames x channels; else channel after channel
    SampleType in = SampleType::float32;
    Index decimate = 1;
    int repeat = 9;
    int threads = 1;  // of the CPU
};

struct FirRow {
    std::string strategy, reason;  // reason: why there are no figures
    Index taps = 0, samples = 0, channels = 0;
    SampleType in = SampleType::float32;
    double seconds = not_measured;         // median
    double msamples_per_s = not_measured;  // outputs, all channels
    double gflops = not_measured;          // of direct sums: 2 operations a tap, whatever the strategy does
    double gbytes_per_s = not_measured;    // read once and written once
    double floor_s = not_measured;         // the larger of bytes over copy rate and operations over FMA rate
    double floor_share = not_measured;     // floor_s / seconds
    double fma_share = not_measured;       // gflops of the FMA rate
    bool taken = false;                    // by auto
};

struct FirBench {
    double fma_gflops = not_measured;         // of the threads used
    double copy_gbytes_per_s = not_measured;  // read and written
    std::vector<FirRow> rows;
};

FirBench bench_fir(const FirBenchOptions& options);

}  // namespace convoy::pipelines::bench
