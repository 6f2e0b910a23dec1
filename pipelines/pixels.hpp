// What the pixels of a picture keep of values that stream by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "pipelines/picture.hpp"

namespace convoy::pipelines {

/// The values of some channels, reduced to pixels as they come in, by their largest or their mean: of memory
/// that does not grow with the signal. Where there are more columns or rows than pixels, a pixel has what
/// falls on it; where there are fewer, each keeps its own value, and raster::resample() interpolates between
/// them. So the two meet where there are as many as pixels, and every value is as it came.
class Pixels {
  public:
    /// Of a result [channel][bin][frame]; of more than eight channels, the first eight. `mean`: by the mean
    /// of what falls on a pixel, else by the largest.
    Pixels(Index channels, Index bins, Index frames, bool mean);
    /// Those that are kept.
    Index channels() const { return channels_; }

    /// One row of the result: frames `span` of bin row % bins of channel row / bins; value(i) is the i-th.
    template <class Value>
    void add(Index row, Span span, const Value& value) {
        if (row / bins_ >= channels_) return;
        const Index at = (row / bins_ * rows_ + row % bins_ * rows_ / bins_) * columns_;
        for (Index i = 0; i < span.count;) {
            const Index column = (span.first + i) * columns_ / frames_;
            const Index end =
                std::min(span.count, ((column + 1) * frames_ + columns_ - 1) / columns_ - span.first);
            float largest = -std::numeric_limits<float>::infinity();
            double sum = 0;
            std::uint32_t count = 0;
            for (; i < end; ++i) {
                const float v = value(i);
                if (std::isnan(v)) continue;
                largest = std::max(largest, v);
                sum += static_cast<double>(v);
                ++count;
            }
            if (count > 0) take(static_cast<std::size_t>(at + column), largest, sum, count);
        }
    }

    /// What came of a channel: at most panel_size() pixels, NaN where nothing did.
    Grid grid(Index channel) const;

  private:
    static constexpr Index most_channels = 8;
    void take(std::size_t at, float largest, double sum, std::uint32_t count);

    Index bins_, frames_, channels_, columns_ = 0, rows_ = 0;
    bool mean_;
    std::vector<float> values_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace convoy::pipelines
