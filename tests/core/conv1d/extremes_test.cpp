// Magnitudes looked for in vectors against a plain loop, at every length and for every vector target.
#include "core/conv1d/extremes_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/vector_targets.hpp"

namespace convoy::conv1d {

TEST_CASE("extremes are those of a plain loop, zeros and NaN left out", "[extremes]") {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> x(150);
    for (float& v : x)
        v = normal(random);
    x[20] = 0, x[41] = -0.0f, x[60] = std::numeric_limits<float>::quiet_NaN(), x[99] = -1e30f,
    x[130] = 1e-38f;
    for (Index k = 70; k < 76; ++k)
        x[static_cast<std::size_t>(k)] *= 1e-6f;
    test::each_vector_target([&] {
        for (Index first = 0; first < 9; ++first)
            for (Index n = 0; first + n <= 150; ++n) {
                const float* from = x.data() + first;
                float most = 0, least = std::numeric_limits<float>::infinity(), lowest = least;
                for (Index i = 0; i < n; ++i) {
                    const float a = std::abs(from[i]);
                    if (a > most) most = a;
                    if (a != 0 && a < least) least = a;
                    if (i + 4 > n) continue;
                    float peak = 0;
                    for (Index k = 0; k < 4; ++k)
                        if (std::abs(from[i + k]) > peak) peak = std::abs(from[i + k]);
                    lowest = std::min(lowest, peak);
                }
                const Extremes got = extremes(from, n);
                const bool same =
                    got.most == most && got.least == least && lowest_peak_of_four(from, n) == lowest;
                INFO(n << " samples from " << first);
                CHECK(same);
            }
    });
}

}  // namespace convoy::conv1d
