#include "core/fft/block_fft.hpp"

#include "core/fft/lanes.hpp"

namespace convoy::fft {

template <class T, int R>
std::vector<Complex<T>> block_turns() {
    using Fft = BlockFft<T, R>;
    std::vector<Complex<T>> table;
    const auto add = [&](Index k, Index n) {
        const Turn t = turn(k % n, n);
        table.push_back({static_cast<T>(t.cos), static_cast<T>(t.sin)});
    };
    for (Index k = 0; k < R; ++k)
        for (Index t = 0; t < Fft::threads; ++t)
            add(k * t, Fft::size);
    for (Index k = 0; k < R; ++k)
        for (Index n = 0; n < 16; ++n)
            add(k * n, Fft::threads);
    return table;
}

template <class T, int R>
std::vector<Complex<T>> block_spectrum(const std::vector<double>& taps, Index advance) {
    using Fft = BlockFft<double, R>;
    constexpr Index size = Fft::size;
    std::vector<double> series(size, 0.0);
    for (Index k = 0; k < static_cast<Index>(taps.size()); ++k)
        series[static_cast<std::size_t>(((k - advance) % size + size) % size)] +=
            taps[static_cast<std::size_t>(k)] / static_cast<double>(size);
    // The threads of the block, one after the other.
    const std::vector<Complex<double>> turns = block_turns<double, R>();
    std::vector<Complex<double>> x(Fft::exchange);
    for (int t = 0; t < Fft::threads; ++t) {
        Complex<double> a[R];
        for (int n = 0; n < R; ++n)
            a[n] = {series[static_cast<std::size_t>(n * Fft::threads + t)], 0};
        Fft::spread(a, t, turns.data(), x.data());
    }
    for (int t = 0; t < Fft::threads; ++t)
        Fft::middle(t, turns.data(), x.data());
    std::vector<Complex<T>> spectrum(size);
    for (int t = 0; t < Fft::threads; ++t) {
        Complex<double> b[Fft::sums][16];
        Fft::spectrum(b, t, x.data());
        for (int s = 0; s < Fft::sums; ++s)
            for (int j = 0; j < 16; ++j)
                spectrum[static_cast<std::size_t>((s * 16 + j) * Fft::threads + t)] = {
                    static_cast<T>(b[s][j].re), static_cast<T>(b[s][j].im)};
    }
    return spectrum;
}

template std::vector<Complex<float>> block_turns<float, 16>();
template std::vector<Complex<float>> block_turns<float, 32>();
template std::vector<Complex<double>> block_turns<double, 16>();
template std::vector<Complex<double>> block_turns<double, 32>();
template std::vector<Complex<float>> block_spectrum<float, 16>(const std::vector<double>&, Index);
template std::vector<Complex<float>> block_spectrum<float, 32>(const std::vector<double>&, Index);
template std::vector<Complex<double>> block_spectrum<double, 16>(const std::vector<double>&, Index);
template std::vector<Complex<double>> block_spectrum<double, 32>(const std::vector<double>&, Index);

}  // namespace convoy::fft
