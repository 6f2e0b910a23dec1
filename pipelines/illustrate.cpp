#include "pipelines/illustrate.hpp"

#include <cmath>
#include <filesystem>
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "pipelines/picture.hpp"
#include "pipelines/pixels.hpp"

namespace convoy::pipelines {

namespace {

std::string attribute(const io::OutputSpec& spec, std::string_view name) {
    for (const auto& [key, value] : spec.attributes)
        if (key == name) return value;
    return {};
}

class IllustratingWriter : public io::Writer {
  public:
    IllustratingWriter(std::unique_ptr<io::Writer> inner, const io::OutputSpec& spec, std::string title,
                       const PictureRequest& request, const device::Device& device)
        : inner_(std::move(inner)),
          spec_(spec),
          request_(request),
          device_(device),
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
        draw(picture_, request_.file, device_);
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
    device::Device device_;
    Index bins_;
    Pixels pixels_;
    std::mutex mutex_;
    SpectrogramPicture picture_;
};

}  // namespace

std::unique_ptr<io::Writer> illustrating_writer(std::unique_ptr<io::Writer> inner, const io::OutputSpec& spec,
                                                const std::string& title, const PictureRequest& request,
                                                const device::Device& device) {
    return std::make_unique<IllustratingWriter>(std::move(inner), spec, title, request, device);
}

}  // namespace convoy::pipelines
