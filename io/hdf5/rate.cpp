// Where the fields keep the sample rate, and under which names.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/base/quantity.hpp"
#include "io/hdf5/metadata.hpp"

namespace convoy::io::h5 {

namespace {
// As plain_name() writes them. Not among them: PulseRate, RepetitionFrequency (light pulses before
// decimation).
constexpr std::string_view rate_names[] = {"fs",
                                           "samplingrate",
                                           "samplerate",
                                           "samplingfrequency",
                                           "samplefrequency",
                                           "outputdatarate",
                                           "rate",
                                           "sr",
                                           "sfreq",
                                           "srate",
                                           "samprate",
                                           "samplingfreq",
                                           "samplefreq",
                                           "nominalsrate",
                                           "datarate",
                                           "framerate",
                                           "acquisitionrate",
                                           "acquisitionfrequency",
                                           "samplespersecond",
                                           "samplerateinhz",
                                           "fsamp",
                                           "fsample",
                                           "temporalsamplingrate",
                                           "ratesampling"};
constexpr std::string_view step_names[] = {"dt",           "sampleinterval", "samplinginterval",
                                           "xspacing",     "delta",          "deltat",
                                           "timestep",     "samplingperiod", "sampleperiod",
                                           "timeinterval", "dtime",          "tsamp",
                                           "timespacing",  "wfincrement",    "samplespacing",
                                           "samplingtime", "timedelta",      "temporalsamplinginterval"};

enum class Meaning { rate, step };
struct Named {
    Meaning meaning;
    std::size_t place;             // in its list: what comes first is preferred
    std::optional<double> factor;  // of a unit within the name: "SamplingFrequency[Hz]", "dt_ms"
};

template <std::size_t N>
std::optional<std::size_t> place_in(const std::string_view (&names)[N], std::string_view name) {
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) return std::nullopt;
    return static_cast<std::size_t>(found - std::begin(names));
}

std::optional<Named> exactly(std::string_view plain) {
    if (const auto place = place_in(rate_names, plain)) return Named{Meaning::rate, *place, std::nullopt};
    if (const auto place = place_in(step_names, plain)) return Named{Meaning::step, *place, std::nullopt};
    return std::nullopt;
}

std::optional<Named> understand(const std::string& name) {
    const std::string plain = plain_name(name);
    if (const auto found = exactly(plain)) return found;
    for (const std::string_view unit : {"khz", "mhz", "hz", "ms", "us", "ns", "seconds", "sec", "s"}) {
        if (!plain.ends_with(unit)) continue;
        auto found = exactly(std::string_view(plain).substr(0, plain.size() - unit.size()));
        if (!found) continue;
        found->factor = found->meaning == Meaning::rate ? hertz_in(unit) : seconds_in(unit);
        if (found->factor) return found;
    }
    return std::nullopt;
}

/// A positive number and the unit behind it, if any: 500, "500.0", "500 Hz", or an array that holds one value
/// only.
std::optional<std::pair<double, std::string>> quantity(const Value& value) {
    if (!value.texts.empty()) {
        std::string_view text = value.texts.front();
        while (text.starts_with(' ') || text.starts_with('+'))
            text.remove_prefix(1);
        double number = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (problem != std::errc{} || !std::isfinite(number) || number <= 0) return std::nullopt;
        return std::pair{number, std::string(end, text.data() + text.size())};
    }
    const auto& n = value.numbers;
    if (n.empty() || !std::isfinite(n[0]) || n[0] <= 0) return std::nullopt;
    if (std::adjacent_find(n.begin(), n.end(), std::not_equal_to<>()) != n.end()) return std::nullopt;
    return std::pair{n[0], std::string{}};
}

/// Hertz, from a value and the unit that stands in its text, its name or beside it; nullopt where the unit is
/// another kind (a spacing in metres).
std::optional<double> hertz(const Named& named, const Value& value, const std::string& unit_beside) {
    const auto found = quantity(value);
    if (!found) return std::nullopt;
    auto [number, unit] = *found;
    if (plain_name(unit).empty()) unit = unit_beside;
    double factor = named.factor.value_or(1);
    bool as_rate = named.meaning == Meaning::rate;
    if (!plain_name(unit).empty()) {
        const auto frequency = hertz_in(unit), seconds = seconds_in(unit);
        if (!frequency && !seconds) return std::nullopt;
        as_rate = frequency.has_value();
        factor = frequency ? *frequency : *seconds;
    }
    return as_rate ? number * factor : 1 / (number * factor);
}

/// Text of an attribute that gives the unit of another one: fs_units, fsUnit, fs.uom; Xunits of Xspacing.
std::string unit_beside(hid_t object, const std::vector<std::string>& names, const std::string& name) {
    const std::string plain = plain_name(name);
    for (const std::string& other : names)
        for (const std::string_view ending : {"units", "unit", "uom"})
            if (plain_name(other) == plain + std::string(ending) ||
                (plain == "xspacing" && plain_name(other) == "xunits"))
                if (const auto text = attribute(object, other)) return text->text();
    return {};
}

std::optional<Rate> best(std::map<std::pair<Meaning, std::size_t>, Rate> found) {
    if (found.empty()) return std::nullopt;
    return found.begin()->second;
}

/// Rates and steps among the small datasets of a group.
std::optional<Rate> rate_in_datasets(const Source& source, const std::string& group) {
    Object open = open_object(source.home, group);
    if (!open.valid() || kind_of(open) != ObjectKind::group) return std::nullopt;
    std::map<std::pair<Meaning, std::size_t>, Rate> found;
    for (const Link& link : links(open, source.where)) {
        const auto named = understand(link.name);
        const std::string path = join_path(group, link.name);
        if (!named || path == source.home_name) continue;
        Object object = open_object(open, link.name);
        if (!object.valid() || kind_of(object) != ObjectKind::dataset) continue;
        const auto held = value(object, 64);
        if (!held) continue;
        if (const auto hz = hertz(*named, *held, units_of(object)))
            found.try_emplace({named->meaning, named->place}, Rate{*hz, "dataset " + path});
    }
    return best(std::move(found));
}

std::optional<Rate> positive(const std::optional<Value>& value, double factor, bool step,
                             const std::string& origin) {
    const auto number = value ? quantity(*value) : std::nullopt;
    if (!number) return std::nullopt;
    return Rate{step ? 1 / (number->first * factor) : number->first * factor, origin};
}

/// Febus: Spacing of a zone is {metres, milliseconds}; SamplingRate is right only in files without a version,
/// and there some hold that of the digitizer.
std::optional<Rate> febus_rate(const Source& source) {
    const std::string zone = groups_above(source.home_name).front();
    const auto spacing = attribute_at(source, zone, "Spacing");
    if (!spacing || spacing->numbers.size() < 2 || !attribute_at(source, zone, "Extent")) return std::nullopt;
    const auto declared = attribute_at(source, zone, "SamplingRate");
    const bool versioned = attribute_at(source, zone, "Version").has_value();
    if (!versioned && declared && !declared->numbers.empty() && declared->numbers[0] > 0 &&
        declared->numbers[0] < 1e8)
        return Rate{declared->numbers[0], "attribute SamplingRate of " + zone};
    if (spacing->numbers[1] <= 0) return std::nullopt;
    return Rate{1e3 / spacing->numbers[1], "attribute Spacing of " + zone + " (ms)"};
}

/// Attributes that are named as a rate and hold none: the user looks at them and wonders.
std::string unusable_rates(hid_t object, const std::string& name) {
    std::string text;
    for (const std::string& attribute_name : attribute_names(object)) {
        const auto held = understand(attribute_name) ? attribute(object, attribute_name) : std::nullopt;
        if (held && !quantity(*held))
            text += "attribute " + attribute_name + " of " + name +
                    " (which is there, but is not one positive number); ";
    }
    return text;
}
}  // namespace

std::optional<Rate> rate_in_attributes(hid_t object, const std::string& name) {
    Lock lock;
    std::map<std::pair<Meaning, std::size_t>, Rate> found;
    const std::vector<std::string> names = attribute_names(object);
    for (const std::string& attribute_name : names) {
        const auto named = understand(attribute_name);
        const auto held = named ? attribute(object, attribute_name) : std::nullopt;
        if (!held) continue;
        if (const auto hz = hertz(*named, *held, unit_beside(object, names, attribute_name)))
            found.try_emplace({named->meaning, named->place},
                              Rate{*hz, "attribute " + attribute_name + " of " + name});
    }
    return best(std::move(found));
}

std::optional<Rate> rate_of_maker(const Source& source) {
    Lock lock;
    const std::string group = groups_above(source.home_name).front();
    const std::string nwb = join_path(group, "starting_time");
    if (auto rate = positive(attribute_at(source, nwb, "rate"), 1, false, "attribute rate of " + nwb))
        return rate;
    if (auto rate = febus_rate(source)) return rate;
    const std::string asn = join_path(group, "header/dt");
    if (auto rate = positive(value_at(source, asn), 1, true, "dataset " + asn)) return rate;
    const std::string ap = join_path(group, "ProcessingServer/DataRate");
    return positive(value_at(source, ap), 1, false, "dataset " + ap);
}

std::optional<Rate> rate_in_parents(const Source& source) {
    Lock lock;
    for (const std::string& group : groups_above(source.home_name)) {
        Object open = open_object(source.home, group);
        if (!open.valid()) continue;
        if (auto rate = rate_in_attributes(open, group)) return rate;
    }
    return std::nullopt;
}

std::optional<Rate> rate_in_siblings(const Source& source) {
    Lock lock;
    for (const std::string& group : groups_above(source.home_name)) {
        if (auto rate = rate_in_datasets(source, group)) return rate;
        for (const std::string_view name : {"header", "meta", "metadata", "Metadata"}) {
            const std::string path = join_path(group, name);
            Object open = open_object(source.home, path);
            if (!open.valid()) continue;
            if (auto rate = rate_in_attributes(open, path)) return rate;
            if (auto rate = rate_in_datasets(source, path)) return rate;
        }
    }
    return std::nullopt;
}

std::string rate_looked_for(const Source& source) {
    Lock lock;
    std::string groups, useless = unusable_rates(source.dataset, source.home_name);
    for (const std::string& group : groups_above(source.home_name)) {
        groups += ", " + group;
        const Object open = open_object(source.home, group);
        if (open.valid()) useless += unusable_rates(open, group);
    }
    return useless +
           "attributes fs, sampling_rate, sample_rate, SamplingFrequency, OutputDataRate, rate, dt, "
           "sample_interval, "
           "Xspacing and the like of " +
           source.home_name + groups +
           "; small datasets of those names beside it; starting_time@rate, header/dt, "
           "ProcessingServer/DataRate; "
           "dimension scales; uniform time stamps beside it";
}

}  // namespace convoy::io::h5
