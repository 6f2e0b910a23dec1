// What `auto` on the CPU takes a machine to do, per thread; ratios between strategies are what matters.
// Measured on one core with AVX2 at 2.8 GHz (Zen 3).
#pragma once

#include <algorithm>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d::cpu_cost {

inline constexpr double fma_flops = 80e9;         // of the sums in float32, 2 a tap
inline constexpr double memory_bytes = 20e9;      // read and written, per second
inline constexpr Index strip = 24;                // columns that are computed together
inline constexpr double unroll_seconds = 0.5e-9;  // a sample that is copied into a panel

/// Seconds that reading and writing alone take.
inline double io_seconds(const Problem& p) {
    const double bytes = static_cast<double>(p.in_shape().samples() * bytes_of(p.in)) +
                         static_cast<double>(p.out_shape().samples() * bytes_of(p.arithmetic()));
    return bytes / memory_bytes;
}

/// Seconds of the multiply-adds, where `columns` of every `computed` are wanted.
inline double sum_seconds(const Problem& p, double wanted, double computed) {
    const double width = p.arithmetic() == SampleType::float64 ? 2 : 1;
    const double flops = 2 * static_cast<double>(p.terms()) * static_cast<double>(p.out_shape().samples());
    return flops * width / fma_flops * computed / wanted;
}

}  // namespace convoy::conv2d::cpu_cost
