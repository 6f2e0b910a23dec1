// What a file says about its signal: which axis is time, the rate, when it started, how stored values are
// scaled.
#pragma once

#include "io/format.hpp"
#include "io/hdf5/samples.hpp"
#include "io/timestamp.hpp"

namespace convoy::io::h5 {

// --- units.cpp

/// Seconds in a unit of time ("s", "ms", "microseconds", "seconds since ..."), or nullopt.
std::optional<double> seconds_in(std::string_view unit);
/// Hertz in a unit of frequency ("Hz", "kHz", "1/s"), or nullopt.
std::optional<double> hertz_in(std::string_view unit);
/// Lower case, letters and digits only: "Sampling_Rate" and "samplingRate" are one name.
std::string plain_name(std::string_view name);
/// Text of the attribute `units`, `unit` or alike; "" where there is none.
std::string units_of(hid_t object);
/// Seconds in the unit of a number that counts s, ms, us or ns since 1970, told by its size; nullopt for
/// others.
std::optional<double> epoch_unit(double value);
/// The time that such a number stands for, to the microsecond.
std::optional<Timestamp> epoch_time(double value);

/// Whether a number can be a GPS time in seconds (1983 to 2043), and the time that it stands for, to the
/// microsecond.
bool is_gps_time(double value);
Timestamp gps_time(double value);

// --- axis.cpp

struct AxisChoice {
    int axis = 0;
    std::string source;
};
/// The time axis: the one wanted, or the last of an image, or what labels say, or (with a warning) an axis at
/// least 4 times as long as the other.
AxisChoice time_axis(const Source& source, const OpenOptions& options);
/// Whether an axis or a dataset is called so because it is time.
bool is_time_name(std::string_view name);
/// Paths in source.home of one-dimensional datasets of `least` values or more beside the signal that may hold
/// its time stamps.
std::vector<std::string> stamp_names(const Source& source, Index least = 2);

// --- scales.cpp

/// Axes of an image: image, channel, row and column (as many of them, from the right), or what dimension
/// scales of numbers call them, with their units and values.
std::vector<Axis> image_axes(const Source& source);
/// First value and step (in the scale's units) of a long scale that convoy wrote without its values.
struct EvenScale {
    double first = 0, step = 1;
};
std::optional<EvenScale> even_scale(hid_t scale);

// --- rate.cpp

struct Rate {
    double hertz = 0;
    std::string source;
};
/// A rate or a step in time among the attributes of an object, under any of the names that the fields use.
std::optional<Rate> rate_in_attributes(hid_t object, const std::string& name);
/// Conventions of single makers that must come first since general names mislead there: NWB, Febus, ASN, AP
/// Sensing.
std::optional<Rate> rate_of_maker(const Source& source);
/// Attributes of the groups that hold the dataset, nearest first.
std::optional<Rate> rate_in_parents(const Source& source);
/// Small datasets beside the signal that are named as a rate or a step, or stand in a group header, meta or
/// metadata.
std::optional<Rate> rate_in_siblings(const Source& source);
/// What the functions above look for: for error messages.
std::string rate_looked_for(const Source& source);

// --- start.cpp

struct Start {
    std::string time;  // ISO 8601
    std::string source;
    bool of_zero = false;  // of time 0 on the scale of time (`start_time`), not of the first sample
};
std::optional<Start> start_in_file(const Source& source);

// --- scaling.cpp

/// Scale and offset of the stored values, one for all or one for each of `channels`. Error where their count
/// fits neither.
Scaling scaling_of(const Source& source, Index channels);

/// The stored number that stands for NaN: CF's _FillValue or missing_value, of floats and of packed integers
/// (with scale_factor or add_offset). nullopt where there is none.
std::optional<double> fill_value_of(const Source& source);
/// Whether a fill value of floats marks what is missing: NaN does already, Inf is data, and zeros are silence
/// more often than gaps.
bool stands_for_nan(double fill);

// --- recording.cpp

/// Everything but the selection of channels. Error for a gap in the time stamps where options.gaps is
/// "error".
Recording describe(const Source& source, const Storage& storage, const OpenOptions& options);

// --- places around a dataset

/// Paths of the groups above an absolute path, nearest first, "/" last.
std::vector<std::string> groups_above(const std::string& path);
/// The small dataset at a path of source.home, as a value.
std::optional<Value> value_at(const Source& source, const std::string& path);
/// An attribute of the object at a path of source.home.
std::optional<Value> attribute_at(const Source& source, const std::string& path, const std::string& name);

}  // namespace convoy::io::h5
