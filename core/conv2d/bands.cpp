#include "core/conv2d/bands.hpp"

#include "core/base/division.hpp"

namespace convoy::conv2d {

namespace {

// More series of samples than that are too many to hold even a few columns of all.
constexpr Index most_lanes = Index{1} << 18;
// A band is long enough that its halo matters little, and all its columns fit a chunk where they are few.
constexpr Index band_samples = Index{1} << 20, fewest_lanes = 1024;

}  // namespace

Bands::Bands(const Problem& p, Index row_step)
    : images_(p.images),
      in_rows_(p.in_shape().outer / p.images),
      out_rows_(p.out_shape().outer / p.images),
      extent_rows_(p.extent.rows),
      result_rows_(p.outputs().rows),
      before_(p.before().rows),
      stride_(p.stride.rows),
      spread_(p.spread().rows),
      in_inner_(p.in_shape().inner),
      out_inner_(p.out_shape().inner),
      band_rows_(out_rows_) {
    if (in_rows_ != extent_rows_ || out_rows_ != result_rows_) return;
    // Lanes that a row of outputs makes or uses.
    const Index across = std::max(out_inner_, in_inner_ * stride_);
    if (across * out_rows_ <= most_lanes && in_inner_ * in_rows_ <= most_lanes) return;
    const Index lanes = std::clamp(band_samples / p.extent.columns, fewest_lanes, most_lanes / 4);
    const Index rows = std::max({lanes / across, 4 * ceil_div(spread_, stride_), Index{1}});
    band_rows_ = std::min(round_up(rows, row_step), out_rows_);
    bands_ = ceil_div(out_rows_, band_rows_);
}

Lanes Bands::lanes_of(Index first, Index count) const {
    return {start(first), start(first + count) - start(first), 0, out_inner_};
}

Lanes Bands::used(Lanes out) const {
    Index first = -1, end = 0;
    each(out, [&](const Box& box) {
        if (first < 0) first = in_row(box);
        end = (box.image + box.images - 1) * in_rows_ +
              (box.in_rows == extent_rows_ ? in_rows_ : box.in_first + box.in_rows);
    });
    return {first, end - first, 0, in_inner_};
}

Box Bands::band(Index image, Index first, Index rows) const {
    const Index last = extent_rows_ - 1, top = first * stride_ - before_;
    const Index from = first == 0 ? 0 : std::clamp<Index>(top, 0, last);
    const Index to = first + rows == result_rows_
                         ? extent_rows_
                         : std::clamp<Index>(top + (rows - 1) * stride_ + spread_, from + 1, last + 1);
    return {image, 1, first, rows, from, to - from};
}

}  // namespace convoy::conv2d
