// What `auto` on the CPU takes a machine to do, in one thread; ratios between strategies are what matters.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/conv1d/conv1d.hpp"

namespace convoy::conv1d::cpu_cost {

/// Block lengths of transforms, as powers of two.
inline constexpr int least_log2 = 8, most_log2 = 20;
using PerLength = std::array<double, most_log2 - least_log2 + 1>;

/// Speeds of one thread. What is shipped was measured with AVX2 at about 3 GHz; measured values count as part
/// of the device.
struct Calibration {
    double direct_flops = 85e9;  // direct sums in float32, 2 a tap; half in float64
    double memory_bytes = 20e9;  // read and written, per second
    double gather_ns = 0.25;     // a sample that is converted or (de)interleaved on its way
    double look_ns = 0.19;       // a float32 sample that the guard of transforms looks at
    // A sample of the two blocks that go through a transform and back, from blocks of 2^least_log2 on.
    PerLength transform32_ns{1.14, 1.13, 1.18, 1.23, 1.25, 1.3, 1.48, 1.62, 1.76, 1.93, 2.4, 4.0, 6.0};
    PerLength transform64_ns{2.3, 2.3, 2.4, 2.5, 2.5, 2.6, 2.7, 3.0, 3.2, 3.4, 6.0, 12.0, 15.0};

    friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// The one in force. Set it before anything is planned: it decides block lengths, and so bits.
const Calibration& calibration();
void set_calibration(const Calibration& measured);
/// Takes the speeds of this machine, in about two seconds, one thread.
Calibration measure_calibration();

/// Seconds for 1e9 outputs that reading and writing alone take, conversions included.
double io_seconds(const Problem& p);
/// Seconds for 1e9 outputs of direct sums.
double direct_seconds(const Problem& p);
/// Seconds for 1e9 outputs of transforms, on samples like noise; empty where no block length will do.
std::optional<double> fft_seconds(const Problem& p);

}  // namespace convoy::conv1d::cpu_cost
