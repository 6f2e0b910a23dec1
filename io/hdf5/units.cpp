// Units, names and places as people write them into files.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "core/base/text.hpp"
#include "io/hdf5/metadata.hpp"

namespace convoy::io::h5 {

namespace {
struct Unit {
    std::string_view name;
    double factor;
};

constexpr std::array<Unit, 29> time_units{{{"s", 1},
                                           {"sec", 1},
                                           {"secs", 1},
                                           {"second", 1},
                                           {"seconds", 1},
                                           {"ms", 1e-3},
                                           {"msec", 1e-3},
                                           {"msecs", 1e-3},
                                           {"millisecond", 1e-3},
                                           {"milliseconds", 1e-3},
                                           {"us", 1e-6},
                                           {"usec", 1e-6},
                                           {"usecs", 1e-6},
                                           {"microsecond", 1e-6},
                                           {"microseconds", 1e-6},
                                           {"\xc2\xb5s", 1e-6},
                                           {"\xce\xbcs", 1e-6},
                                           {"ns", 1e-9},
                                           {"nsec", 1e-9},
                                           {"nanosecond", 1e-9},
                                           {"nanoseconds", 1e-9},
                                           {"min", 60},
                                           {"minute", 60},
                                           {"minutes", 60},
                                           {"h", 3600},
                                           {"hour", 3600},
                                           {"hours", 3600},
                                           {"d", 86400},
                                           {"days", 86400}}};
constexpr std::array<Unit, 12> frequency_units{{{"hz", 1},
                                                {"hertz", 1},
                                                {"1/s", 1},
                                                {"s-1", 1},
                                                {"s^-1", 1},
                                                {"sps", 1},
                                                {"samples/s", 1},
                                                {"samples/second", 1},
                                                {"khz", 1e3},
                                                {"mhz", 1e6},
                                                {"ghz", 1e9},
                                                {"samples per second", 1}}};

std::string lower_trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

template <std::size_t N>
std::optional<double> factor_of(std::string_view unit, const std::array<Unit, N>& units) {
    const std::string name = lower_trimmed(unit);
    for (const Unit& u : units)
        if (u.name == name) return u.factor;
    return std::nullopt;
}

}  // namespace

std::optional<double> seconds_in(std::string_view unit) {
    if (const auto since = unit.find(" since "); since != std::string_view::npos)
        unit = unit.substr(0, since);
    return factor_of(unit, time_units);
}

std::optional<double> hertz_in(std::string_view unit) {
    return factor_of(unit, frequency_units);
}

std::string plain_name(std::string_view name) {
    std::string out;
    for (const char c : lower(std::string(name)))
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
    return out;
}

std::string units_of(hid_t object) {
    for (const char* name : {"units", "unit", "Units", "Unit", "UNITS", "uom"})
        if (const auto found = attribute(object, name); found && !found->texts.empty()) return found->text();
    return {};
}

std::optional<double> epoch_unit(double value) {
    // 1973 to 2255 in each unit: the ranges do not meet.
    for (const double unit : {1.0, 1e-3, 1e-6, 1e-9})
        if (value * unit >= 1e8 && value * unit < 9e9) return unit;
    return std::nullopt;
}

std::optional<Timestamp> epoch_time(double value) {
    const auto unit = epoch_unit(value);
    if (!unit) return std::nullopt;
    return Timestamp{std::llround(value * *unit * 1e6) * 1000,
                     true};  // a float64 of seconds is good to 0.2 us
}

bool is_gps_time(double value) {
    return value >= 1e8 && value < 2e9;
}

Timestamp gps_time(double value) {
    // Seconds from 1980-01-06 without leap seconds, which came at these.
    constexpr double leaps[] = {46828800,  78364801,  109900802, 173059203,  252028804,  315187205,
                                346723206, 393984007, 425520008, 457056009,  504489610,  551750411,
                                599184012, 820108813, 914803214, 1025136015, 1119744016, 1167264017};
    double leap_seconds = 0;
    for (const double leap : leaps)
        leap_seconds += value > leap ? 1 : 0;
    return {std::llround((value + 315964800.0 - leap_seconds) * 1e6) * 1000, true};
}

std::vector<std::string> groups_above(const std::string& path) {
    std::vector<std::string> groups;
    for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1))
        groups.push_back(path.substr(0, slash));
    groups.push_back("/");
    return groups;
}

std::optional<Value> value_at(const Source& source, const std::string& path) {
    Lock lock;
    Object object = open_object(source.home, path);
    return object.valid() && kind_of(object) == ObjectKind::dataset ? value(object) : std::nullopt;
}

std::optional<Value> attribute_at(const Source& source, const std::string& path, const std::string& name) {
    Lock lock;
    Object object = open_object(source.home, path);
    return object.valid() ? attribute(object, name) : std::nullopt;
}

}  // namespace convoy::io::h5
