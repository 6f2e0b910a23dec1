#include "pipelines/colours.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace convoy::pipelines {

namespace {

struct Rgb {
    double r, g, b;
    bool shown() const { return std::min({r, g, b}) >= 0 && std::max({r, g, b}) <= 1; }
};

// Linear sRGB of an Oklab colour given by lightness, chroma and hue (degrees).
Rgb linear_rgb(double lightness, double chroma, double hue) {
    const double a = chroma * std::cos(hue * std::numbers::pi / 180);
    const double b = chroma * std::sin(hue * std::numbers::pi / 180);
    const auto cube = [](double v) { return v * v * v; };
    const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
    const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
    const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

std::uint32_t byte_of(double linear) {
    const double v = std::clamp(linear, 0.0, 1.0);
    const double encoded = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
    return static_cast<std::uint32_t>(std::lround(255 * encoded));
}

std::array<std::uint32_t, 256> make() {
    std::array<std::uint32_t, 256> colours{};
    for (std::size_t i = 0; i < colours.size(); ++i) {
        const double t = static_cast<double>(i) / 255;
        const double lightness = 0.13 + 0.85 * t, hue = 282 + 188 * t;
        double chroma = 0.03 + 0.2 * std::sin(std::numbers::pi * (0.08 + 0.84 * t));
        Rgb c = linear_rgb(lightness, chroma, hue);
        while (!c.shown() && chroma > 0) {  // the most that a screen has
            chroma -= 0.002;
            c = linear_rgb(lightness, chroma, hue);
        }
        colours[i] = 0xff000000u | byte_of(c.r) << 16 | byte_of(c.g) << 8 | byte_of(c.b);
    }
    return colours;
}

}  // namespace

const std::array<std::uint32_t, 256>& heat_colours() {
    static const std::array<std::uint32_t, 256> colours = make();
    return colours;
}

}  // namespace convoy::pipelines
