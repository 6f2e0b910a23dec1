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

constexpr Index lanes = fft::MixedRadix<float>::lanes();

// Where a part (0 real, 1 imaginary) of sample k of a lane lies.
std::size_t at(Index k, Index part, Index lane) {
    return static_cast<std::size_t>((2 * k + part) * lanes + lane);
}

// Random samples in `lanes` transforms, and the largest error of any, as a share of the root mean square of
// the result.
template <class T>
double error_of(Index n) {
    const std::size_t size = static_cast<std::size_t>(2 * n * lanes);
    const device::Buffer memory(device::cpu(), 2 * size * sizeof(T));
    T* const z = reinterpret_cast<T*>(memory.data());
    std::mt19937 random(static_cast<unsigned>(n));
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < size; ++i)
        z[i] = static_cast<T>(normal(random));
    const std::vector<T> x(z, z + size);
    const T* got = fft::MixedRadix<T>(n).forward(z, z + size);
    double worst = 0;
    for (Index k = 0; k < n; ++k)
        for (Index lane = 0; lane < lanes; lane += 3) {
            std::complex<double> sum = 0;
            for (Index i = 0; i < n; ++i)
                sum += std::complex<double>(x[at(i, 0, lane)], x[at(i, 1, lane)]) *
                       std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % n) /
                                           static_cast<double>(n));
            worst = std::max(worst,
                             std::abs(sum - std::complex<double>(got[at(k, 0, lane)], got[at(k, 1, lane)])));
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
        const std::size_t size = static_cast<std::size_t>(2 * n * lanes);
        const device::Buffer memory(device::cpu(), 2 * size * sizeof(float));
        float* const z = reinterpret_cast<float*>(memory.data());
        std::fill_n(z, size, 0.0f);
        z[at(2, 0, 3)] = z[at(2, 1, 3)] = std::nanf("");
        const float* got = fft::MixedRadix<float>(n).forward(z, z + size);
        for (std::size_t i = 0; i < size; ++i)
            CHECK((i % lanes == 3 ? std::isnan(got[i]) : got[i] == 0));
    }
}
