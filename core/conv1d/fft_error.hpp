// The terms of fft_error() (fft_blocks.hpp), where they are explained: for the CPU and for kernels.
#pragma once

#include "core/base/padding.hpp"

namespace convoy::conv1d {

/// Errors of a pair of blocks are at most fft_error_factor u sqrt(X + Y), X being what its samples make of
/// taps whose norm and gain have these squares, and Y what its circular results do; n is the length, `levels`
/// its log2.
inline constexpr double fft_error_factor = 3;
template <class T>
CONVOY_HD constexpr T fft_error_of_samples(T norm2, T gain2, T n, T levels, T peak, T energy) {
    return norm2 * (2 * levels * energy / n + 4 * peak * peak) + gain2 * energy / n / 4;
}
template <class T>
CONVOY_HD constexpr T fft_error_of_results(T n, T levels, T peak, T energy) {
    return 4 * levels * energy / n + 2 * peak * peak;
}

}  // namespace convoy::conv1d
