// Scale and offset of stored values: CF (scale_factor, add_offset) and NWB (conversion, offset,
// channel_conversion).
#include <algorithm>
#include <cmath>

#include "core/base/quantity.hpp"
#include "io/hdf5/metadata.hpp"

namespace convoy::io::h5 {

namespace {
/// Numbers for all channels from one value or one each; empty where they are `neutral` anyway.
std::vector<double> for_channels(const std::optional<Value>& value, double neutral, Index channels,
                                 const std::string& where, const std::string& name) {
    if (!value || value->numbers.empty()) return {};
    const auto& numbers = value->numbers;
    if (numbers.size() != 1 && static_cast<Index>(numbers.size()) != channels)
        throw failed(where,
                     name + " has " + to_text(static_cast<Index>(numbers.size())) + " values for " +
                         to_text(channels) + " channels",
                     "--raw takes the samples as they are stored");
    if (!std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); }))
        throw failed(where, name + " is not finite", "--raw takes the samples as they are stored");
    const bool same =
        std::all_of(numbers.begin(), numbers.end(), [&](double v) { return v == numbers.front(); });
    if (same && numbers.front() == neutral) return {};
    return same ? std::vector{numbers.front()} : numbers;
}

/// Products, where either may be one for all.
std::vector<double> product(std::vector<double> a, const std::vector<double>& b) {
    if (b.empty()) return a;
    if (a.empty()) return b;
    if (a.size() < b.size()) a.resize(b.size(), a.front());
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] *= b.size() == 1 ? b.front() : b[i];
    return a;
}
}  // namespace

Scaling scaling_of(const Source& source, Index channels) {
    Lock lock;
    Scaling out;
    const auto read = [&](const char* name, double neutral) {
        return for_channels(attribute(source.dataset, name), neutral, channels, source.where, name);
    };
    if (has_attribute(source.dataset, "scale_factor") || has_attribute(source.dataset, "add_offset")) {
        out.gain = read("scale_factor", 1);
        out.offset = read("add_offset", 0);
    } else if (has_attribute(source.dataset, "conversion")) {
        const std::string path = join_path(groups_above(source.home_name).front(), "channel_conversion");
        Object object = open_object(source.home, path);
        const auto each =
            object.valid() && kind_of(object) == ObjectKind::dataset ? value(object, 1 << 24) : std::nullopt;
        out.gain = product(read("conversion", 1), for_channels(each, 1, channels, source.where, path));
        out.offset = read("offset", 0);
    }
    // The one pair for all, or one pair a channel: both of the same length.
    const std::size_t size = std::max(out.gain.size(), out.offset.size());
    if (size == 0) return out;
    if (out.gain.empty()) out.gain.assign(size, 1);
    if (out.offset.empty()) out.offset.assign(size, 0);
    if (out.gain.size() < size) out.gain.resize(size, out.gain.front());
    if (out.offset.size() < size) out.offset.resize(size, out.offset.front());
    return out;
}

bool stands_for_nan(double fill) {
    return std::isfinite(fill) && fill != 0;
}

std::optional<double> fill_value_of(const Source& source) {
    Lock lock;
    const hid_t dataset = source.dataset;
    const Type type(H5Dget_type(dataset));
    const H5T_class_t kind = H5Tget_class(type);
    const bool packed = has_attribute(dataset, "scale_factor") || has_attribute(dataset, "add_offset");
    if (kind != H5T_FLOAT && !(kind == H5T_INTEGER && packed)) return std::nullopt;
    for (const char* name : {"_FillValue", "missing_value"}) {
        const auto held = attribute(dataset, name);
        const auto value = held ? held->number() : std::nullopt;
        if (!value) continue;
        if (kind == H5T_INTEGER) return value;
        if (!stands_for_nan(*value)) return std::nullopt;
        // Written in another precision than the samples, it equals those that were rounded to theirs.
        return source.element.type == SampleType::float32 ? static_cast<double>(static_cast<float>(*value))
                                                          : *value;
    }
    return std::nullopt;
}

}  // namespace convoy::io::h5
