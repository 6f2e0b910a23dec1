// 2-D strategies on images that are already where they are computed, against the ceilings measured in the
// same run.
#pragma once

#include <string>
#include <vector>

#include "core/conv2d/conv2d.hpp"
#include "pipelines/bench/figures.hpp"

namespace convoy::pipelines::bench {

/// Images and kernels of a benchmark, by numbers alone.
struct Conv2dShape {
    Index images, channels, rows, columns;  // N, C, H, W
    Index filters, tap_rows, tap_columns;   // K, R, S
    Index stride = 1, padding = 0, dilation = 1;
};
/// "N,C,H,W,K,R,S,stride,padding,dilation", the last three optional. Error (a wrong request) for anything
/// else.
Conv2dShape parse_conv2d_shape(const std::string& text);
std::string to_text(const Conv2dShape& shape);
/// Twelve: filters over spectrograms, and layers of networks that listen.
const std::vector<Conv2dShape>& usual_conv2d_shapes();

struct Conv2dBenchOptions {
    device::Device device;
    std::vector<std::string> strategies;  // empty: the one that auto takes
    std::vector<Conv2dShape> shapes = usual_conv2d_shapes();
    conv2d::Precision precision = conv2d::Precision::float32;
    bool channels_last = false;  // NHWC
    int repeat = 9;
    int threads = 1;  // of the CPU
};

struct Conv2dRow {
    Conv2dShape shape;
    std::string strategy, reason;  // reason: why there are no figures
    double gflop = not_measured;
    double seconds = not_measured;  // median
    double gflops = not_measured;
    double bytes_floor_s = not_measured;  // read once and written once at the copy rate
    double fma_floor_s = not_measured;    // products at the FMA rate
    double floor_share = not_measured;    // the larger floor / seconds
};

struct Conv2dBench {
    double fma_gflops = not_measured;
    double copy_gbytes_per_s = not_measured;
    std::vector<Conv2dRow> rows;
};

Conv2dBench bench_conv2d(const Conv2dBenchOptions& options);

}  // namespace convoy::pipelines::bench
