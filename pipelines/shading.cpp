#include "pipelines/shading.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pipelines/colours.hpp"
#include "pipelines/picture.hpp"

namespace convoy::pipelines {

Range value_range(const std::vector<Grid>& panels) {
    std::vector<float> seen;
    for (const Grid& g : panels)
        for (const float v : g.values)
            if (std::isfinite(v)) seen.push_back(v);
    if (seen.empty()) return {-1, 0};
    const auto at = [&](double share) {
        const auto place =
            seen.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(seen.size() - 1));
        std::nth_element(seen.begin(), place, seen.end());
        return static_cast<double>(*place);
    };
    const double high = 5 * std::ceil(at(0.9995) / 5);
    const double low = 5 * std::floor(std::max(at(0.02), high - 100) / 5);
    return {std::min(low, high - 5), high};
}

raster::Grid within(raster::Grid grid, Range range) {
    const auto low = static_cast<float>(range.low), high = static_cast<float>(range.high);
    for (float& value : grid.values)
        if (!std::isnan(value)) value = std::clamp(value, low, high);
    return grid;
}

namespace {

std::uint32_t colour_of(float value, Range range) {
    if (std::isnan(value)) return 0xffd0d0d0u;
    const double share = std::clamp(range.share(static_cast<double>(value)), 0.0, 1.0);
    return heat_colours()[static_cast<std::size_t>(std::lround(255 * share))];
}

}  // namespace

cairo_surface_t* image_of(const Grid& grid, Range range) {
    const int w = static_cast<int>(grid.columns), h = static_cast<int>(grid.rows);
    cairo_surface_t* image = cairo::image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    cairo::surface_flush(image);
    unsigned char* const pixels = cairo::image_surface_get_data(image);
    for (int row = 0; pixels != nullptr && row < h; ++row)
        for (int column = 0; column < w; ++column) {
            const std::uint32_t colour = colour_of(
                grid.values[static_cast<std::size_t>(grid.columns * (h - 1 - row) + column)], range);
            std::memcpy(pixels + row * cairo::image_surface_get_stride(image) + 4 * column, &colour,
                        sizeof colour);
        }
    cairo::surface_mark_dirty(image);
    return image;
}

}  // namespace convoy::pipelines
