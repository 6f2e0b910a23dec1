#include "pipelines/picture.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "pipelines/canvas.hpp"
#include "pipelines/shading.hpp"

namespace convoy::pipelines {

namespace {

using namespace drawing;

constexpr double bar_gap = 36, bar_width = 36;

// Place of a frequency on an axis whose rows are equally far apart, 0 to 1; row i has its middle at (i + 0.5)
// / rows.
double place_of(double hz, const std::vector<double>& rows) {
    const double n = static_cast<double>(rows.size());
    if (rows.size() < 2) return 0.5;
    const auto above = std::upper_bound(rows.begin() + 1, rows.end() - 1, hz);
    const double f1 = *above, f0 = *(above - 1);
    const double row = static_cast<double>(above - rows.begin()) - 1 + (hz - f0) / (f1 - f0);
    return (row + 0.5) / n;
}

void frequency_axis(const Canvas& c, Box b, const std::vector<double>& rows) {
    if (rows.empty()) return;
    const double low = rows.front(), high = rows.back();
    const double middle = rows[rows.size() / 2];
    const bool even = rows.size() < 3 || std::abs(middle - low - (high - low) * 0.5) < 0.1 * (high - low);
    Readable unit = readable_frequency(std::max(std::abs(low), std::abs(high)));
    if (!even && unit.units == "kHz") unit = {1, "Hz"};  // 20, 200, 2k
    const double from = low / unit.factor, to = high / unit.factor;
    std::vector<Tick> ticks =
        even ? linear_ticks(from, to, b.h > 500 ? 8 : 4) : log_ticks(std::max(from, to / 1e6), to);
    double last = -1;
    for (const Tick& t : ticks) {
        const double share = place_of(t.value * unit.factor, rows);
        const bool crowded = last >= 0 && (share - last) * b.h < 1.3 * text_size;
        if (share < 0 || share > 1 || crowded) continue;
        y_tick(c, b, share, t.text);
        last = share;
    }
    c.upright("Frequency (" + unit.units + ")", b.x - 122, b.y + b.h / 2);
}

void paint(const Canvas& c, Box b, const Grid& grid, Range range) {
    const int w = static_cast<int>(grid.columns), h = static_cast<int>(grid.rows);
    cairo_surface_t* image = image_of(grid, range);
    cairo::save(c.get());
    cairo::translate(c.get(), b.x, b.y);
    cairo::scale(c.get(), b.w / w, b.h / h);
    cairo::set_source_surface(c.get(), image, 0, 0);
    cairo::pattern_set_filter(cairo::get_source(c.get()), CAIRO_FILTER_NEAREST);
    cairo::rectangle(c.get(), 0, 0, w, h);
    cairo::fill(c.get());
    cairo::restore(c.get());
    c.ink();
    cairo::surface_destroy(image);
}

void colour_bar(const Canvas& c, Box b, Range range, const std::string& label) {
    Grid ramp{1, 256, {}};
    for (int i = 0; i < 256; ++i)
        ramp.values.push_back(static_cast<float>(range.low + (range.high - range.low) * i / 255));
    paint(c, b, ramp, range);
    c.frame(b);
    for (const Tick& t : linear_ticks(range.low, range.high, 8)) {
        const double y = b.y + b.h * (1 - range.share(t.value));
        c.line(b.x + b.w, y, b.x + b.w + tick_length, y);
        c.text(t.text, b.x + b.w + 1.6 * tick_length, y, 0);
    }
    c.upright(label, b.x + b.w + 130, b.y + b.h / 2);
}

}  // namespace

PanelSize panel_size(Index panels) {
    return {static_cast<Index>(width - left - right),
            static_cast<Index>(panels > 1 ? of_several : one_panel)};
}

void draw(const SpectrogramPicture& picture, const std::string& path, const device::Device& device) {
    const double panels = static_cast<double>(picture.panels.size());
    const double each = panels > 1 ? of_several : one_panel;
    const double height = top + panels * each + (panels - 1) * gap + bottom;
    const Canvas c(width, height);
    const Range values = value_range(picture.panels), time{picture.time_first, picture.time_last};
    const bool seconds = picture.time_units == "s";
    const Readable unit =
        seconds ? readable_time(time.high - time.low) : Readable{1, picture.time_units + "s"};
    for (std::size_t i = 0; i < picture.panels.size(); ++i) {
        const Box b{left, top + static_cast<double>(i) * (each + gap), width - left - right, each};
        const PanelSize pixels = panel_size(static_cast<Index>(picture.panels.size()));
        paint(c, b, raster::resample(within(picture.panels[i], values), pixels.columns, pixels.rows, device),
              values);
        c.frame(b);
        x_axis(c, b, i + 1 == picture.panels.size() ? "Time (" + unit.units + ")" : "",
               linear_ticks(time.low / unit.factor, time.high / unit.factor, 8),
               [&](double v) { return time.share(v * unit.factor); });
        frequency_axis(c, b, picture.frequencies);
        if (i < picture.panel_labels.size()) c.text(picture.panel_labels[i], b.x + b.w, b.y - 0.4 * gap, 1);
    }
    c.text(picture.title, left, top / 2, 0);
    colour_bar(c, {width - right + bar_gap, top, bar_width, height - top - bottom}, values,
               picture.value_label);
    c.write(path);
}

std::string png_bytes(const Grid& grid) {
    std::string bytes;
    cairo_surface_t* image = image_of(grid, value_range({grid}));
    const auto append = [](void* to, const unsigned char* data, unsigned int length) {
        static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
        return CAIRO_STATUS_SUCCESS;
    };
    cairo::surface_write_to_png_stream(image, append, &bytes);
    cairo::surface_destroy(image);
    return bytes;
}

void check_picture_name(const std::string& path) {
    if (lower(std::filesystem::path(path).extension().string()) != ".png")
        throw usage_error("pictures are PNG", "let the name end in .png", path);
}

}  // namespace convoy::pipelines
