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

/// Speeds of one thread; measured values count as part of the device.
struct Calibration {
    double direct_flops = 124e9;  // direct sums in float32, 2 a tap; half in float64
    double memory_bytes = 40e9;   // read and written, per second
    double gather_ns = 0.095;     // a sample that is converted or (de)interleaved on its way
    double pass_ns = 0.15;        // a sample that direct sums look at, beside their products
    double look_ns = 0.14;        // a float32 sample that the guard of transforms looks at
    double slide_ns = 0.95;       // and one that its sharper bounds look at
    // A sample of the two blocks that go through a transform and back, from blocks of 2^least_log2 on. The
    // shipped ones of long blocks hold with every core at work, which share what is beyond their own caches.
    PerLength transform32_ns{0.73, 0.76, 0.79, 0.85, 0.8, 0.87, 1.02, 1.11, 1.2, 1.45, 1.9, 2.6, 3.6};
    PerLength transform64_ns{1.45, 1.51, 1.61, 1.72, 1.58, 1.71, 1.82, 2.05, 2.18, 2.5, 3.2, 4.6, 6.0};

    friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// The one that is shipped for registers of so many bytes (those of this CPU where none is given): measured
/// at about 3 GHz with AVX2 and with AVX-512.
Calibration shipped_calibration(Index register_bytes);
Calibration shipped_calibration();
/// The one in force. Set it before anything is planned: it decides block lengths, and so bits.
const Calibration& calibration();
void set_calibration(const Calibration& measured);
/// Takes the speeds of this machine, in about two seconds, one thread.
Calibration measure_calibration();

/// Seconds for 1e9 outputs of direct sums.
double direct_seconds(const Problem& p);
/// Seconds for 1e9 outputs of transforms, on samples like noise; empty where no block length will do.
std::optional<double> fft_seconds(const Problem& p);

}  // namespace convoy::conv1d::cpu_cost
