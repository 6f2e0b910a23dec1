// The steps of the GPU's transforms, one thread after the other.
#include "core/fft/block_fft.hpp"

#include <cmath>
#include <random>
#include <set>

#include "tests/catch.hpp"
#include "tests/core/fft/block_convolution.hpp"

using namespace convoy;
using fft::Complex;

namespace {

std::vector<double> noise(Index count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> x;
    for (Index i = 0; i < count; ++i)
        x.push_back(normal(random));
    return x;
}

template <int R>
void check_formula() {
    constexpr Index n = fft::BlockFft<double, R>::size;
    const std::vector<double> a = noise(n, 1), b = noise(n, 2), h = noise(300, 3);
    std::vector<Complex<double>> z;
    for (Index i = 0; i < n; ++i)
        z.push_back({a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(i)]});
    const auto y = fft::block_convolution<double, R>(z, h, 299);
    double worst = 0;
    for (Index i = 0; i < n; i += i < 40 || i > n - 40 ? 1 : 37) {
        double ya = 0, yb = 0;
        for (Index k = 0; k < 300; ++k) {
            const auto at = static_cast<std::size_t>((i + 299 - k + n) % n);
            ya += h[static_cast<std::size_t>(k)] * a[at];
            yb += h[static_cast<std::size_t>(k)] * b[at];
        }
        worst = std::max({worst, std::abs(y[static_cast<std::size_t>(i)].re - ya),
                          std::abs(y[static_cast<std::size_t>(i)].im - yb)});
    }
    CHECK(worst < 1e-12);
}

}  // namespace

TEST_CASE("a block of threads convolves two blocks of samples circularly") {
    check_formula<16>();
    check_formula<32>();
}

TEST_CASE("threads that exchange at once use different banks of shared memory") {
    for (int base = 0; base < 64; base += 16) {
        std::set<int> along, down, first;
        for (int t = base; t < base + 16; ++t) {
            along.insert((t / 16 * 272 + 5 * 17 + t % 16) % 16);
            down.insert((t / 16 * 272 + t % 16 * 17 + 5) % 16);
            first.insert((t / 16 * 17 + t % 16 + 3 * 272) % 16);
        }
        CHECK(along.size() == 16);
        CHECK(down.size() == 16);
        CHECK(first.size() == 16);
    }
}
