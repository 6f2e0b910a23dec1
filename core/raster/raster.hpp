// Values on a grid, as pictures are made of, and how they become as many as a picture has pixels.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/signal.hpp"
#include "core/device/device.hpp"

namespace convoy::raster {

/// Values [row][column]. NaN: nothing is known there.
struct Grid {
    Index columns = 0, rows = 0;
    std::vector<float> values;
};

/// A way to resample on one backend.
struct Resampler {
    std::string_view name;
    device::Backend backend;
    /// See resample(); there is something to do.
    Grid (*run)(const Grid&, Index columns, Index rows, const device::Device&);
};

const Catalog<Resampler>& catalog();

/// The grid at the middles of columns x rows pixels that cover it: bilinear between the middles of its four
/// nearest cells, those at the edge going on beyond it (core/raster/bilinear.hpp). A cell of which nothing is
/// known has no part in that, and a pixel is NaN where such cells have more than half of the weight. All
/// other values must be finite. By the resampler of the device's backend: a GPU's texture units round the
/// weights to multiples of 1/256, so that a value is off by at most 1/256 along each axis of what the cells
/// differ by, where all are known. Where there are as many pixels as cells, they come out as they are.
Grid resample(const Grid& grid, Index columns, Index rows, const device::Device& device);

}  // namespace convoy::raster
