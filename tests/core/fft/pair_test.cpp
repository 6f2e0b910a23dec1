// Circular convolution of pairs of blocks against the formula, on every vector target.
#include "core/fft/pair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.hpp"
#include "tests/vector_targets.hpp"

using namespace convoy;

namespace {

struct Case {
    Index n, taps, advance, keep;
};

template <class S>
std::vector<S> noise(Index count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<S> x;
    for (Index i = 0; i < count; ++i)
        x.push_back(static_cast<S>(normal(random)));
    return x;
}

/// Both results, one after the other, and the size that the convolver gave.
template <class T, class S>
std::pair<std::vector<S>, fft::Size<T>> convolve(const Case& c, const std::vector<double>& h,
                                                 const std::vector<S>& a, const std::vector<S>& b) {
    const fft::PairConvolver<T> convolver(c.n);
    const device::Buffer taps = convolver.load(fft::PairConvolver<double>(c.n).spectrum(h, c.advance));
    const device::Buffer scratch(device::cpu(), static_cast<std::size_t>(convolver.scratch()) * sizeof(T));
    std::vector<S> y(static_cast<std::size_t>(2 * c.n), S(77));
    const auto size = convolver.run(taps, a.data(), b.data(), y.data(), y.data() + c.n, c.keep,
                                    reinterpret_cast<T*>(scratch.data()));
    return {y, size};
}

template <class T, class S>
void check_all() {
    for (const Case& c : {Case{256, 1, 0, 256}, Case{256, 40, 39, 217}, Case{512, 200, 0, 77},
                          Case{1024, 300, 299, 725}, Case{4096, 1000, 999, 3097}, Case{8192, 33, 7, 8191}}) {
        const std::vector<double> h = noise<double>(c.taps, 1);
        const std::vector<S> a = noise<S>(c.n, 2), b = noise<S>(c.n, 3);
        const auto [y, size] = convolve<T>(c, h, a, b);
        double peak = 0, norm = 0;
        for (const double v : h)
            norm += v * v;
        // Errors like those of noise, in proportion to the norms.
        const double u =
            std::max<double>(std::numeric_limits<T>::epsilon(), std::numeric_limits<S>::epsilon()) / 2;
        const double allowed = 8 * u * std::sqrt(2 * norm * std::log2(static_cast<double>(c.n)));
        for (int part = 0; part < 2; ++part) {
            const std::vector<S>& x = part == 0 ? a : b;
            for (Index i = 0; i < c.n; i += i < c.keep && c.n > 1024 ? 13 : 1) {
                long double sum = 0;
                for (Index k = 0; k < c.taps; ++k)
                    sum += static_cast<long double>(h[k]) * x[(i + c.advance - k + 2 * c.n) % c.n];
                const double want = static_cast<double>(sum);
                peak = std::max(peak, std::abs(want));
                const S got = y[part * c.n + i];
                if (i < c.keep)
                    CHECK(std::abs(static_cast<double>(got) - want) <= allowed);
                else
                    REQUIRE(got == S(77));  // not written
            }
        }
        CHECK(static_cast<double>(size.peak) >= peak * 0.999);
        CHECK(static_cast<double>(size.energy) > 0.7 * 2 * norm * static_cast<double>(c.n));
        CHECK(static_cast<double>(size.energy) < 1.4 * 2 * norm * static_cast<double>(c.n));
    }
}

template <class T, class S>
void check_every(Index n, Index every) {
    INFO("n " << n << ", every " << every);
    const fft::PairConvolver<T> convolver(n, every);
    const fft::PairConvolver<double> exact(n);
    const std::vector<double> h = noise<double>(n / 3, 1), spectrum = exact.spectrum(h, 5);
    const std::vector<S> a = noise<S>(n, 2), b = noise<S>(n, 3);
    const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
    const device::Buffer taps = convolver.load(spectrum), wide_taps = exact.load(spectrum);
    const device::Buffer scratch(device::cpu(), static_cast<std::size_t>(4 * n) * sizeof(double));
    const Index keep = (n - n / 3) / every - 1;
    std::vector<S> y(static_cast<std::size_t>(2 * n), S(77));
    std::vector<double> all(static_cast<std::size_t>(2 * n));
    const auto whole = exact.run(wide_taps, wide_a.data(), wide_b.data(), all.data(), all.data() + n, n,
                                 reinterpret_cast<double*>(scratch.data()));
    const auto size = convolver.run_every(taps, a.data(), b.data(), y.data(), y.data() + n, keep,
                                          reinterpret_cast<T*>(scratch.data()));
    CHECK(convolver.scratch() <= 4 * n);
    const double u = std::max<double>(std::numeric_limits<T>::epsilon(), std::numeric_limits<S>::epsilon());
    double peak = 0, off = 0;
    for (Index part = 0; part < 2; ++part)
        for (Index i = 0; i < n / every; ++i) {
            const double want = all[part * n + i * every];
            peak = std::max(peak, std::abs(want));
            if (i < keep)
                off = std::max(off, std::abs(static_cast<double>(y[part * n + i]) - want));
            else
                REQUIRE(y[part * n + i] == S(77));  // not written
        }
    CHECK(off < 8 * u * std::sqrt(whole.energy / static_cast<double>(n) * std::log2(n)));
    CHECK(static_cast<double>(size.peak) == Approx(peak).epsilon(1e-3));
    CHECK(static_cast<double>(size.energy) >= 0.999 * whole.energy);
    CHECK(static_cast<double>(size.energy) < 1.5 * whole.energy);
}

}  // namespace

TEST_CASE("pairs are convolved as the formula says, on every vector target") {
    test::each_vector_target([] {
        check_all<float, float>();
        check_all<double, float>();
        check_all<double, double>();
    });
}

TEST_CASE("every so many-th result is that of all, on every vector target") {
    test::each_vector_target([] {
        for (const Index n : {512, 1024, 2048, 4096, 8192})
            for (Index every = 1; every <= fft::PairConvolver<float>::most_every(n); every *= 2) {
                check_every<float, float>(n, every);
                check_every<double, float>(n, every);
                check_every<double, double>(n, every);
            }
    });
}

TEST_CASE("registers of any width give the same bits") {
    const Case c{2048, 500, 499, 1549};
    const std::vector<double> h = noise<double>(c.taps, 1);
    const std::vector<float> a = noise<float>(c.n, 2), b = noise<float>(c.n, 3);
    std::vector<std::vector<float>> narrow, wide;
    test::each_vector_target([&] {
        if (fft::simd_lanes<float>() < 8) return;  // may lack fused multiplication
        narrow.push_back(convolve<float>(c, h, a, b).first);
        wide.push_back(convolve<double>(c, h, a, b).first);
    });
    for (const auto* all : {&narrow, &wide})
        for (const std::vector<float>& y : *all)
            CHECK(y == all->front());
}
