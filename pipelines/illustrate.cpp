#include "pipelines/illustrate.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "pipelines/picture.hpp"

namespace convoy::pipelines {

namespace {

constexpr Index most_panels = 8;

std::string attribute(const io::OutputSpec& spec, std::string_view name) {
    for (const auto& [key, value] : spec.attributes)
        if (key == name) return value;
    return {};
}

// The values of some channels, reduced to pixels as they come in.
class Pixels {
  public:
    Pixels(Index channels, Index bins, Index frames, bool mean)
        : bins_(bins), frames_(frames), channels_(std::min(channels, most_panels)), mean_(mean) {
        const PanelSize size = panel_size(channels_);
        columns_ = std::min(frames, size.columns);
        rows_ = std::min(bins, size.rows);
        const auto count = static_cast<std::size_t>(channels_ * rows_ * columns_);
        values_.assign(count, std::numeric_limits<float>::quiet_NaN());
        if (mean) counts_.assign(count, 0);
    }
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

    Grid grid(Index channel) const {
        const Index size = rows_ * columns_;
        Grid g{columns_, rows_, {values_.begin() + channel * size, values_.begin() + (channel + 1) * size}};
        for (std::size_t i = 0; mean_ && i < g.values.size(); ++i)
            g.values[i] /= static_cast<float>(counts_[static_cast<std::size_t>(channel * size) + i]);
        return g;
    }

  private:
    void take(std::size_t at, float largest, double sum, std::uint32_t count) {
        float& pixel = values_[at];
        if (mean_) {
            pixel = static_cast<float>((std::isnan(pixel) ? 0 : static_cast<double>(pixel)) + sum);
            counts_[at] += count;
        } else {
            pixel = std::isnan(pixel) ? largest : std::max(pixel, largest);
        }
    }

    Index bins_, frames_, channels_, columns_ = 0, rows_ = 0;
    bool mean_;
    std::vector<float> values_;
    std::vector<std::uint32_t> counts_;
};

class IllustratingWriter : public io::Writer {
  public:
    IllustratingWriter(std::unique_ptr<io::Writer> inner, const io::OutputSpec& spec, std::string title,
                       const PictureRequest& request)
        : inner_(std::move(inner)),
          spec_(spec),
          request_(request),
          bins_(spec.dims[spec.dims.size() - 2]),
          pixels_(spec.shape.outer / bins_, bins_, spec.shape.frames, request.mean) {
        picture_.title = std::move(title);
    }

    bool ordered() const override { return inner_->ordered(); }
    Index clipped() const override { return inner_->clipped(); }

    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        inner_->write(span, lanes, src, pitch);
        const std::scoped_lock lock(mutex_);
        dispatch(spec_.type, [&](auto zero) {
            using T = decltype(zero);
            const Index inner = lanes.inner_count;
            for (Index r = 0; r < lanes.outer_count; ++r) {
                const T* const row = reinterpret_cast<const T*>(src) + r * pitch * inner;
                pixels_.add(lanes.outer_first + r, span, [&](Index i) {
                    if (inner == 1) return static_cast<float>(row[i]);
                    return static_cast<float>(
                        std::hypot(static_cast<double>(row[2 * i]), static_cast<double>(row[2 * i + 1])));
                });
            }
        });
    }

    void finish() override {
        describe();
        draw(picture_, request_.file);
        try {
            inner_->finish();
        } catch (...) {
            std::error_code ignored;
            std::filesystem::remove(request_.file, ignored);
            throw;
        }
    }

  private:
    void describe() {
        const std::string units = attribute(spec_, "units"), scaling = attribute(spec_, "scaling");
        const bool decibels = units.starts_with("dB"), power = scaling != "magnitude" && scaling != "complex";
        const Index channels = spec_.shape.outer / bins_;
        for (Index c = 0; c < pixels_.channels(); ++c) {
            picture_.panels.push_back(pixels_.grid(c));
            if (!decibels)
                for (float& v : picture_.panels.back().values)
                    v = (power ? 10.0f : 20.0f) * std::log10(v);
            if (channels > 1) picture_.panel_labels.push_back(channel_name(c));
        }
        if (channels > pixels_.channels())
            warn(request_.file, "the picture shows the first " + to_text(pixels_.channels()) + " of " +
                                    to_text(channels) + " channels; --channels picks others");
        picture_.value_label = value_label(units, scaling, decibels);
        const io::Axis& time = spec_.axes.back();
        picture_.time_first = time.first - 0.5 * time.step;
        picture_.time_last = picture_.time_first + static_cast<double>(spec_.shape.frames) * time.step;
        picture_.time_units = time.units;
        picture_.frequencies = spec_.axes[spec_.axes.size() - 2].values;
    }

    std::string channel_name(Index c) const {
        const auto& named = spec_.axes.front().values;
        const bool simple = spec_.dims.size() == 3 && static_cast<Index>(named.size()) > c;
        return "Channel " + (simple ? to_text(named[static_cast<std::size_t>(c)]) : to_text(c));
    }

    std::string value_label(const std::string& units, const std::string& scaling, bool decibels) const {
        std::string name = "Power";
        if (scaling == "density") name = "Power spectral density";
        if (scaling == "spectrum") name = "Power spectrum";
        if (scaling == "magnitude" || scaling == "complex") name = "Magnitude";
        if (attribute(spec_, "frequency_scale") == "decidecade") name = "Decidecade band level";
        const std::string reference = units.starts_with("1") ? units : "1 " + units;
        return name + " (" + (decibels ? units : "dB re " + reference) + ")";
    }

    std::unique_ptr<io::Writer> inner_;
    io::OutputSpec spec_;
    PictureRequest request_;
    Index bins_;
    Pixels pixels_;
    std::mutex mutex_;
    SpectrogramPicture picture_;
};

}  // namespace

std::unique_ptr<io::Writer> illustrating_writer(std::unique_ptr<io::Writer> inner, const io::OutputSpec& spec,
                                                const std::string& title, const PictureRequest& request) {
    return std::make_unique<IllustratingWriter>(std::move(inner), spec, title, request);
}

}  // namespace convoy::pipelines
