#include "core/raster/raster.hpp"

namespace convoy::raster {

Grid resample(const Grid& grid, Index columns, Index rows, const device::Device& device) {
    if (grid.values.empty() || (grid.columns == columns && grid.rows == rows)) return grid;
    const Resampler* found =
        catalog().find_if([&](const Resampler& r) { return r.backend == device.backend; });
    if (found == nullptr) throw failed({}, "this build resamples no pictures on " + device.id());
    return found->run(grid, columns, rows, device);
}

}  // namespace convoy::raster
