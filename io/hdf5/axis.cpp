// Which axis is time.
#include <algorithm>
#include <array>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "io/hdf5/metadata.hpp"

namespace convoy::io::h5 {

namespace {
/// The only axis for which `is_time` holds.
template <class Predicate>
std::optional<int> only_axis(std::size_t rank, Predicate is_time) {
    std::optional<int> found;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (!is_time(static_cast<int>(axis))) continue;
        if (found) return std::nullopt;
        found = static_cast<int>(axis);
    }
    return found;
}

std::optional<AxisChoice> from_scales(const Source& source) {
    const auto scales = dimension_scales(source.dataset);
    const auto by_name = only_axis(source.dims.size(), [&](int axis) {
        if (is_time_name(axis_label(source.dataset, axis))) return true;
        const auto& names = scales[static_cast<std::size_t>(axis)];
        return std::any_of(names.begin(), names.end(),
                           [](const std::string& n) { return is_time_name(last_of(n)); });
    });
    if (by_name) return AxisChoice{*by_name, "labels of its dimensions"};
    const auto by_units = only_axis(source.dims.size(), [&](int axis) {
        const auto& names = scales[static_cast<std::size_t>(axis)];
        return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            Object scale = open_object(source.home, name);
            return scale.valid() && seconds_in(units_of(scale)).has_value();
        });
    });
    if (by_units) return AxisChoice{*by_units, "unit of its dimension scale"};
    return std::nullopt;
}

/// Names of the axes in one text ("time,distance") or one text each.
std::vector<std::string> axis_names(const Value& value) {
    if (value.texts.size() != 1) return value.texts;
    const std::string& text = value.texts.front();
    const char separator = text.find(',') != std::string::npos   ? ','
                           : text.find(';') != std::string::npos ? ';'
                                                                 : ' ';
    return split(text, separator);
}

/// Attributes that name the axes: PRODML `Dimensions`, DASDAE `dims`, and alike, of the dataset or its
/// groups.
std::optional<AxisChoice> from_attributes(const Source& source) {
    std::vector<std::string> places = groups_above(source.home_name);
    places.insert(places.begin(), source.home_name);
    for (const std::string& place : places)
        for (const char* name :
             {"Dimensions", "dimensions", "dims", "_ARRAY_DIMENSIONS", "DimensionNames", "dim_names"}) {
            const auto value = attribute_at(source, place, name);
            const auto names = value ? axis_names(*value) : std::vector<std::string>{};
            if (names.size() != source.dims.size()) continue;
            const auto axis = only_axis(
                names.size(), [&](int a) { return is_time_name(names[static_cast<std::size_t>(a)]); });
            if (axis) return AxisChoice{*axis, std::string("attribute ") + name + " of " + place};
        }
    const std::string asn = join_path(groups_above(source.home_name).front(), "header/dimensionNames");
    if (const auto names = value_at(source, asn); names && names->texts.size() == source.dims.size())
        if (const auto axis = only_axis(names->texts.size(), [&](int a) {
                return is_time_name(names->texts[static_cast<std::size_t>(a)]);
            }))
            return AxisChoice{*axis, "dataset " + asn};
    return std::nullopt;
}

/// Formats that put time first by definition: NWB, Silixa, AP Sensing.
std::optional<AxisChoice> from_format(const Source& source) {
    const std::string group = groups_above(source.home_name).front();
    if (attribute_at(source, join_path(group, "starting_time"), "rate"))
        return AxisChoice{0, "NWB: time comes first"};
    const auto kind = attribute_at(source, group, "neurodata_type");
    if (kind && kind->text().ends_with("Series")) return AxisChoice{0, "NWB: time comes first"};
    if (has_attribute(source.dataset, "SamplingFrequency[Hz]") &&
        has_attribute(source.dataset, "SpatialResolution[m]"))
        return AxisChoice{0, "Silixa: time comes first"};
    if (value_at(source, join_path(group, "ProcessingServer/DataRate")))
        return AxisChoice{0, "AP Sensing: time comes first"};
    return std::nullopt;
}

std::optional<AxisChoice> from_stamps(const Source& source) {
    for (const std::string& path : stamp_names(source, 1)) {
        Object stamps = open_object(source.home, path);
        const auto dims = dataset_extents(stamps);
        const auto axis = only_axis(source.dims.size(), [&](int a) {
            return source.dims[static_cast<std::size_t>(a)] == (*dims)[0];
        });
        if (axis) return AxisChoice{*axis, "as long as the time stamps " + path};
    }
    return std::nullopt;
}

AxisChoice from_extents(const Source& source) {
    const std::string shape = extents_text(source.dims);
    if (source.dims.size() != 2)
        throw failed(source.where, "nothing says which of its axes (" + shape + ") is time",
                     "give it with --time-axis N");
    const int longer = source.dims[1] > source.dims[0] ? 1 : 0;
    const Index length = source.dims[static_cast<std::size_t>(longer)],
                other = source.dims[static_cast<std::size_t>(1 - longer)];
    if (length < 4 * other)
        throw failed(
            source.where,
            "nothing says which of its axes (" + shape + ") is time, and neither is 4 times the other",
            "give it with --time-axis 0 or --time-axis 1");
    warn(source.where, "nothing says which of its axes (" + shape +
                           ") is time: taking the longer one, --time-axis " + std::to_string(longer));
    return {longer, "the longer axis"};
}
}  // namespace

bool is_time_name(std::string_view name) {
    static constexpr std::array<std::string_view, 12> names = {
        "time",    "times", "t",       "timestamps", "timestamp", "sample",
        "samples", "utc",   "gpstime", "posixtime",  "datetime",  "timesamples"};
    const std::string plain = plain_name(name);
    return std::find(names.begin(), names.end(), plain) != names.end();
}

std::vector<std::string> stamp_names(const Source& source, Index least) {
    Lock lock;
    std::vector<std::string> names;
    const std::string group = groups_above(source.home_name).front();
    for (const std::string_view name :
         {"timestamps", "gps_time", "posix_time", "time", "times", "t", "timestamp", "Time", "RawDataTime",
          "FbeDataTime", "SpectraDataTime", "time_stamps", "utc_time"}) {
        const std::string path = join_path(group, name);
        if (path == source.home_name || !link_at(source.home, path)) continue;
        Object object = open_object(source.home, path);
        if (!object.valid() || kind_of(object) != ObjectKind::dataset) continue;
        const auto dims = dataset_extents(object);
        Type type(H5Dget_type(object));
        const auto element = element_of(type);
        if (dims && dims->size() == 1 && (*dims)[0] >= least && element && element->parts == 1)
            names.push_back(path);
    }
    return names;
}

AxisChoice time_axis(const Source& source, const OpenOptions& options) {
    Lock lock;
    const int rank = static_cast<int>(source.dims.size());
    if (const auto wanted = options.time_axis) {
        const int axis = *wanted < 0 ? *wanted + rank : *wanted;
        if (axis < 0 || axis >= rank)
            throw usage_error(
                "there is no axis " + std::to_string(*wanted) + ": the dataset has " + std::to_string(rank),
                "count --time-axis from 0", source.where);
        return {axis, "--time-axis"};
    }
    if (rank == 1) return {0, "the only axis"};
    if (options.image) return {std::max(rank + options.image_axis, 0), "the columns of an image"};
    for (const auto& look : {from_scales, from_attributes, from_format, from_stamps})
        if (const auto found = look(source)) return *found;
    return from_extents(source);
}

}  // namespace convoy::io::h5
