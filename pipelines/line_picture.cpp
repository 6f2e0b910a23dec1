#include <algorithm>
#include <cmath>

#include "pipelines/canvas.hpp"
#include "pipelines/picture.hpp"

namespace convoy::pipelines {

using namespace drawing;

namespace {

// An axis: where a value stands on it, and its ticks.
struct Scale {
    Range range;  // of the values, or of their logarithms
    bool logarithmic;
    double factor = 1;  // of the unit of the ticks

    double share(double v) const { return range.share(logarithmic ? std::log10(v) : v); }
    std::vector<Tick> ticks() const {
        std::vector<Tick> all =
            logarithmic ? log_ticks(std::pow(10, range.low) / factor, std::pow(10, range.high) / factor)
                        : linear_ticks(range.low / factor, range.high / factor, 8);
        for (Tick& t : all)
            t.value *= factor;
        return all;
    }
};

// The range of finite values; {0, 1} where there are none.
template <class Values>
Range hull(const LinePicture& picture, const Values& values) {
    Range r{INFINITY, -INFINITY};
    for (const LinePicture::Line& line : picture.lines)
        for (const double v : values(line))
            if (std::isfinite(v)) r = {std::min(r.low, v), std::max(r.high, v)};
    return r.low > r.high ? Range{0, 1} : r;
}

Scale logarithmic(Range r, double margin) {
    return {{std::log10(r.low) - margin, std::log10(r.high) + margin}, true};
}

Scale x_scale(const LinePicture& picture) {
    const Range r = hull(
        picture, [](const auto& line) -> const auto& { return line.x; });
    if (picture.logarithmic) return logarithmic(r, 0.03);
    return {{r.low, r.high > r.low ? r.high : r.low + 1e-300}, false, readable_frequency(r.high).factor};
}

Scale y_scale(const LinePicture& picture) {
    const Range r = hull(
        picture, [](const auto& line) -> const auto& { return line.y; });
    if (picture.logarithmic) return logarithmic(r, 0.1);
    const double high = picture.y_lowest + 5;
    return {{picture.y_lowest, std::max(high, 5 * std::ceil(r.high / 5 + 0.4))}, false};
}

void grid(const Canvas& c, Box b, const Scale& x, const Scale& y, const LinePicture& picture) {
    cairo::set_source_rgb(c.get(), 0.85, 0.85, 0.85);
    for (const Tick& t : y.ticks()) {
        const double at = b.y + b.h * (1 - y.share(t.value));
        c.line(b.x, at, b.x + b.w, at);
    }
    cairo::set_source_rgb(c.get(), 0.6, 0.6, 0.6);
    for (const double mark : picture.marks) {
        const double at = b.x + b.w * x.share(mark);
        c.line(at, b.y, at, b.y + b.h);
    }
}

void lines(const Canvas& c, Box b, const Scale& x, const Scale& y, const LinePicture& picture) {
    constexpr double colours[][3] = {{0.07, 0.36, 0.66}, {0.80, 0.27, 0.13}, {0.18, 0.55, 0.34},
                                     {0.55, 0.34, 0.65}, {0.85, 0.60, 0.10}, {0.35, 0.35, 0.35}};
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
            const double share = std::isfinite(line.y[k]) ? y.share(line.y[k]) : -0.1;
            const double at_x = b.x + b.w * x.share(line.x[k]), at_y = b.y + b.h * (1 - share);
            if (k == 0)
                cairo::move_to(c.get(), at_x, at_y);  // not from where the last label ended
            else
                cairo::line_to(c.get(), at_x, at_y);
        }
        cairo::stroke(c.get());
        if (picture.lines.size() < 2) continue;
        const double at = b.y + 34 + 40 * static_cast<double>(i), end = b.x + b.w - 24;
        c.line(end - 60, at, end, at);
        c.ink();
        c.text(line.label, end - 76, at, 1);
    }
    cairo::restore(c.get());
}

}  // namespace

void draw(const LinePicture& picture, const std::string& path) {
    const Box b{left, top, width - left - narrow_right, one_panel};
    const Canvas c(width, top + one_panel + bottom);
    const Scale x = x_scale(picture), y = y_scale(picture);
    grid(c, b, x, y, picture);
    lines(c, b, x, y, picture);
    c.ink();
    c.frame(b);
    const std::string units = picture.logarithmic ? "" : " (" + readable_frequency(x.range.high).units + ")";
    x_axis(c, b, picture.x_label + units, x.ticks(), [&](double v) { return x.share(v); });
    for (const Tick& t : y.ticks())
        y_tick(c, b, y.share(t.value), t.text);
    c.upright(picture.y_label, b.x - 130, b.y + b.h / 2);
    c.text(picture.title, left, top / 2, 0);
    c.write(path);
}

void draw_response(const std::string& path, const std::vector<double>& hz, const std::vector<double>& db,
                   const std::string& title) {
    draw(LinePicture{title, "Frequency", "Gain (dB)", {{"", hz, db}}, -140, {}, false}, path);
}

}  // namespace convoy::pipelines
