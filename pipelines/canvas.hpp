// What pictures are drawn on, and the axes that they share.
#pragma once

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "pipelines/cairo.hpp"
#include "pipelines/ticks.hpp"

namespace convoy::pipelines::drawing {

// All lengths are pixels of a picture that is 9 inches wide at 200 dots per inch.
constexpr double width = 1800, left = 170, right = 250, top = 80, bottom = 125, gap = 54;
constexpr double one_panel = 780, of_several = 380;
constexpr double text_size = 28, tick_length = 10, line_width = 2;
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

/// The ticks and the name of an axis below; share(value) is a value's place along it.
template <class Share>
void x_axis(const Canvas& c, Box b, const std::string& label, const std::vector<Tick>& ticks,
            const Share& share) {
    for (const Tick& t : ticks) {
        const double x = b.x + b.w * share(t.value);
        c.line(x, b.y + b.h, x, b.y + b.h + tick_length);
        if (!label.empty()) c.text(t.text, x, b.y + b.h + 2.9 * tick_length, 0.5);
    }
    if (!label.empty()) c.text(label, b.x + b.w / 2, b.y + b.h + 8 * tick_length, 0.5);
}

inline void y_tick(const Canvas& c, Box b, double share, const std::string& text) {
    const double y = b.y + b.h * (1 - share);
    c.line(b.x - tick_length, y, b.x, y);
    c.text(text, b.x - 1.6 * tick_length, y, 1);
}

}  // namespace convoy::pipelines::drawing
