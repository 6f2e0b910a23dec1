#include "core/spectrum/warp_fft.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::spectrum::gpu;

namespace {

std::complex<double> root(int k, int n) {
    return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
}

// What the lanes of a warp do, one after the other.
template <class T, int N>
std::vector<Complex<T>> transform(const std::vector<Complex<T>>& x) {
    using Fft = WarpFft<T, N>;
    std::vector<Complex<T>> twiddles(N), exchange(Fft::exchange), result(Fft::exchange);
    for (int p = 0; p < Fft::points; ++p)
        for (int l = 0; l < Fft::lanes; ++l)
            twiddles[p * Fft::lanes + l] = {static_cast<T>(root(l * p, N).real()),
                                            static_cast<T>(root(l * p, N).imag())};
    for (int lane = 0; lane < Fft::lanes; ++lane) {
        Complex<T> a[Fft::points];
        for (int j = 0; j < Fft::points; ++j)
            a[j] = x[lane + Fft::lanes * j];
        Fft::inner(a, lane, twiddles.data(), exchange.data());
    }
    for (int lane = 0; lane < Fft::lanes; ++lane) {
        Complex<T> a[Fft::sums][Fft::lanes];
        Fft::outer(a, lane, exchange.data());
        Fft::natural(a, lane, result.data());
    }
    return result;
}

template <class T, int N>
void check(double tolerance) {
    std::mt19937 random(N);
    std::normal_distribution<double> normal;
    std::vector<Complex<T>> x(N);
    for (auto& v : x)
        v = {static_cast<T>(normal(random)), static_cast<T>(normal(random))};
    const auto got = transform<T, N>(x);
    double worst = 0;
    std::vector<std::complex<double>> whole(N + 1);
    for (int k = 0; k < N; ++k) {
        std::complex<double> sum = 0;
        for (int n = 0; n < N; ++n)
            sum += std::complex<double>(x[n].re, x[n].im) * root(n * k, N);
        worst = std::max(worst, std::abs(sum - std::complex<double>(got[k].re, got[k].im)));
    }
    CHECK(worst / std::sqrt(2.0 * N) < tolerance);
    // The same numbers as a real series of 2 N samples.
    worst = 0;
    for (int k = 0; k <= N / 2; ++k) {
        const std::complex<double> w = root(k, 2 * N);
        const auto pair = real_pair(got[k], got[(N - k) % N],
                                    Complex<T>{static_cast<T>(w.real()), static_cast<T>(w.imag())});
        std::complex<double> low = 0, high = 0;
        for (int n = 0; n < N; ++n) {
            const double even = x[n].re, odd = x[n].im;
            low += even * root(2 * n * k, 2 * N) + odd * root((2 * n + 1) * k, 2 * N);
            high += even * root(2 * n * (N - k), 2 * N) + odd * root((2 * n + 1) * (N - k), 2 * N);
        }
        worst = std::max({worst, std::abs(low - std::complex<double>(pair.low.re, pair.low.im)),
                          std::abs(high - std::complex<double>(pair.high.re, pair.high.im))});
    }
    CHECK(worst / std::sqrt(2.0 * N) < tolerance);
}

}  // namespace

TEST_CASE("the lanes of a warp together make a transform") {
    check<float, 256>(2e-6);
    check<float, 512>(2e-6);
    check<float, 1024>(2e-6);
    check<double, 512>(2e-14);
}
