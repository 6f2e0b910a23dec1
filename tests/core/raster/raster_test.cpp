// Where pixels are among cells, and what they show: held against sums written out.
#include "core/raster/raster.hpp"

#include <cmath>

#include "core/raster/bilinear.hpp"
#include "tests/catch.hpp"
#include "tests/core/raster/grids.hpp"

using namespace convoy;
using namespace convoy::raster;

TEST_CASE("the middle of a pixel is between the middles of cells") {
    CHECK(place_of(0, 4, 4) == 0.5f);
    CHECK(place_of(3, 4, 4) == 3.5f);
    CHECK(place_of(0, 4, 2) == 0.25f);
    CHECK(place_of(5, 8, 2) == 1.375f);
    CHECK(between(0.25f).cell == -1);
    CHECK(between(0.25f).next == 0.75f);
    CHECK(between(2.75f).cell == 2);
    CHECK(between(2.75f).next == 0.25f);
    for (const int pixels : {1, 7, 1380})  // as many pixels as cells: nothing of a neighbour
        for (int i = 0; i < pixels; ++i) {
            const Between b = between(place_of(i, pixels, pixels));
            REQUIRE((b.cell == i && b.next == 0));
        }
}

TEST_CASE("pixels are weighted means of four cells, the edge going on") {
    for (const auto& [grid, columns, rows] : test::grids()) {
        const Grid got = resample(grid, columns, rows, device::cpu());
        REQUIRE((got.columns == columns && got.rows == rows));
        REQUIRE(got.values.size() == static_cast<std::size_t>(columns * rows));
        for (Index y = 0; y < rows; ++y)
            for (Index x = 0; x < columns; ++x) {
                const test::Pixel right = test::pixel(grid, x, y, columns, rows);
                const float v = got.values[static_cast<std::size_t>(y * columns + x)];
                if (std::abs(right.known - 0.5) < 1e-3) continue;  // either way
                REQUIRE(std::isnan(v) == (right.known < 0.5));
                if (!std::isnan(v))
                    REQUIRE(std::abs(static_cast<double>(v) - right.value) < 1e-4 * (1 + right.spread));
            }
    }
}

TEST_CASE("a grid of the size that is asked for comes out as it is, and a plane stays one") {
    const Grid same = test::noise(31, 17, 3);
    CHECK(resample(same, 31, 17, device::cpu()).values == same.values);
    Grid plane{10, 6, {}};
    for (Index y = 0; y < 6; ++y)
        for (Index x = 0; x < 10; ++x)
            plane.values.push_back(static_cast<float>(3 * x - 5 * y));
    const Grid wide = resample(plane, 40, 24, device::cpu());
    for (Index y = 2; y < 22; ++y)  // within the outer middles
        for (Index x = 2; x < 38; ++x)
            CHECK(std::abs(wide.values[static_cast<std::size_t>(y * 40 + x)] -
                           (3 * ((static_cast<float>(x) + 0.5f) / 4 - 0.5f) -
                            5 * ((static_cast<float>(y) + 0.5f) / 4 - 0.5f))) < 1e-4f);
    CHECK(wide.values.front() == plane.values.front());
    CHECK(wide.values.back() == plane.values.back());
}
