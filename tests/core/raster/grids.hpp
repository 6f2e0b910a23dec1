// Grids to be resampled, and what their pixels should be, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/raster/raster.hpp"

namespace convoy::test {

/// Decibels, the cells that `holes` says being unknown: every so many.
inline raster::Grid noise(Index columns, Index rows, unsigned seed, int holes = 0) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(-60, 20);
    raster::Grid grid{columns, rows, {}};
    for (Index i = 0; i < columns * rows; ++i)
        grid.values.push_back(holes > 0 && random() % static_cast<unsigned>(holes) == 0
                                  ? std::numeric_limits<float>::quiet_NaN()
                                  : normal(random));
    return grid;
}

struct Case {
    raster::Grid grid;
    Index columns, rows;
};
inline std::vector<Case> grids() {
    return {{noise(100, 65, 1), 1380, 780},  {noise(1, 1, 2), 30, 20},        {noise(1380, 3, 3), 1380, 780},
            {noise(7, 380, 4), 1380, 380},   {noise(40, 30, 5, 9), 333, 222}, {noise(2, 2, 6, 2), 50, 50},
            {noise(1000, 500, 7), 1380, 780}};
}

/// A pixel as the sum over its four nearest cells, in double; `spread`: what the known ones differ by.
struct Pixel {
    double value, known, spread;
};
inline Pixel pixel(const raster::Grid& grid, Index x, Index y, Index columns, Index rows) {
    const double at_x =
        (static_cast<double>(x) + 0.5) * static_cast<double>(grid.columns) / static_cast<double>(columns) -
        0.5;
    const double at_y =
        (static_cast<double>(y) + 0.5) * static_cast<double>(grid.rows) / static_cast<double>(rows) - 0.5;
    double sum = 0, known = 0, low = 1e300, high = -1e300;
    for (const int dy : {0, 1})
        for (const int dx : {0, 1}) {
            const double column = std::floor(at_x) + dx, row = std::floor(at_y) + dy;
            const double weight = (1 - std::abs(at_x - column)) * (1 - std::abs(at_y - row));
            const auto c = static_cast<Index>(std::clamp(column, 0.0, static_cast<double>(grid.columns - 1)));
            const auto r = static_cast<Index>(std::clamp(row, 0.0, static_cast<double>(grid.rows - 1)));
            const auto v = static_cast<double>(grid.values[static_cast<std::size_t>(r * grid.columns + c)]);
            if (std::isnan(v)) continue;
            sum += weight * v;
            known += weight;
            low = std::min(low, v);
            high = std::max(high, v);
        }
    return {sum / known, known, std::max(0.0, high - low)};
}

}  // namespace convoy::test
