// What of a result is computed on its own: images, or bands of rows of images that are too high for memory.
#pragma once

#include <algorithm>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d {

/// A rectangle of a result: the same rows of images that follow one another, and the rows of the input that
/// they use.
struct Box {
    Index image = 0, images = 1;
    Index out_first = 0, out_rows = 0;  // of an image's output rows
    Index in_first = 0, in_rows = 0;    // of an image's rows
};

/// The pieces of a problem's result. Bands are only where a row of the result is one row of memory, since
/// lanes are one stretch: with a single channel and filter, or with channels last.
class Bands {
  public:
    /// `row_step`: output rows that bands start at multiples of.
    explicit Bands(const Problem& problem, Index row_step = 1);

    /// Pieces of all images.
    Index count() const { return images_ * bands_; }
    /// As Stage::lanes_of.
    Lanes lanes_of(Index first, Index count) const;
    /// As Stage::used: whole images, or a band's rows with the halo around them.
    Lanes used(Lanes out) const;

    /// Calls f(box) for what rows `out` of the result, whole pieces, consist of.
    template <class F>
    void each(Lanes out, F&& f) const {
        for (Index row = out.outer_first, end = row + out.outer_count; row < end;) {
            const Index image = row / out_rows_, from = row % out_rows_, whole = (end - row) / out_rows_;
            if (from == 0 && whole > 0) {
                f(Box{image, whole, 0, result_rows_, 0, extent_rows_});
                row += whole * out_rows_;
            } else {
                const Index rows = std::min(out_rows_ - from, end - row);
                f(band(image, from, rows));
                row += rows;
            }
        }
    }
    /// Row of all images' input, as a window has them, where a box's begins.
    Index in_row(const Box& box) const { return box.image * in_rows_ + box.in_first; }
    Index out_row(const Box& box) const { return box.image * out_rows_ + box.out_first; }

  private:
    Box band(Index image, Index first, Index rows) const;
    Index start(Index piece) const {
        return piece / bands_ * out_rows_ + std::min(piece % bands_ * band_rows_, out_rows_);
    }

    Index images_, in_rows_, out_rows_;  // rows of one image in a window
    Index extent_rows_, result_rows_;    // H, P
    Index before_, stride_, spread_, in_inner_, out_inner_;
    Index bands_ = 1, band_rows_;
};

}  // namespace convoy::conv2d
