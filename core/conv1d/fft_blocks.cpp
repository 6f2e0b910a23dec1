#include "core/conv1d/fft_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/conv1d/cpu_cost.hpp"
#include "core/fft/pair.hpp"

namespace convoy::conv1d {

namespace {

/// Blocks of 2^log2 samples for taps in so many parts; empty where less than a quarter would be kept.
std::optional<FftBlocks> blocks_of(const Problem& p, int log2, Index parts) {
    const cpu_cost::Calibration& c = cpu_cost::calibration();
    const bool wide = p.arithmetic == SampleType::float64;
    const Index m = static_cast<Index>(p.taps.size()), n = Index{1} << log2;
    FftBlocks b;
    b.length = n;
    b.part = (m + parts - 1) / parts;
    b.keep = (n - b.part + 1) / p.decimate * p.decimate;
    if (b.keep <= 0 || 4 * b.keep < n) return std::nullopt;
    while (p.decimate % (2 * b.every) == 0 && 2 * b.every <= fft::PairConvolver<float>::most_every(n))
        b.every *= 2;
    // The way there and the products take two thirds of the time.
    const double share = b.every == 1 ? 1 : (2 + 1 / static_cast<double>(b.every)) / 3;
    const auto at = static_cast<std::size_t>(log2 - cpu_cost::least_log2);
    const double outputs = static_cast<double>(b.keep / p.decimate), length = static_cast<double>(n);
    b.affordable32 = static_cast<Index>(2 * c.transform32_ns[at] / product_ns() * length);
    b.affordable64 = static_cast<Index>(2 * c.transform64_ns[at] / product_ns() * length);
    b.transform = (wide ? c.transform64_ns : c.transform32_ns)[at] * share * length *
                  static_cast<double>(parts) / outputs;
    b.look = c.look_ns * (wide ? 2 : 1) * static_cast<double>(2 * b.keep + m) / 2 / outputs;
    return b;
}

}  // namespace

FftBlocks fft_blocks(const Problem& p) {
    std::optional<FftBlocks> best;
    // Shorter blocks have smaller errors, and need less of what mends them: longer ones have to be worth it.
    const auto take = [&](std::optional<FftBlocks> b) {
        if (b && (!best || b->transform + b->look < 0.98 * (best->transform + best->look))) best = b;
    };
    for (int log2 = cpu_cost::least_log2; log2 <= cpu_cost::most_log2; ++log2)
        take(blocks_of(p, log2, 1));
    // Longer filters: parts that leave at least half of the longest block.
    const Index most = Index{1} << (cpu_cost::most_log2 - 1), m = static_cast<Index>(p.taps.size());
    if (!best) take(blocks_of(p, cpu_cost::most_log2, (m + most - 1) / most));
    return best.value_or(FftBlocks{});
}

double fft_error(double u, TapsSize taps, Index n, double peak_x, double energy_x, double peak_y,
                 double energy_y) {
    const double length = static_cast<double>(n), levels = std::log2(length);
    const double there =
        fft_error_of_samples(taps.norm * taps.norm, taps.gain * taps.gain, length, levels, peak_x, energy_x);
    return fft_error_factor * u * std::sqrt(there + fft_error_of_results(length, levels, peak_y, energy_y));
}

double needed_in_noise(Index taps, TapsSize size, Index n) {
    // Both blocks have n samples of variance 1 and peak 4.5, and results of the taps' norm times that.
    const double energy = 2 * static_cast<double>(n);
    const double error = fft_error(1, size, n, 4.5, energy, 4.5 * size.norm, energy * size.norm * size.norm);
    return error / (4 * (2 + std::sqrt(static_cast<double>(taps))));
}

bool enough_for_noise(Index taps, TapsSize size, Index n, double bound) {
    return bound > 1.2 * needed_in_noise(taps, size, n);
}

double product_ns() {
    // Double has half the lanes, and samples are loaded and converted for each product: six times as long.
    return 12e9 / cpu_cost::calibration().direct_flops;
}

}  // namespace convoy::conv1d
