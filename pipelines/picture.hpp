// Pictures as PNG: spectrograms with axes and a colour bar, and lines (the response of a filter).
#pragma once

#include <string>
#include <vector>

#include "core/raster/raster.hpp"

namespace convoy::pipelines {

/// Values on a grid, [row][column], row 0 at the bottom. NaN: nothing is known there.
using raster::Grid;

/// A picture of one or more channels of a spectrogram, one panel above the other, in decibels.
struct SpectrogramPicture {
    std::string title;
    std::string value_label;                // beside the colour bar: "Power spectral density (dB re 1/Hz)"
    std::vector<std::string> panel_labels;  // one for each panel; empty where there is one
    std::vector<Grid> panels;               // decibels; -infinity is drawn as the lowest colour
    double time_first = 0, time_last = 0;   // of the outer edges, in time_units
    std::string time_units = "s";
    std::vector<double>
        frequencies;  // of all rows of the data, Hz, rising: they are equally far apart in the picture
};

/// Pixels of a panel: what the data should be reduced to at most.
struct PanelSize {
    Index columns, rows;
};
PanelSize panel_size(Index panels);

/// Error (a wrong request) where a picture's name promises another format than PNG.
void check_picture_name(const std::string& path);

/// Writes the picture, its panels resampled to their pixels on `device` (raster::resample()). Throws Error if
/// the file cannot be written.
void draw(const SpectrogramPicture& picture, const std::string& path, const device::Device& device);

/// A grid alone, without axes, as the bytes of a PNG file.
std::string png_bytes(const Grid& grid);

/// Lines over one axis.
struct LinePicture {
    struct Line {
        std::string label;  // named in a legend where there are several
        std::vector<double> x, y;
    };
    std::string title, x_label, y_label;
    std::vector<Line> lines;
    double y_lowest = -120;     // what lies below is cut off
    std::vector<double> marks;  // places on the x axis with a thin line (cut-offs)
    bool logarithmic = false;   // both axes, all values above 0; else x is a frequency in Hz
};
void draw(const LinePicture& picture, const std::string& path);

/// The gain of a filter (dB) over frequency (Hz).
void draw_response(const std::string& path, const std::vector<double>& hz, const std::vector<double>& db,
                   const std::string& title);

}  // namespace convoy::pipelines
