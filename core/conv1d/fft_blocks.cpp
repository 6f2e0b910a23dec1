#include "core/conv1d/fft_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy::conv1d {

namespace {

constexpr int least_log2 = 8, most_log2 = 20;

// Nanoseconds that a pair of blocks takes for each sample of a block, by log2 of the block length from 8 on
// (AVX2 at 3 GHz).
constexpr double ns_float[] = {0.39, 0.40, 0.42, 0.46, 0.49, 0.53, 0.69, 0.70, 0.80, 0.86, 0.95, 2.2, 3.0};
constexpr double ns_double[] = {0.75, 0.80, 0.88, 1.0, 1.37, 1.4, 1.6, 1.8, 2.0, 3.0, 4.3, 6.0, 7.2};
constexpr double ns_guard = 0.1;     // for looking at a sample
constexpr double ns_product = 0.02;  // of a direct sum in float

}  // namespace

FftBlocks fft_blocks(const Problem& p) {
    const bool wide = p.arithmetic == SampleType::float64;
    const Index m = static_cast<Index>(p.taps.size());
    FftBlocks best{};
    best.seconds = std::numeric_limits<double>::infinity();
    for (int log2 = least_log2; log2 <= most_log2; ++log2) {
        const Index n = Index{1} << log2;
        for (Index parts = 1; parts == 1 || log2 == most_log2; ++parts) {
            const Index part = (m + parts - 1) / parts;
            const Index keep = (n - part + 1) / p.decimate * p.decimate;
            if (keep <= 0 || 4 * keep < n) {  // too little is kept: a longer block, or more parts
                if (log2 < most_log2) break;
                if (part == 1) break;
                continue;
            }
            const double transform =
                (wide ? ns_double : ns_float)[log2 - least_log2] * static_cast<double>(n * parts);
            const double look = ns_guard * static_cast<double>(2 * keep + m) / 2 * (wide ? 2 : 1);
            const double seconds = (transform + look) / static_cast<double>(keep / p.decimate);
            if (seconds < best.seconds)
                best = {n, part, keep,
                        static_cast<Index>(2 * ns_double[log2 - least_log2] / ns_product *
                                           static_cast<double>(n)),
                        seconds};
            if (keep * 2 >= n) break;  // more parts only cost more
        }
    }
    return best;
}

}  // namespace convoy::conv1d
