// From values to colours: the range that a picture shows, and a grid as an image.
#pragma once

#include <string>
#include <vector>

#include "core/raster/raster.hpp"
#include "pipelines/cairo.hpp"
#include "pipelines/ticks.hpp"

namespace convoy::pipelines {

/// Where the colours begin and end: round values that leave out the rarest, no more than 100 dB apart.
Range value_range(const std::vector<raster::Grid>& panels);

/// The grid with what lies beyond the range at its ends, so that all that is known is finite.
raster::Grid within(raster::Grid grid, Range range);

/// A pixel for each value; the caller's to destroy.
cairo_surface_t* image_of(const raster::Grid& grid, Range range);

}  // namespace convoy::pipelines
