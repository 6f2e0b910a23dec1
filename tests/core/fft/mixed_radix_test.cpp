#include "core/fft/mixed_radix.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "core/device/device.hpp"
#include "tests/catch.hpp"

using namespace convoy;

namespace {

// Random samples in `lanes` transforms, and the largest error of any, as a share of the root mean square of
// the result.
template <class T>
double error_of(Index n) {
    const std::size_t size = static_cast<std::size_t>(n * fft::lanes);
    const device::Buffer memory(device::cpu(), 4 * size * sizeof(T));
    T* const base = reinterpret_cast<T*>(memory.data());
    std::mt19937 random(static_cast<unsigned>(n));
    std::normal_distribution<double> normal;
    std::vector<std::complex<double>> x(size);
    for (std::size_t i = 0; i < size; ++i) {
        base[i] = static_cast<T>(normal(random));
        base[size + i] = static_cast<T>(normal(random));
        x[i] = {static_cast<double>(base[i]), static_cast<double>(base[size + i])};
    }
    const fft::MixedRadix<T> plan(n);
    const auto got = plan.forward({base, base + size}, {base + 2 * size, base + 3 * size});
    double worst = 0;
    for (Index k = 0; k < n; ++k)
        for (Index lane = 0; lane < fft::lanes; lane += 3) {
            std::complex<double> sum = 0;
            for (Index i = 0; i < n; ++i)
                sum += x[i * fft::lanes + lane] *
                       std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % n) /
                                           static_cast<double>(n));
            const std::size_t at = static_cast<std::size_t>(k * fft::lanes + lane);
            worst = std::max(worst, std::abs(sum - std::complex<double>(got.re[at], got.im[at])));
        }
    return worst / std::sqrt(2.0 * static_cast<double>(n));
}

}  // namespace

TEST_CASE("transforms of any length equal the sum that defines them") {
    for (Index n : {1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  12,  15,  16, 20,
                    21, 25, 49, 64, 77, 97, 100, 128, 169, 240, 256, 500, 512}) {
        INFO(n << " points");
        CHECK(error_of<float>(n) < 2e-6);
        CHECK(error_of<double>(n) < 1e-14);
    }
}

TEST_CASE("a NaN stays in its transform, and zeros stay zeros") {
    for (Index n : {7, 8, 60}) {
        const std::size_t size = static_cast<std::size_t>(n * fft::lanes);
        const device::Buffer memory(device::cpu(), 4 * size * sizeof(float));
        float* const base = reinterpret_cast<float*>(memory.data());
        std::fill_n(base, 2 * size, 0.0f);
        base[2 * fft::lanes + 3] = std::nanf("");
        const auto got =
            fft::MixedRadix<float>(n).forward({base, base + size}, {base + 2 * size, base + 3 * size});
        for (Index i = 0; i < n; ++i)
            for (Index lane = 0; lane < fft::lanes; ++lane)
                CHECK((lane == 3 ? std::isnan(got.re[i * fft::lanes + lane])
                                 : got.re[i * fft::lanes + lane] == 0));
    }
}
