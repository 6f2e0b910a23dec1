// Sliding bounds never exceed what they bound, and come near it on noise.
#include "core/conv1d/sliding_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/conv1d/direct_sums.hpp"
#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::conv1d;

namespace {

template <class T>
void check_bounds(Index taps, Index outputs, double spread) {
    std::mt19937_64 random(static_cast<unsigned>(taps));
    std::normal_distribution<double> normal;
    std::vector<double> h(static_cast<std::size_t>(taps));
    for (Index k = 0; k < taps; ++k)
        h[k] = std::sin(0.3 * static_cast<double>(k) + 0.1) * (1 + 0.2 * normal(random));
    std::vector<T> x(static_cast<std::size_t>(outputs + taps - 1));
    for (T& v : x)
        v = static_cast<T>(normal(random) * std::exp(spread * normal(random)));
    const SlidingBounds<T> sliding(h);
    REQUIRE(sliding.any());
    std::vector<T> bounds(static_cast<std::size_t>(sliding.room(outputs)));
    const Level<T> level = sliding.look(x.data(), outputs, bounds.data());
    const T least = level.least;
    double peak = 0, energy = 0;
    for (Index i = 0; i < outputs + taps - 1; ++i) {
        peak = std::max<double>(peak, std::abs(x[i]));
        energy += static_cast<double>(x[i]) * x[i];
    }
    CHECK(level.peak == static_cast<T>(peak));
    CHECK(level.energy == Approx(energy).epsilon(1e-4));
    const Index groups = (outputs + sliding.group() - 1) / sliding.group();
    CHECK(least == *std::min_element(bounds.begin(), bounds.begin() + groups));
    Index above = 0, near = 0;
    for (Index i = 0; i < outputs; ++i) {
        double sum = 0;
        for (Index k = 0; k < taps; ++k)
            sum += std::abs(h[k] * static_cast<double>(x[i + taps - 1 - k]));
        const double bound = static_cast<double>(bounds[i / sliding.group()]);
        above += bound > sum;
        near += bound > 0.3 * sum;
    }
    CHECK(above == 0);
    if (spread == 0) CHECK(near > outputs / 2);
}

}  // namespace

TEST_CASE("sliding bounds stay below the sums, for any number of outputs and taps") {
    for (const Index taps : {63, 101, 200, 201, 777, 1100})
        for (const Index outputs : {1, 2, 31, 64, 1000, 1003})
            for (const double spread : {0.0, 3.0}) {
                check_bounds<float>(taps, outputs, spread);
                check_bounds<double>(taps, outputs, spread);
            }
    CHECK_FALSE(SlidingBounds<float>(std::vector<double>(1101, 1.0)).any());
}

TEST_CASE("samples that are not zero are found, and sums over them are those over all") {
    constexpr Index taps = 150, count = 32, samples = count + taps - 1;
    std::vector<double> h;
    for (Index k = 0; k < taps; ++k)
        h.push_back(1 + static_cast<double>(k % 7));
    const DirectSums sums(h);
    for (const std::vector<std::int32_t>& places : {std::vector<std::int32_t>{},
                                                    {0},
                                                    {samples - 1},
                                                    {3, 70, 71, 100},
                                                    {40, 41, 60},
                                                    {0, samples - 1}}) {
        std::vector<float> x(static_cast<std::size_t>(samples), 0.0F), dense(count), few(count);
        for (const std::int32_t at : places)
            x[at] = 1 + static_cast<float>(at);
        std::vector<std::int32_t> at(10);
        const Index found = nonzeros(x.data(), samples, 10, at.data());
        at.resize(static_cast<std::size_t>(found));
        CHECK(at == places);
        if (places.size() > 1) CHECK(nonzeros(x.data(), samples, 1, at.data()) == 2);
        const Index first = nonzero_begin(x.data(), samples), end = nonzero_end(x.data(), samples);
        CHECK(first == (places.empty() ? samples : places.front()));
        CHECK(end == (places.empty() ? 0 : places.back() + 1));
        sums.run(x.data(), {first, std::max<Index>(0, end - first)}, count, dense.data());
        sums.sparse(x.data(), places.data(), static_cast<Index>(places.size()), count, few.data());
        for (Index i = 0; i < count; ++i) {
            double want = 0;
            for (Index k = 0; k < taps; ++k)
                want += h[k] * static_cast<double>(x[i + taps - 1 - k]);
            CHECK(dense[i] == static_cast<float>(want));
            CHECK(few[i] == static_cast<float>(want));
        }
    }
}
