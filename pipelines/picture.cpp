#include "pipelines/picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/base/error.hpp"
#include "pipelines/cairo.hpp"
#include "pipelines/colours.hpp"
#include "pipelines/ticks.hpp"

namespace convoy::pipelines {

namespace {

// All lengths are pixels of a picture that is 9 inches wide at 200 dots per inch.
constexpr double width = 1800, left = 170, right = 250, top = 80, bottom = 125, gap = 54;
constexpr double one_panel = 780, of_several = 380;
constexpr double text_size = 28, tick_length = 10, line_width = 2;
constexpr double bar_gap = 36, bar_width = 36;
constexpr double narrow_right = 50;  // without a colour bar

struct Box {
    double x, y, w, h;
};

// A canvas that is white at first.
class Canvas {
  public:
    Canvas(double w, double h)
        : surface_(cairo::image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(w), static_cast<int>(h))),
          cairo_(cairo::create(surface_.get())) {
        cairo::set_source_rgb(get(), 1, 1, 1);
        cairo::paint(get());
        cairo::select_font_face(get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
        cairo::set_font_size(get(), text_size);
        cairo::set_line_width(get(), line_width);
        ink();
    }
    cairo_t* get() const { return cairo_.get(); }
    void ink() const { cairo::set_source_rgb(get(), 0.1, 0.1, 0.1); }

    void line(double x0, double y0, double x1, double y1) const {
        cairo::move_to(get(), x0, y0);
        cairo::line_to(get(), x1, y1);
        cairo::stroke(get());
    }
    void frame(Box b) const {
        cairo::rectangle(get(), b.x, b.y, b.w, b.h);
        cairo::stroke(get());
    }
    double text_width(const std::string& text) const {
        cairo_text_extents_t e;
        cairo::text_extents(get(), text.c_str(), &e);
        return e.x_advance;
    }
    /// Text whose anchor is `along` of its width (0 left, 1 right), the middle of its letters at y.
    void text(const std::string& text, double x, double y, double along) const {
        cairo::move_to(get(), x - along * text_width(text), y + 0.36 * text_size);
        cairo::show_text(get(), text.c_str());
    }
    /// Upwards, centred at (x, y).
    void upright(const std::string& words, double x, double y) const {
        cairo::save(get());
        cairo::translate(get(), x, y);
        cairo::rotate(get(), -std::acos(-1.0) / 2);
        text(words, 0, 0, 0.5);
        cairo::restore(get());
    }
    void write(const std::string& path) const {
        cairo::surface_flush(surface_.get());
        const std::string part = path + ".part";
        cairo_status_t status = cairo::status(get());
        if (status == CAIRO_STATUS_SUCCESS)
            status = cairo::surface_write_to_png(surface_.get(), part.c_str());
        std::error_code error;
        if (status == CAIRO_STATUS_SUCCESS) std::filesystem::rename(part, path, error);
        if (status == CAIRO_STATUS_SUCCESS && !error) return;
        const std::string why = error ? error.message() : cairo::status_to_string(status);
        std::filesystem::remove(part, error);
        throw failed(path, "the picture cannot be written: " + why, "check the folder and its free space");
    }

  private:
    struct Destroy {
        void operator()(cairo_surface_t* s) const { cairo::surface_destroy(s); }
        void operator()(cairo_t* c) const { cairo::destroy(c); }
    };
    std::unique_ptr<cairo_surface_t, Destroy> surface_;
    std::unique_ptr<cairo_t, Destroy> cairo_;
};

struct Range {
    double low, high;
    double share(double v) const { return (v - low) / (high - low); }
};

void x_axis(const Canvas& c, Box b, Range range, const std::string& label, double factor, bool labelled) {
    for (const Tick& t : linear_ticks(range.low / factor, range.high / factor, 8)) {
        const double x = b.x + b.w * range.share(t.value * factor);
        c.line(x, b.y + b.h, x, b.y + b.h + tick_length);
        if (labelled) c.text(t.text, x, b.y + b.h + 2.9 * tick_length, 0.5);
    }
    if (labelled) c.text(label, b.x + b.w / 2, b.y + b.h + 8 * tick_length, 0.5);
}

void y_tick(const Canvas& c, Box b, double share, const std::string& text) {
    const double y = b.y + b.h * (1 - share);
    c.line(b.x - tick_length, y, b.x, y);
    c.text(text, b.x - 1.6 * tick_length, y, 1);
}

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
    const Readable unit =
        even ? readable_frequency(std::max(std::abs(low), std::abs(high))) : Readable{1, "Hz"};
    std::vector<Tick> ticks = even ? linear_ticks(low / unit.factor, high / unit.factor, b.h > 500 ? 8 : 4)
                                   : log_ticks(std::max(low, high / 1e6), high);
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

// Where the colours begin and end: round values that leave out the rarest, no more than 100 dB apart.
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

std::uint32_t colour_of(float value, Range range) {
    if (std::isnan(value)) return 0xffd0d0d0u;
    const double share = std::clamp(range.share(static_cast<double>(value)), 0.0, 1.0);
    return heat_colours()[static_cast<std::size_t>(std::lround(255 * share))];
}

// The grid's pixels; the caller's to destroy.
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

void draw(const SpectrogramPicture& picture, const std::string& path) {
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
        paint(c, b, picture.panels[i], values);
        c.frame(b);
        x_axis(c, b, time, "Time (" + unit.units + ")", unit.factor, i + 1 == picture.panels.size());
        frequency_axis(c, b, picture.frequencies);
        if (i < picture.panel_labels.size()) c.text(picture.panel_labels[i], b.x + b.w, b.y - 0.4 * gap, 1);
    }
    c.text(picture.title, left, top / 2, 0);
    colour_bar(c, {width - right + bar_gap, top, bar_width, height - top - bottom}, values,
               picture.value_label);
    c.write(path);
}

void draw(const LinePicture& picture, const std::string& path) {
    constexpr double colours[][3] = {
        {0.07, 0.36, 0.66}, {0.80, 0.27, 0.13}, {0.18, 0.55, 0.34}, {0.55, 0.34, 0.65}};
    const Box b{left, top, width - left - narrow_right, one_panel};
    const Canvas c(width, top + one_panel + bottom);
    Range x{0, 1}, y{picture.y_lowest, picture.y_lowest + 5};
    bool first = true;
    for (const LinePicture::Line& line : picture.lines) {
        for (const double v : line.x)
            x = first ? Range{v, v + 1e-300} : Range{std::min(x.low, v), std::max(x.high, v)}, first = false;
        for (const double v : line.y)
            if (std::isfinite(v)) y.high = std::max(y.high, 5 * std::ceil(v / 5 + 0.4));
    }
    cairo::set_source_rgb(c.get(), 0.85, 0.85, 0.85);
    for (const Tick& t : linear_ticks(y.low, y.high, 8)) {
        const double at = b.y + b.h * (1 - y.share(t.value));
        c.line(b.x, at, b.x + b.w, at);
    }
    cairo::set_source_rgb(c.get(), 0.6, 0.6, 0.6);
    for (const double mark : picture.marks) {
        const double at = b.x + b.w * x.share(mark);
        c.line(at, b.y, at, b.y + b.h);
    }
    cairo::save(c.get());
    cairo::rectangle(c.get(), b.x, b.y, b.w, b.h);
    cairo::clip(c.get());
    cairo::set_line_width(c.get(), 1.6 * line_width);
    cairo::set_line_join(c.get(), CAIRO_LINE_JOIN_ROUND);
    for (std::size_t i = 0; i < picture.lines.size(); ++i) {
        const double* rgb = colours[i % std::size(colours)];
        cairo::set_source_rgb(c.get(), rgb[0], rgb[1], rgb[2]);
        const LinePicture::Line& line = picture.lines[i];
        for (std::size_t k = 0; k < line.x.size(); ++k) {
            const double level = std::isfinite(line.y[k]) ? line.y[k] : picture.y_lowest - 20;
            cairo::line_to(c.get(), b.x + b.w * x.share(line.x[k]), b.y + b.h * (1 - y.share(level)));
        }
        cairo::stroke(c.get());
        if (picture.lines.size() < 2) continue;
        const double at = b.y + 34 + 40 * static_cast<double>(i), end = b.x + b.w - 24;
        c.line(end - 60, at, end, at);
        c.ink();
        c.text(line.label, end - 76, at, 1);
    }
    cairo::restore(c.get());
    c.ink();
    c.frame(b);
    const Readable unit = readable_frequency(x.high);
    x_axis(c, b, x, picture.x_label + " (" + unit.units + ")", unit.factor, true);
    for (const Tick& t : linear_ticks(y.low, y.high, 8))
        y_tick(c, b, y.share(t.value), t.text);
    c.upright(picture.y_label, b.x - 130, b.y + b.h / 2);
    c.text(picture.title, left, top / 2, 0);
    c.write(path);
}

void draw_response(const std::string& path, const std::vector<double>& hz, const std::vector<double>& db,
                   const std::string& title) {
    draw(LinePicture{title, "Frequency", "Gain (dB)", {{"", hz, db}}, -140, {}}, path);
}

}  // namespace convoy::pipelines
