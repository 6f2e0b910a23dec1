#include "pipelines/ticks.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace convoy::pipelines {

namespace {

std::string fixed_text(double value, int decimals) {
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
    const std::string text(buffer, end);
    if (!text.starts_with('-')) return text;
    const bool zero = text.find_first_of("123456789") == std::string::npos;
    return zero ? text.substr(1) : "\u2212" + text.substr(1);  // a true minus sign
}

}  // namespace

std::vector<Tick> linear_ticks(double low, double high, int wanted) {
    std::vector<Tick> ticks;
    if (!(high > low) || !std::isfinite(high - low)) return ticks;
    const double raw = (high - low) / std::max(wanted, 1);
    const double power = std::pow(10, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double m : {5.0, 2.0, 1.0})
        if (m * power >= raw * 0.999) step = m * power;
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
        ticks.push_back({i * step, fixed_text(i * step, decimals)});
    return ticks;
}

std::vector<Tick> log_ticks(double low, double high) {
    std::vector<Tick> ticks;
    if (!(low > 0) || !(high > low)) return ticks;
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
        for (const double m : {1.0, 2.0, 5.0}) {
            const double value = m * power;
            if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
            const bool thousands = value >= 1000;
            const double shown = thousands ? value / 1000 : value;
            const int decimals = shown >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(shown) - 1e-9));
            ticks.push_back({value, fixed_text(shown, decimals) + (thousands ? "k" : "")});
        }
    return ticks;
}

Readable readable_time(double seconds) {
    if (seconds > 3 * 86400) return {86400, "d"};
    if (seconds > 3 * 3600) return {3600, "h"};
    if (seconds > 180) return {60, "min"};
    if (seconds < 5e-7) return {1e-9, "ns"};
    if (seconds < 5e-4) return {1e-6, "µs"};
    if (seconds < 0.5) return {1e-3, "ms"};
    return {1, "s"};
}

Readable readable_frequency(double hz) {
    if (hz >= 2e6) return {1e6, "MHz"};
    if (hz >= 2000) return {1000, "kHz"};
    if (hz < 2e-4) return {1e-6, "µHz"};
    if (hz < 0.2) return {1e-3, "mHz"};
    return {1, "Hz"};
}

}  // namespace convoy::pipelines
