#include "pipelines/pixels.hpp"

namespace convoy::pipelines {

Pixels::Pixels(Index channels, Index bins, Index frames, bool mean)
    : bins_(bins), frames_(frames), channels_(std::min(channels, most_channels)), mean_(mean) {
    const PanelSize size = panel_size(channels_);
    columns_ = std::min(frames, size.columns);
    rows_ = std::min(bins, size.rows);
    const auto count = static_cast<std::size_t>(channels_ * rows_ * columns_);
    values_.assign(count, std::numeric_limits<float>::quiet_NaN());
    if (mean) counts_.assign(count, 0);
}

Grid Pixels::grid(Index channel) const {
    const Index size = rows_ * columns_;
    Grid g{columns_, rows_, {values_.begin() + channel * size, values_.begin() + (channel + 1) * size}};
    for (std::size_t i = 0; mean_ && i < g.values.size(); ++i)
        g.values[i] /= static_cast<float>(counts_[static_cast<std::size_t>(channel * size) + i]);
    return g;
}

void Pixels::take(std::size_t at, float largest, double sum, std::uint32_t count) {
    float& pixel = values_[at];
    if (mean_) {
        pixel = static_cast<float>((std::isnan(pixel) ? 0 : static_cast<double>(pixel)) + sum);
        counts_[at] += count;
    } else {
        pixel = std::isnan(pixel) ? largest : std::max(pixel, largest);
    }
}

}  // namespace convoy::pipelines
