// Pixels from the texture units of a GPU against the same formula in double: their weights have 8 bits.
#include <cmath>

#include "core/raster/raster.hpp"
#include "tests/catch.hpp"
#include "tests/core/raster/grids.hpp"

using namespace convoy;
using namespace convoy::raster;

TEST_CASE("on a GPU: textures show what the CPU does, within the 8 bits of their weights", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP("no GPU: " + device::gpu_remark());
    const device::Device& gpu = device::gpus()[0];
    for (const auto& [grid, columns, rows] : test::grids()) {
        const Grid ours = resample(grid, columns, rows, gpu),
                   theirs = resample(grid, columns, rows, device::cpu());
        REQUIRE((ours.columns == columns && ours.rows == rows));
        REQUIRE(ours.values.size() == theirs.values.size());
        double worst = 0;
        Index differ = 0;
        for (Index y = 0; y < rows; ++y)
            for (Index x = 0; x < columns; ++x) {
                const auto i = static_cast<std::size_t>(y * columns + x);
                const test::Pixel right = test::pixel(grid, x, y, columns, rows);
                if (std::abs(right.known - 0.5) < 1. / 128) continue;  // known or not, by the weights' bits
                REQUIRE(std::isnan(ours.values[i]) == std::isnan(theirs.values[i]));
                if (std::isnan(ours.values[i])) continue;
                const double off =
                    std::abs(static_cast<double>(ours.values[i]) - static_cast<double>(theirs.values[i]));
                // The weight along each axis is off by a 256th at most; a sum of what is known in part is
                // divided by its weight.
                worst = std::max(worst, off / (right.spread / 128 / right.known + 1e-4));
                differ += off > 0;
            }
        INFO(grid.columns << " x " << grid.rows << " cells to " << columns << " x " << rows << ", " << differ
                          << " pixels differ");
        CHECK(worst < 1.01);
    }
}
