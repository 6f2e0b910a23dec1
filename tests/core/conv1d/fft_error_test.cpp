// The rounding errors that transforms are taken to make at most (fft_error), against those that they make: on
// blocks that butterflies are worst at, there is a margin, and not so wide a one that the formula would be
// idle.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/conv1d/fft_blocks.hpp"
#include "core/fft/pair.hpp"
#include "tests/catch.hpp"
#include "tests/core/fft/block_convolution.hpp"
#include "tests/vector_targets.hpp"

using namespace convoy;
using namespace convoy::conv1d;

namespace {

using Random = std::mt19937;

double uniform(Random& random, double from = 0, double to = 1) {
    return std::uniform_real_distribution<double>(from, to)(random);
}

/// One of eleven kinds of filters.
std::vector<double> filter(int kind, Index taps, Random& random) {
    std::normal_distribution<double> normal;
    std::vector<double> h(static_cast<std::size_t>(taps));
    const double cutoff = uniform(random, 0.002, 0.4), tone = uniform(random, 0, 0.5),
                 line = static_cast<double>(random() % 33) / 64;
    for (Index k = 0; k < taps; ++k) {
        const double t = static_cast<double>(k) - static_cast<double>(taps - 1) / 2;
        const double w =
            0.54 + 0.46 * std::cos(2 * M_PI * t / static_cast<double>(std::max<Index>(taps - 1, 1)));
        const double low = (t == 0 ? 2 * cutoff : std::sin(2 * M_PI * cutoff * t) / (M_PI * t)) * w;
        h[k] = kind == 0   ? low
               : kind == 1 ? low * std::cos(2 * M_PI * tone * t)
               : kind == 2 ? (t == 0 ? 1 : 0) - low
               : kind == 3 ? 1.0 / static_cast<double>(taps)
               : kind == 4 ? normal(random)
               : kind == 5 ? std::exp(-8.0 * static_cast<double>(k) / static_cast<double>(taps))
               : kind == 6 ? (k == taps / 3 ? 1 : 0)
               : kind == 7 ? (k == 0          ? 1
                              : k == taps - 1 ? -1
                                              : 0)
               : kind == 8 ? (k % 2 == 0 ? 1 : -1) * w
               : kind == 9 ? (k % 16 == 0 ? normal(random) : 0)
                           : std::cos(2 * M_PI * line * t) * w;
    }
    return h;
}

/// 2 n samples, both blocks, of one of fourteen kinds.
std::vector<float> samples(int kind, Index n, Random& random) {
    std::normal_distribution<double> normal;
    std::vector<float> x(static_cast<std::size_t>(2 * n));
    const double bin = std::floor(uniform(random, 0, static_cast<double>(n / 2))), off = uniform(random),
                 loud = std::pow(10, uniform(random, 0, 6)), line = static_cast<double>(random() % 33) / 64;
    const Index at = static_cast<Index>(random()) % (2 * n),
                long_ = 1 + static_cast<Index>(random()) % (n / 8), every = Index{1} << random() % 8;
    for (Index i = 0; i < 2 * n; ++i) {
        const double t = static_cast<double>(i), v = normal(random),
                     turn = 2 * M_PI * t / static_cast<double>(n);
        const bool inside = i >= at && i < at + long_;
        x[i] =
            static_cast<float>(kind == 0    ? v
                               : kind == 1  ? std::cos(bin * turn)
                               : kind == 2  ? std::cos((bin + off) * turn)
                               : kind == 3  ? std::cos(bin * turn) + std::sin((bin / 3 + off) * turn)
                               : kind == 4  ? (i >= at ? 1 : 0)
                               : kind == 5  ? (i % every == 0 ? 1 : 0)
                               : kind == 6  ? (i % every == 0 ? v : 0)
                               : kind == 7  ? (i == at ? 1 : 0)
                               : kind == 8  ? (random() % 256 == 0 ? v : 0)
                               : kind == 9  ? (inside ? loud * v : v)
                               : kind == 10 ? (inside ? 1 : 0)
                               : kind == 11 ? std::cos(line * t * 2 * M_PI)
                               : kind == 12 ? (i % n < n / 2 ? std::cos(line * t * 2 * M_PI) : 0) + 1e-3 * v
                                            : 1000 + v);
    }
    return x;
}

/// The largest error among the results of both blocks, as a share of fft_error().
double share(Index n, const std::vector<double>& h, const std::vector<float>& x) {
    const fft::PairConvolver<float> single(n);
    const fft::PairConvolver<double> exact(n);
    const auto spectrum = exact.spectrum(h, static_cast<Index>(h.size()) - 1);
    const device::Buffer h32 = single.load(spectrum), h64 = exact.load(spectrum);
    const device::Buffer scratch(device::cpu(), static_cast<std::size_t>(exact.scratch()) * sizeof(double));
    std::vector<float> y(static_cast<std::size_t>(2 * n));
    std::vector<double> wide(x.begin(), x.end()), want(y.size());
    const auto size = single.run(h32, x.data(), x.data() + n, y.data(), y.data() + n, n,
                                 reinterpret_cast<float*>(scratch.data()));
    exact.run(h64, wide.data(), wide.data() + n, want.data(), want.data() + n, n,
              reinterpret_cast<double*>(scratch.data()));
    double norm = 0, peak = 0, energy = 0, off = 0;
    for (const double v : h)
        norm += v * v;
    for (const double v : wide) {
        peak = std::max(peak, std::abs(v));
        energy += v * v;
    }
    for (std::size_t i = 0; i < y.size(); ++i)
        off = std::max(off, std::abs(static_cast<double>(y[i]) - want[i]));
    if (peak == 0) return 0;
    const TapsSize taps{std::sqrt(norm), fft::largest_of(spectrum) * static_cast<double>(n)};
    return off / fft_error(0x1p-24, taps, n, peak, energy, size.peak, size.energy);
}

/// The same of the GPU's transforms.
template <int R>
double block_share(const std::vector<double>& h, const std::vector<float>& x) {
    constexpr Index n = fft::BlockFft<float, R>::size;
    std::vector<fft::Complex<float>> z(n);
    std::vector<fft::Complex<double>> wide(n);
    double norm = 0, gain = 0, peak = 0, energy = 0, peak_y = 0, energy_y = 0, off = 0;
    for (const double v : h)
        norm += v * v;
    for (const auto& bin : fft::block_spectrum<double, R>(h, 0))
        gain = std::max(gain, std::hypot(bin.re, bin.im) * static_cast<double>(n));
    for (Index i = 0; i < n; ++i) {
        z[i] = {x[i], x[i + n]};
        wide[i] = {x[i], x[i + n]};
        peak = std::max({peak, std::abs(wide[i].re), std::abs(wide[i].im)});
        energy += wide[i].re * wide[i].re + wide[i].im * wide[i].im;
    }
    const Index advance = static_cast<Index>(h.size()) - 1;
    const auto y = fft::block_convolution<float, R>(z, h, advance);
    const auto want = fft::block_convolution<double, R>(wide, h, advance);
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double re = y[i].re, im = y[i].im;
        peak_y = std::max({peak_y, std::abs(re), std::abs(im)});
        energy_y += re * re + im * im;
        off = std::max({off, std::abs(re - want[i].re), std::abs(im - want[i].im)});
    }
    return peak == 0 ? 0
                     : off / fft_error(0x1p-24, {std::sqrt(norm), gain}, n, peak, energy, peak_y, energy_y);
}

template <int R>
double block_worst(int blocks) {
    constexpr Index n = fft::BlockFft<float, R>::size;
    Random random(R);
    double largest = 0;
    for (int i = 0; i < blocks; ++i) {
        const Index taps = 1 + static_cast<Index>(random()) % (n / 2);
        const double s = block_share<R>(filter(i % 11, taps, random), samples(i / 11 % 14, n, random));
        INFO("filter " << i % 11 << ", samples " << i / 11 % 14 << ", taps " << taps);
        CHECK(s < 0.8);
        largest = std::max(largest, s);
    }
    return largest;
}

double worst(int blocks, Index least, Index most) {
    Random random(static_cast<unsigned>(most));
    double largest = 0;
    for (int i = 0; i < blocks; ++i) {
        Index n = least;
        while (n < most && random() % 2 == 0)
            n *= 2;
        const Index taps = 1 + static_cast<Index>(random()) % (n / 2);
        const int shape = i % 11, kind = i / 11 % 14;
        const double s = share(n, filter(shape, taps, random), samples(kind, n, random));
        INFO("filter " << shape << ", samples " << kind << ", n " << n << ", taps " << taps);
        CHECK(s < 0.8);
        largest = std::max(largest, s);
    }
    return largest;
}

}  // namespace

TEST_CASE("transforms make at most four fifths of the errors that they are taken to make") {
    test::each_vector_target([] {
        const double largest = worst(1200, 256, 8192);
        INFO("largest share " << largest);
        CHECK(largest > 0.4);
    });
    CHECK(worst(120, 16384, 65536) > 0.2);
}

TEST_CASE("so do those of the GPU") {
    const double largest = std::max(block_worst<16>(460), block_worst<32>(154));
    INFO("largest share " << largest);
    CHECK(largest > 0.2);
}
