#include "core/base/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace convoy {

namespace {

// The number that text starts with; the rest is left in text.
std::optional<double> take_number(std::string_view& text) {
    double value = 0;
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc{} || !std::isfinite(value)) return {};
    text = digits.substr(static_cast<std::size_t>(end - digits.begin()));
    return value;
}

struct Suffix {
    std::string_view text;
    double factor;
};

template <std::size_t N>
std::optional<double> scaled(std::string_view text, const std::array<Suffix, N>& suffixes) {
    const auto value = take_number(text);
    if (!value) return {};
    for (const Suffix& s : suffixes)
        if (text == s.text) return *value * s.factor;
    return {};
}

std::optional<double> parse_clock(std::string_view text) {  // [HH:]MM:SS.s
    double seconds = 0;
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return {};
    for (const std::string& part : parts) {
        std::string_view rest = part;
        const auto value = take_number(rest);
        if (!value || !rest.empty() || *value < 0) return {};
        seconds = seconds * 60 + *value;
    }
    return seconds;
}

std::optional<int> take_int(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return {};
    int value = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.begin() + digits, value);
    if (error != std::errc{} || end != text.begin() + digits) return {};
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

// YYYY-MM-DD[THH:MM[:SS.s]][Z|+HH:MM]
std::optional<double> parse_iso(std::string_view text) {
    using namespace std::chrono;
    const auto y = take_int(text, 4);
    if (!y || !take(text, '-')) return {};
    const auto m = take_int(text, 2);
    if (!m || !take(text, '-')) return {};
    const auto d = take_int(text, 2);
    if (!d) return {};
    const year_month_day date{year{*y}, month{static_cast<unsigned>(*m)}, day{static_cast<unsigned>(*d)}};
    if (!date.ok()) return {};
    double seconds = static_cast<double>(sys_days{date}.time_since_epoch().count()) * 86400;
    if (text.empty()) return seconds;
    if (!take(text, 'T') && !take(text, ' ')) return {};
    const auto hour = take_int(text, 2);
    if (!hour || *hour > 24 || !take(text, ':')) return {};
    const auto minute = take_int(text, 2);
    if (!minute || *minute > 59) return {};
    seconds += *hour * 3600.0 + *minute * 60.0;
    if (take(text, ':')) {
        const auto s = take_number(text);
        if (!s || *s < 0 || *s >= 61) return {};
        seconds += *s;
    }
    if (text.empty() || text == "Z") return seconds;
    const double sign = text.front() == '-' ? -1 : text.front() == '+' ? 1 : 0;
    if (sign == 0) return {};
    text.remove_prefix(1);
    const auto zone_hours = take_int(text, 2);
    if (!zone_hours) return {};
    take(text, ':');
    const auto zone_minutes = text.empty() ? std::optional<int>(0) : take_int(text, 2);
    if (!zone_minutes || !text.empty()) return {};
    return seconds - sign * (*zone_hours * 3600.0 + *zone_minutes * 60.0);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
    static constexpr std::array<Suffix, 4> suffixes{{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}};
    return scaled(text, suffixes);
}

std::optional<Index> parse_integer(std::string_view text) {
    const auto value = parse_number(text);
    if (!value || std::abs(*value) > 9e18 || std::floor(*value) != *value) return {};
    return static_cast<Index>(*value);
}

std::optional<Index> parse_bytes(std::string_view text) {
    static constexpr std::array<Suffix, 9> suffixes{{{"B", 1},
                                                     {"kB", 1e3},
                                                     {"MB", 1e6},
                                                     {"GB", 1e9},
                                                     {"TB", 1e12},
                                                     {"KiB", 1024.},
                                                     {"MiB", 1048576.},
                                                     {"GiB", 1073741824.},
                                                     {"TiB", 1099511627776.}}};
    const auto value = scaled(text, suffixes);
    if (!value || *value < 0 || *value > 9e18) return {};
    return static_cast<Index>(*value);
}

std::optional<Time> parse_time(std::string_view text) {
    static constexpr std::array<Suffix, 8> suffixes{
        {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
    if (text.ends_with('n'))  // "2min" too, which is no whole number of samples
        if (const auto samples = parse_integer(text.substr(0, text.size() - 1)))
            return Time{Time::Unit::samples, static_cast<double>(*samples)};
    if (const auto seconds = scaled(text, suffixes)) return Time{Time::Unit::seconds, *seconds};
    if (const auto seconds = parse_clock(text)) return Time{Time::Unit::seconds, *seconds};
    if (const auto seconds = parse_iso(text)) return Time{Time::Unit::absolute, *seconds};
    return {};
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t at = 0;;) {
        const std::size_t end = text.find(separator, at);
        parts.emplace_back(text.substr(at, end - at));
        if (end == std::string_view::npos) return parts;
        at = end + 1;
    }
}

std::string to_text(double value) {
    std::array<char, 40> buffer{};
    // 100000 Hz, and not 1e+05: whole numbers that a double counts exactly are written out.
    if (std::floor(value) == value && std::abs(value) < 0x1p53 && !(value == 0 && std::signbit(value)))
        return std::to_string(static_cast<Index>(value));
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end};
}

std::string to_text(Index value) {
    return std::to_string(value);
}

std::string bytes_text(double bytes) {
    static constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < units.size(); ++unit)
        bytes /= 1024;
    std::array<char, 40> buffer{};
    const int decimals = unit == 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), bytes,
                                            std::chars_format::fixed, decimals);
    return std::string(buffer.data(), end) + " " + std::string(units[unit]);
}

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
    const auto distance = [](std::string_view a, std::string_view b) {  // Levenshtein, one row
        std::vector<std::size_t> row(b.size() + 1);
        for (std::size_t j = 0; j <= b.size(); ++j)
            row[j] = j;
        for (std::size_t i = 1; i <= a.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i;
            for (std::size_t j = 1; j <= b.size(); ++j) {
                const std::size_t above = row[j];
                row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
                diagonal = above;
            }
        }
        return row[b.size()];
    };
    const auto begun = [&](const std::string& candidate) { return candidate.starts_with(name); };
    if (name.size() > 2 && std::count_if(names.begin(), names.end(), begun) == 1)  // cut short
        return *std::find_if(names.begin(), names.end(), begun);
    std::string best;
    std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
    for (const std::string& candidate : names)
        if (const std::size_t d = distance(name, candidate); d < least) {
            least = d;
            best = candidate;
        }
    return best;
}

}  // namespace convoy
