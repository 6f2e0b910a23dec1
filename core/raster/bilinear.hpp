// Where a pixel is among the cells of a grid, and what it shows: plain arithmetic that the host and the
// kernel share.
#pragma once

#include <cmath>

#include "core/base/padding.hpp"

namespace convoy::raster {

/// The middle of a pixel, counted in cells from the edge of the first one: cell i has its middle at i + 0.5.
CONVOY_HD inline float place_of(int pixel, int pixels, int cells) {
    return (static_cast<float>(pixel) + 0.5f) * static_cast<float>(cells) / static_cast<float>(pixels);
}

/// The cell whose middle is at or before a place, and how much of the weight the next one has.
struct Between {
    int cell;
    float next;
};
CONVOY_HD inline Between between(float place) {
    const float from_middle = place - 0.5f, cell = floorf(from_middle);
    return {static_cast<int>(cell), from_middle - cell};
}

/// A cell as it is interpolated: its value and 1, or nothing and 0.
struct Cell {
    float value, known;
};
CONVOY_HD inline Cell cell_of(float value) {
    return value == value ? Cell{value, 1} : Cell{0, 0};
}

/// What a pixel shows, from the weighted sums of values and of what is known.
CONVOY_HD inline float shown(Cell sum) {
    return sum.known >= 0.5f ? sum.value / sum.known : NAN;
}

}  // namespace convoy::raster
