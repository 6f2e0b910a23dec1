#include "core/conv2d/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/base/quantity.hpp"

namespace convoy::conv2d {

namespace {

constexpr std::array names = {"sobel-x", "sobel-y", "gaussian", "log", "box", "gabor"};
constexpr double largest = 4096;  // of a kernel's extents

using Numbers = std::vector<double>;

Error wrong(std::string_view text, const std::string& what) {
    return usage_error("kernel '" + std::string(text) + "': " + what,
                       "choose one of " + std::string(kernel_names));
}

Kernel outer(const Numbers& rows, const Numbers& columns) {
    Kernel k{{static_cast<Index>(rows.size()), static_cast<Index>(columns.size())}, {}};
    for (const double r : rows)
        for (const double c : columns)
            k.values.push_back(r * c);
    return k;
}

// Samples of a Gaussian that sum to 1, to 4 sigma, and of its second derivative, as scipy.ndimage has them.
Numbers gaussian(double sigma) {
    const int radius = static_cast<int>(4 * sigma + 0.5);
    Numbers g;
    double sum = 0;
    for (int i = -radius; i <= radius; ++i) {
        g.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
        sum += g.back();
    }
    for (double& x : g)
        x /= sum;
    return g;
}
Numbers curvature(double sigma) {
    Numbers g = gaussian(sigma);
    const int radius = static_cast<int>(g.size() / 2);
    for (int i = -radius; i <= radius; ++i)
        g[static_cast<std::size_t>(i + radius)] *= (i * i / (sigma * sigma) - 1) / (sigma * sigma);
    return g;
}

Kernel laplacian(double rows, double columns) {
    Kernel sum = outer(curvature(rows), gaussian(columns));
    const Kernel other = outer(gaussian(rows), curvature(columns));
    for (std::size_t i = 0; i < sum.values.size(); ++i)
        sum.values[i] += other.values[i];
    return sum;
}

Kernel gabor(double wavelength, double degrees, double sigma, double aspect) {
    const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
    const double across = sigma / aspect;
    const auto radius = [](double a, double b) {
        return static_cast<int>(std::ceil(std::max({std::abs(3 * a), std::abs(3 * b), 1.0})));
    };
    const int columns = radius(sigma * c, across * s), rows = radius(sigma * s, across * c);
    Kernel k{{2 * rows + 1, 2 * columns + 1}, {}};
    for (int y = -rows; y <= rows; ++y)
        for (int x = -columns; x <= columns; ++x) {
            const double along = (x * c + y * s) / sigma, beside = (y * c - x * s) / across;
            k.values.push_back(std::exp(-0.5 * (along * along + beside * beside)) /
                               (2 * std::numbers::pi * sigma * across) *
                               std::cos(2 * std::numbers::pi * (x * c + y * s) / wavelength));
        }
    return k;
}

// The parameters after the colon, at most `most` of them.
Numbers parameters(std::string_view text, std::size_t most) {
    Numbers found;
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return found;
    for (const std::string& word : split(text.substr(colon + 1), ',')) {
        const auto number = parse_number(word);
        if (!number) throw wrong(text, "'" + word + "' is not a number");
        found.push_back(*number);
    }
    if (found.size() > most)
        throw wrong(text, most == 0 ? "it has no parameters"
                                    : "it has at most " + std::to_string(most) + " parameters");
    return found;
}

double positive(std::string_view text, double value) {
    if (!(value > 0 && value <= largest))
        throw wrong(text, to_text(value) + " must be above 0 and at most 4096");
    return value;
}

}  // namespace

bool names_kernel(std::string_view text) {
    const std::string_view name = text.substr(0, text.find(':'));
    return std::find(names.begin(), names.end(), name) != names.end();
}

Kernel make_kernel(std::string_view text) {
    const std::string_view name = text.substr(0, text.find(':'));
    if (name == "sobel-x" || name == "sobel-y") {
        parameters(text, 0);
        const Numbers smooth = {1, 2, 1}, slope = {-1, 0, 1};
        return name == "sobel-x" ? outer(smooth, slope) : outer(slope, smooth);
    }
    if (name == "gabor") {
        const Numbers p = parameters(text, 4);
        const auto or_else = [&](std::size_t i, double fallback) { return p.size() > i ? p[i] : fallback; };
        const double wavelength = positive(text, or_else(0, 8));
        // One octave wide at half height: sigma = wavelength / pi sqrt(ln 2 / 2) (2^1 + 1) / (2^1 - 1).
        const double octave = wavelength / std::numbers::pi * std::sqrt(std::numbers::ln2 / 2) * 3;
        const double sigma = positive(text, or_else(2, octave)), aspect = positive(text, or_else(3, 1));
        if (!(std::max(sigma, sigma / aspect) <= largest / 8)) throw wrong(text, "it is too large");
        return gabor(wavelength, or_else(1, 0), sigma, aspect);
    }
    if (!names_kernel(text)) throw wrong(text, "no kernel is called so");
    const Numbers p = parameters(text, 2);
    const double rows = positive(text, p.empty() ? (name == "box" ? 3 : 1) : p[0]);
    const double columns = positive(text, p.size() > 1 ? p[1] : rows);
    if (name == "box") {
        if (rows != std::floor(rows) || columns != std::floor(columns))
            throw wrong(text, "extents are whole numbers");
        return outer(Numbers(static_cast<std::size_t>(rows), 1 / rows),
                     Numbers(static_cast<std::size_t>(columns), 1 / columns));
    }
    if (!(std::max(rows, columns) <= largest / 8)) throw wrong(text, "it is too large");
    return name == "log" ? laplacian(rows, columns) : outer(gaussian(rows), gaussian(columns));
}

}  // namespace convoy::conv2d
