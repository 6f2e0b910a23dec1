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

}  // namespace

TEST_CASE("pairs are convolved as the formula says, on every vector target") {
    test::each_vector_target([] {
        check_all<float, float>();
        check_all<double, float>();
        check_all<double, double>();
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
