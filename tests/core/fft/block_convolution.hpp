// A convolution as the GPU does it, one thread of the block after the other.
#pragma once

#include "core/fft/block_fft.hpp"

namespace convoy::fft {

/// y[i] = sum_k taps[k] z[(i + advance - k) mod N], the steps of BlockFft<T, R>.
template <class T, int R>
std::vector<Complex<T>> block_convolution(const std::vector<Complex<T>>& z, const std::vector<double>& taps,
                                          Index advance) {
    using Fft = BlockFft<T, R>;
    static const auto turns = block_turns<T, R>();
    const auto h = block_spectrum<T, R>(taps, advance);
    std::vector<Complex<T>> x(Fft::exchange), y(Fft::size);
    for (int t = 0; t < Fft::threads; ++t) {
        Complex<T> a[R];
        for (int n = 0; n < R; ++n)
            a[n] = z[static_cast<std::size_t>(n * Fft::threads + t)];
        Fft::spread(a, t, turns.data(), x.data());
    }
    for (int t = 0; t < Fft::threads; ++t)
        Fft::middle(t, turns.data(), x.data());
    for (int t = 0; t < Fft::threads; ++t) {
        Complex<T> b[Fft::sums][16];
        Fft::spectrum(b, t, x.data());
        for (int s = 0; s < Fft::sums; ++s)
            for (int j = 0; j < 16; ++j)
                b[s][j] = b[s][j] * h[static_cast<std::size_t>((s * 16 + j) * Fft::threads + t)];
        Fft::back(b, t, turns.data(), x.data());
    }
    for (int t = 0; t < Fft::threads; ++t)
        Fft::middle_back(t, turns.data(), x.data());
    for (int t = 0; t < Fft::threads; ++t) {
        Complex<T> a[R];
        Fft::gather(a, t, x.data());
        for (int n = 0; n < R; ++n)
            y[static_cast<std::size_t>(n * Fft::threads + t)] = a[n];
    }
    return y;
}

}  // namespace convoy::fft
