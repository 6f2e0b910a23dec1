#include "io/timestamp.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "core/base/error.hpp"

namespace convoy::io {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

bool digit(char c) {
    return c >= '0' && c <= '9';
}

/// Takes `least` to `most` digits off the front.
std::optional<std::int64_t> take_number(std::string_view& text, std::size_t least, std::size_t most) {
    std::size_t n = 0;
    std::int64_t value = 0;
    while (n < most && n < text.size() && digit(text[n]))
        value = 10 * value + (text[n++] - '0');
    if (n < least) return std::nullopt;
    text.remove_prefix(n);
    return value;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text[0] != c) return false;
    text.remove_prefix(1);
    return true;
}

/// Digits of a decimal fraction in nanoseconds.
std::int64_t take_fraction(std::string_view& text) {
    std::int64_t value = 0, unit = second_ns / 10;
    for (; !text.empty() && digit(text[0]); text.remove_prefix(1), unit /= 10)
        value += (text[0] - '0') * unit;
    return value;
}

std::optional<std::int64_t> days_of(int year, int month, int day) {
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || year < 1700 || year > 2250) return std::nullopt;  // what 64-bit nanoseconds hold
    return std::chrono::sys_days(date).time_since_epoch().count();
}

std::optional<Timestamp> from_parts(int year, int month, int day, std::int64_t h, std::int64_t m,
                                    std::int64_t s, std::int64_t ns, bool utc) {
    const auto days = days_of(year, month, day);
    if (!days || h > 24 || m > 59 || s > 60) return std::nullopt;
    return Timestamp{((*days * 24 + h) * 60 + m) * 60 * second_ns + s * second_ns + ns, utc};
}

/// "Z", "+02:00", "-0330", "+02": minutes east of UTC.
std::optional<std::int64_t> take_zone(std::string_view& text) {
    if (take(text, 'Z') || take(text, 'z')) return 0;
    if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    std::string_view tried = text.substr(1);
    const auto hours = take_number(tried, 2, 2);
    if (!hours) return std::nullopt;
    take(tried, ':');
    const std::int64_t minutes = take_number(tried, 2, 2).value_or(0);
    const std::int64_t east = *hours * 60 + minutes;
    const bool west = text[0] == '-';
    text = tried;
    return west ? -east : east;
}

}  // namespace

std::optional<Timestamp> make_timestamp(int year, int month, int day, int hour, int minute, double second,
                                        bool utc) {
    if (hour < 0 || minute < 0 || !(second >= 0 && second < 61)) return std::nullopt;
    return from_parts(year, month, day, hour, minute, 0, std::llround(second * 1e9), utc);
}

std::optional<Timestamp> parse_timestamp(std::string_view text, std::string_view* rest) {
    const auto year = take_number(text, 4, 4);
    const bool dashes = take(text, '-');
    const auto month = take_number(text, 2, 2);
    if (dashes && !take(text, '-')) return std::nullopt;
    const auto day = take_number(text, 2, 2);
    if (!year || !month || !day) return std::nullopt;
    std::int64_t h = 0, m = 0, s = 0, ns = 0;
    std::optional<std::int64_t> zone;
    if (text.size() > 4 && (text[0] == 'T' || text[0] == ' ') && digit(text[1])) {
        text.remove_prefix(1);
        const auto hour = take_number(text, 2, 2);
        const bool colons = take(text, ':');
        const auto minute = take_number(text, 2, 2);
        if (!hour || !minute) return std::nullopt;
        h = *hour, m = *minute;
        if (!colons || take(text, ':')) s = take_number(text, 2, 2).value_or(0);
        if (take(text, '.')) ns = take_fraction(text);
        zone = take_zone(text);
    }
    if (rest) *rest = text;
    if (!rest && !text.empty()) return std::nullopt;
    auto time = from_parts(static_cast<int>(*year), static_cast<int>(*month), static_cast<int>(*day), h, m, s,
                           ns, zone.has_value());
    if (time && zone) time->nanoseconds -= *zone * 60 * second_ns;
    return time;
}

std::string to_iso8601(Timestamp time) {
    const std::chrono::sys_time<std::chrono::nanoseconds> point{std::chrono::nanoseconds(time.nanoseconds)};
    const auto day = std::chrono::floor<std::chrono::days>(point);
    const std::chrono::year_month_day date{day};
    const std::int64_t in_day = (point - day).count(), seconds = in_day / second_ns, ns = in_day % second_ns;
    char text[64];
    int n = std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                          static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                          static_cast<int>(seconds / 3600), static_cast<int>(seconds / 60 % 60),
                          static_cast<int>(seconds % 60));
    std::string result(text, static_cast<std::size_t>(n));
    if (ns != 0) {
        const int decimals = ns % 1'000'000 == 0 ? 3 : ns % 1000 == 0 ? 6 : 9;
        n = std::snprintf(text, sizeof text, ".%09d", static_cast<int>(ns));
        result.append(text, static_cast<std::size_t>(1 + decimals));
    }
    return result + (time.utc ? "Z" : "");
}

Timestamp later(Timestamp time, double seconds) {
    // Whole seconds apart: a double holds nanoseconds of a day, not of a year.
    const double whole = std::floor(seconds);
    time.nanoseconds += static_cast<std::int64_t>(whole) * second_ns + std::llround((seconds - whole) * 1e9);
    return time;
}

namespace {

struct Parts {
    int year = 1970, month = 1, day = 1, day_of_year = 0;
    std::int64_t hour = 0, minute = 0, second = 0, ns = 0;
    std::optional<std::int64_t> epoch;
    bool utc = false;
};

/// One %letter of a pattern against the front of `text`.
bool match_field(char letter, std::string_view& text, Parts& parts, const std::string& pattern) {
    const auto into = [&](auto& field, std::size_t digits) {
        const auto value = take_number(text, digits, digits);
        if (value) field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
        return value.has_value();
    };
    switch (letter) {
        case 'Y':
            return into(parts.year, 4);
        case 'y': {
            const bool found = into(parts.year, 2);
            parts.year += parts.year < 69 ? 2000 : 1900;
            return found;
        }
        case 'm':
            return into(parts.month, 2);
        case 'd':
            return into(parts.day, 2);
        case 'j':
            return into(parts.day_of_year, 3);
        case 'H':
            return into(parts.hour, 2);
        case 'M':
            return into(parts.minute, 2);
        case 'S':
            return into(parts.second, 2);
        case 'f': {
            if (text.empty() || !digit(text[0])) return false;
            parts.ns = take_fraction(text);
            return true;
        }
        case 's': {
            parts.epoch = take_number(text, 1, 10);
            return parts.epoch.has_value();
        }
        case '%':
            return take(text, '%');
        default:
            throw usage_error("--filename-time '" + pattern + "': %" + letter + " is not known",
                              "known are %Y %y %m %d %H %M %S %f %j %s and %%");
    }
}

std::optional<Timestamp> match_at(std::string_view text, const std::string& pattern) {
    Parts parts;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '%' && i + 1 < pattern.size()) {
            if (!match_field(pattern[++i], text, parts, pattern)) return std::nullopt;
        } else {
            if (!take(text, pattern[i])) return std::nullopt;
            parts.utc |= pattern[i] == 'Z';
        }
    }
    const char last = pattern.empty() ? ' ' : pattern.back();
    if (!text.empty() && digit(text[0]) && !digit(last)) return std::nullopt;
    if (parts.epoch) return Timestamp{*parts.epoch * second_ns + parts.ns, true};
    auto time = from_parts(parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second,
                           parts.ns, parts.utc);
    if (time && parts.day_of_year > 0) time->nanoseconds += (parts.day_of_year - 1) * 86400 * second_ns;
    return time;
}

}  // namespace

std::optional<Timestamp> time_in_name(const std::string& path, const std::string& pattern) {
    Parts unused;
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
        std::string_view nothing;
        if (pattern[i] == '%') match_field(pattern[++i], nothing, unused, pattern);
    }
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (at > 0 && digit(name[at - 1]) && digit(name[at])) continue;
        if (auto found = match_at(name.substr(at), pattern)) return found;
    }
    return std::nullopt;
}

}  // namespace convoy::io
