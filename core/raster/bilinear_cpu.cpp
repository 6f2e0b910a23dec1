// Bilinear interpolation as it is written down.
#include "core/raster/bilinear.hpp"

#include <algorithm>

#include "core/raster/raster.hpp"

namespace convoy::raster {

namespace {

Grid run(const Grid& grid, Index columns, Index rows, const device::Device&) {
    const int across = static_cast<int>(grid.columns), down = static_cast<int>(grid.rows);
    const auto cell = [&](int column, int row) {
        column = std::clamp(column, 0, across - 1);
        row = std::clamp(row, 0, down - 1);
        return cell_of(grid.values[static_cast<std::size_t>(Index{row} * grid.columns + column)]);
    };
    const auto mixed = [](Cell a, Cell b, float next) {
        return Cell{(1 - next) * a.value + next * b.value, (1 - next) * a.known + next * b.known};
    };
    Grid result{columns, rows, {}};
    result.values.reserve(static_cast<std::size_t>(columns * rows));
    for (int y = 0; y < static_cast<int>(rows); ++y) {
        const Between v = between(place_of(y, static_cast<int>(rows), down));
        for (int x = 0; x < static_cast<int>(columns); ++x) {
            const Between h = between(place_of(x, static_cast<int>(columns), across));
            const Cell low = mixed(cell(h.cell, v.cell), cell(h.cell + 1, v.cell), h.next);
            const Cell high = mixed(cell(h.cell, v.cell + 1), cell(h.cell + 1, v.cell + 1), h.next);
            result.values.push_back(shown(mixed(low, high, v.next)));
        }
    }
    return result;
}

}  // namespace

extern constinit const Resampler bilinear_cpu{"bilinear", device::Backend::cpu, run};

}  // namespace convoy::raster
