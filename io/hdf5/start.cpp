// When a recording started, where attributes or small datasets say so. (Absolute time stamps come before all
// this.)
#include <cstdio>

#include "core/base/quantity.hpp"
#include "io/hdf5/metadata.hpp"

namespace convoy::io::h5 {

namespace {
/// Plain names of attributes that hold the time of the first sample, preferred first.
constexpr std::string_view start_names[] = {"starttime",
                                            "partstarttime",
                                            "startdatetime",
                                            "gpstimestamp",
                                            "iso8601timestamp",
                                            "measurementstarttime",
                                            "starttimeutc",
                                            "utcstarttime",
                                            "timestart",
                                            "begintime",
                                            "timemin",
                                            "t0",
                                            "recordingstarttime",
                                            "acquisitionstarttime",
                                            "filestartgpstime",
                                            "filestartcomputertime",
                                            "cputimestamp"};

/// "15/06/2020 13:45:00.25 (UTC)", as Silixa writes it.
std::optional<Timestamp> day_first(const std::string& text) {
    int day = 0, month = 0, year = 0, hour = 0, minute = 0, fields = 0;
    char second[16] = "0";
    fields = std::sscanf(text.c_str(), "%2d/%2d/%4d %2d:%2d:%15[0-9.]", &day, &month, &year, &hour, &minute,
                         second);
    if (fields < 3) return std::nullopt;
    return make_timestamp(year, month, day, hour, minute, parse_number(second).value_or(0),
                          text.find("UTC") != std::string::npos);
}

std::optional<std::string> time_in(const Value& value) {
    std::optional<Timestamp> time;
    if (!value.texts.empty()) {
        const std::string& text = value.texts.front();
        time = parse_timestamp(text);
        if (!time) time = day_first(text);
    } else if (const auto number = value.number()) {
        time = epoch_time(*number);
    }
    return time ? std::optional(to_iso8601(*time)) : std::nullopt;
}

std::optional<Start> in_attributes(hid_t object, const std::string& name) {
    const std::vector<std::string> names = attribute_names(object);
    for (const std::string_view wanted : start_names)
        for (const std::string& attribute_name : names) {
            if (plain_name(attribute_name) != wanted) continue;
            const auto value = attribute(object, attribute_name);
            if (const auto time = value ? time_in(*value) : std::nullopt)
                return Start{*time, "attribute " + attribute_name + " of " + name,
                             attribute_name == "start_time"};
        }
    return std::nullopt;
}

std::optional<Start> of_gwosc(const Source& source) {
    const auto first = attribute(source.dataset, "Xstart");
    const auto spacing = attribute(source.dataset, "Xspacing");
    if (spacing && first && first->number() && is_gps_time(*first->number()))
        return Start{to_iso8601(gps_time(*first->number())),
                     "attribute Xstart of " + source.home_name + " (GPS)"};
    const auto meta = spacing ? value_at(source, "/meta/GPSstart") : std::nullopt;
    if (!meta || !meta->number() || !is_gps_time(*meta->number())) return std::nullopt;
    return Start{to_iso8601(gps_time(*meta->number())), "dataset /meta/GPSstart (GPS)"};
}

/// Starting time in seconds after the session's reference time.
std::optional<Start> of_nwb(const Source& source) {
    const std::string path = join_path(groups_above(source.home_name).front(), "starting_time");
    const auto after = value_at(source, path);
    auto reference = value_at(source, "/timestamps_reference_time");
    if (!reference) reference = value_at(source, "/session_start_time");
    if (!after || !after->number() || !reference) return std::nullopt;
    const auto time = parse_timestamp(reference->text());
    if (!time) return std::nullopt;
    return Start{to_iso8601(later(*time, *after->number())), "NWB reference time and " + path};
}
}  // namespace

std::optional<Start> start_in_file(const Source& source) {
    Lock lock;
    if (auto start = of_gwosc(source)) return start;
    if (auto start = of_nwb(source)) return start;
    if (auto start = in_attributes(source.dataset, source.home_name)) return start;
    for (const std::string& group : groups_above(source.home_name)) {
        Object open = open_object(source.home, group);
        if (!open.valid()) continue;
        if (auto start = in_attributes(open, group)) return start;
        for (const std::string_view name :
             {"start_time", "header/time", "Metadata/Timestamp", "RawDataTime"}) {
            const std::string path = join_path(group, name);
            Object object = open_object(source.home, path);
            if (!object.valid() || kind_of(object) != ObjectKind::dataset) continue;
            if (auto start = in_attributes(object, path)) return start;
            const auto held = value(object, 1);
            if (const auto time = held ? time_in(*held) : std::nullopt)
                return Start{*time, "dataset " + path};
        }
    }
    return std::nullopt;
}

}  // namespace convoy::io::h5
