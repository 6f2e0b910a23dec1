// The lane-batched FFT against a plain DFT in long double, lane by lane.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/device/device.hpp"
#include "core/fft/lanes.hpp"
#include "tests/catch.hpp"

namespace {

using convoy::Index;
using Bin = std::complex<long double>;

template <class T>
struct Batch {
    explicit Batch(Index values)
        : memory(convoy::device::cpu(), static_cast<std::size_t>(values) * sizeof(T)) {}
    T* data() { return reinterpret_cast<T*>(memory.data()); }
    convoy::device::Buffer memory;
};

std::vector<Bin> dft(const std::vector<Bin>& x) {
    const Index n = static_cast<Index>(x.size());
    std::vector<Bin> turns, out;
    for (Index k = 0; k < n; ++k)
        turns.push_back(std::polar(1.0L, -2.0L * 3.14159265358979323846264338327950288L *
                                             static_cast<long double>(k) / static_cast<long double>(n)));
    for (Index k = 0; k < n; ++k) {
        Bin sum = 0;
        for (Index j = 0; j < n; ++j)
            sum += x[j] * turns[j * k % n];
        out.push_back(sum);
    }
    return out;
}

template <class T>
std::vector<Bin> lane_of(const T* z, Index n, Index lanes, Index lane) {
    std::vector<Bin> out;
    for (Index k = 0; k < n; ++k)
        out.emplace_back(z[2 * k * lanes + lane], z[(2 * k + 1) * lanes + lane]);
    return out;
}

long double norm(const std::vector<Bin>& x) {
    long double sum = 0;
    for (const Bin& b : x)
        sum += std::norm(b);
    return std::sqrt(sum);
}

}  // namespace

TEST_CASE("turns are exact at multiples of an eighth and right elsewhere") {
    for (Index n : {1, 2, 4, 8, 64, 4096})
        for (Index k = 0; k < n; ++k) {
            const convoy::fft::Turn t = convoy::fft::turn(k, n);
            const long double angle = 2.0L * 3.14159265358979323846264338327950288L *
                                      static_cast<long double>(k) / static_cast<long double>(n);
            CHECK(std::abs(static_cast<double>(t.cos - std::cos(angle))) < 1.2e-16);
            CHECK(std::abs(static_cast<double>(t.sin + std::sin(angle))) < 1.2e-16);
        }
    for (const convoy::Index n : {1, 2, 4, 8, 1024}) {
        const convoy::fft::Turns table(n);
        for (convoy::Index k = 0; k < n; ++k) {
            CHECK(table(k).cos == convoy::fft::turn(k, n).cos);
            CHECK(table(k).sin == convoy::fft::turn(k, n).sin);
        }
    }
    CHECK(convoy::fft::turn(1, 4).cos == 0);
    CHECK(convoy::fft::turn(1, 4).sin == -1);
    CHECK(convoy::fft::turn(3, 8).cos == -convoy::fft::turn(1, 8).cos);
}

TEMPLATE_TEST_CASE("every lane is the transform of its series", "", float, double) {
    const long double u = std::numeric_limits<TestType>::epsilon() / 2;
    for (Index n : {1, 2, 4, 8, 16, 32, 128, 256, 512, 2048}) {
        const convoy::fft::LaneFft<TestType> fft(n);
        const Index lanes = fft.lanes();
        Batch<TestType> z(fft.batch()), x(fft.batch());
        std::mt19937 random(static_cast<unsigned>(n));
        std::uniform_real_distribution<TestType> uniform(-1, 1);
        for (Index i = 0; i < fft.batch(); ++i)
            z.data()[i] = x.data()[i] = uniform(random);
        fft.forward(z.data());
        const long double stages = std::log2(static_cast<long double>(n)) + 1;
        for (Index lane : {Index{0}, lanes - 1}) {
            const std::vector<Bin> want = dft(lane_of(x.data(), n, lanes, lane));
            const std::vector<Bin> got = lane_of(z.data(), n, lanes, lane);
            std::vector<Bin> off;
            for (Index k = 0; k < n; ++k)
                off.push_back(got[fft.position()[k]] - want[k]);
            CHECK(norm(off) <= 0.7L * u * stages * norm(want));
        }
        fft.inverse(z.data());
        long double worst = 0;
        for (Index i = 0; i < fft.batch(); ++i)
            worst = std::max(worst, std::abs(z.data()[i] / static_cast<long double>(n) - x.data()[i]));
        CHECK(worst <= 4 * u * stages);
    }
}

TEMPLATE_TEST_CASE("a series has the same bits in every lane", "", float, double) {
    const Index n = 8192;  // walks beyond the first-level cache
    const convoy::fft::LaneFft<TestType> fft(n);
    Batch<TestType> z(fft.batch()), h(fft.batch());
    std::mt19937 random(7);
    std::normal_distribution<TestType> normal;
    for (Index k = 0; k < 2 * n; ++k) {
        const TestType v = normal(random), w = normal(random);
        for (Index lane = 0; lane < fft.lanes(); ++lane) {
            z.data()[k * fft.lanes() + lane] = v;
            h.data()[k * fft.lanes() + lane] = w;
        }
    }
    fft.convolve(z.data(), h.data());
    Index different = 0;
    for (Index k = 0; k < 2 * n; ++k)
        for (Index lane = 1; lane < fft.lanes(); ++lane)
            different += z.data()[k * fft.lanes()] != z.data()[k * fft.lanes() + lane];
    CHECK(different == 0);
}

TEMPLATE_TEST_CASE("convolve is forward, product, inverse", "", float, double) {
    for (Index n : {1, 2, 8, 64, 4096}) {
        const convoy::fft::LaneFft<TestType> fft(n);
        const Index lanes = fft.lanes();
        Batch<TestType> z(fft.batch()), h(fft.batch());
        for (Index i = 0; i < fft.batch(); ++i)
            z.data()[i] = h.data()[i] = 0;
        // A unit impulse at 0 through a delay by one: an impulse at 1 (at 0 for n = 1).
        for (Index lane = 0; lane < lanes; ++lane) {
            z.data()[lane] = 1;
            h.data()[2 * (1 % n) * lanes + lane] = 1;
        }
        fft.forward(h.data());
        fft.convolve(z.data(), h.data());
        for (Index k = 0; k < n; ++k)
            CHECK(std::abs(z.data()[2 * k * lanes] - (k == 1 % n ? TestType(n) : TestType(0))) <=
                  TestType(8 * n) * std::numeric_limits<TestType>::epsilon());
    }
}

TEMPLATE_TEST_CASE("two real series come out of one transform", "", float, double) {
    for (Index n : {2, 8, 64, 1024}) {
        const convoy::fft::LaneFft<TestType> fft(n);
        const Index lanes = fft.lanes(), bins = n / 2 + 1;
        Batch<TestType> z(fft.batch()), a(2 * bins * lanes), b(2 * bins * lanes);
        std::mt19937 random(3);
        std::normal_distribution<TestType> normal;
        for (Index i = 0; i < fft.batch(); ++i)
            z.data()[i] = normal(random);
        std::vector<Bin> first, second;
        for (Index k = 0; k < n; ++k) {
            first.emplace_back(z.data()[2 * k * lanes]);
            second.emplace_back(z.data()[(2 * k + 1) * lanes]);
        }
        first = dft(first);
        second = dft(second);
        fft.forward(z.data());
        fft.real_pair(z.data(), a.data(), b.data());
        const long double allowed =
            8 * std::numeric_limits<TestType>::epsilon() * std::sqrt(static_cast<long double>(n));
        for (Index k = 0; k < bins; ++k) {
            CHECK(std::abs(Bin(a.data()[2 * k * lanes], a.data()[(2 * k + 1) * lanes]) - first[k]) <=
                  allowed);
            CHECK(std::abs(Bin(b.data()[2 * k * lanes], b.data()[(2 * k + 1) * lanes]) - second[k]) <=
                  allowed);
        }
    }
}
