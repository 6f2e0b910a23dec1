// What `auto` on the CPU takes a machine to do, per thread; ratios between strategies are what matters.
// Measured on one core with AVX2 at 2.8 GHz (Zen 3).
#pragma once

#include <algorithm>
#include <cmath>

#include "core/conv1d/conv1d.hpp"

namespace convoy::conv1d::cpu_cost {

inline constexpr double fma_flops = 85e9;     // of the direct sums in float32, 2 a tap
inline constexpr double memory_bytes = 20e9;  // read and written, per second
inline constexpr double gather_ns = 0.25;     // a sample that is converted or (de)interleaved on its way

/// Seconds for 1e9 outputs that reading and writing alone take, conversions included.
inline double io_seconds(const Problem& p) {
    const double in = static_cast<double>(p.decimate);
    const double bytes =
        in * static_cast<double>(bytes_of(p.in)) + static_cast<double>(bytes_of(p.arithmetic));
    const bool planar = p.shape.inner == 1, in_place = planar && p.in == p.arithmetic && p.scaling.trivial();
    return 1e9 * bytes / memory_bytes + (in_place ? 0 : in * gather_ns) + (planar ? 0 : gather_ns);
}

/// Seconds for 1e9 outputs of direct sums.
inline double direct_seconds(const Problem& p) {
    const double taps = static_cast<double>(p.taps.size());
    const double width = p.arithmetic == SampleType::float64 ? 2 : 1;
    const double split =
        p.decimate > 1 ? static_cast<double>(std::min<Index>(p.decimate, p.taps.size())) * gather_ns : 0;
    return std::max(io_seconds(p), 1e9 * 2 * taps * width / fma_flops) + split;
}

}  // namespace convoy::conv1d::cpu_cost
