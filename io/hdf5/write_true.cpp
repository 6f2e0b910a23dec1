// Attributes made true for the output. The rules go by what a value is (the rate, the number of frames, the
// time of the first sample), told by the name and checked by the value; what cannot be made true is renamed,
// never left.
#include <algorithm>
#include <cmath>

#include "core/base/quantity.hpp"
#include "io/hdf5/metadata.hpp"
#include "io/hdf5/write_item.hpp"
#include "io/timestamp.hpp"

namespace convoy::io::h5 {
namespace {

bool among(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_rate(std::string_view n) {
    return among(n, {"fs", "rate", "samplerate", "samplingrate", "samplefrequency", "samplingfrequency",
                     "outputdatarate", "sampleratehz", "samplingratehz", "fshz", "samplingfrequencyhz",
                     "rawoutputdatarate"});
}
bool is_step(std::string_view n) {
    return among(n, {"dt", "delta", "xspacing", "sampleinterval", "samplinginterval", "sampleperiod",
                     "samplingperiod", "timestep", "timespacing", "deltat", "dts", "dtms"});
}
bool is_count(std::string_view n) {
    return among(n, {"count", "npoints", "npts", "nsamples", "numsamples", "numberofsamples", "samples",
                     "nframes", "numberofframes", "samplecount", "ntimesamples", "numtimesamples", "nt"});
}
bool is_start(std::string_view n) {
    return among(n, {"partstarttime", "starttime", "xstart", "t0", "begintime", "firstsampletime",
                     "epochstart", "gpsstart"});
}
bool is_end(std::string_view n) {
    return among(n, {"partendtime", "endtime", "xend", "stoptime", "lastsampletime"});
}
bool is_duration(std::string_view n) {
    return among(n, {"duration", "durations", "durationseconds", "totalduration", "recordingduration",
                     "signalduration", "partduration"});
}
/// Times of the first sample under names that may mean something else, too: true where the value says so.
bool may_be_start(std::string_view n) {
    return is_start(n) ||
           among(n, {"utcstart", "utcstarttime", "starttimeutc", "startdatetime", "timestart", "timemin",
                     "gpstimestamp", "iso8601timestamp", "timestamp", "time", "rawdatatime",
                     "filestartgpstime", "filestartcomputertime", "cputimestamp"});
}
bool may_be_end(std::string_view n) {
    return is_end(n) ||
           among(n, {"gpsend", "utcend", "utcendtime", "endtimeutc", "enddatetime", "timeend", "timemax"});
}
bool is_channel_count(std::string_view n) {
    return among(
        n, {"numberofloci", "nchannels", "numchannels", "numberofchannels", "channelcount", "nloci", "nx"});
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-6 * std::abs(b);
}

void true_rate(Item& item, const Change& change) {
    const auto value = item.number();
    if (value && !near(*value, *change.rate)) item.set(*change.rate);
}

void true_step(Item& item, const Change& change) {
    const auto value = item.number();
    if (!value) return;
    for (const double unit : {1.0, 1e3, 1e6, 1e9}) {  // s, ms, us, ns
        if (near(*value, unit / *change.rate)) return;
        if (near(*value, unit / change.rate_in()))
            return item.set(*value * static_cast<double>(change.step) / static_cast<double>(change.up));
    }
    item.give_up();
}

/// The count that stands for one of the source; empty for others.
std::optional<Index> count_now(double count, const Change& change) {
    const auto is = [&](Index n) { return count == static_cast<double>(n); };
    if (is(change.frames_in)) return change.frames_out;
    if (is(change.frames_in * change.channels_in)) return change.frames_out * change.channels_out;
    return std::nullopt;
}

void true_count(Item& item, const Change& change) {
    const auto value = item.number();
    if (!value) return;
    if (const auto count = count_now(*value, change))
        item.set(static_cast<double>(*count));
    else if (*value != static_cast<double>(change.channels_in))
        item.give_up();
}

/// A length in seconds; one that is not the signal's (of a session, say) stays.
void true_duration(Item& item, const Change& change) {
    const auto value = item.number();
    if (!value || !change.rate) return;
    const double less = *value * change.rate_in() - static_cast<double>(change.frames_in);
    if (std::abs(less) <= 1.5)
        item.set((static_cast<double>(change.frames_out) +
                  less * static_cast<double>(change.up) / static_cast<double>(change.step)) /
                 *change.rate);
}

/// Seconds from the source's first sample to the output's, and by which its end comes earlier.
double start_shift(const Change& c) {
    return static_cast<double>(c.first) / static_cast<double>(c.up) / c.rate_in();
}
double end_shift(const Change& c, const std::optional<Timestamp>& end) {
    const Index last = (c.first + (c.frames_out - 1) * c.step) / c.up;
    Index less = c.frames_in - 1 - last;
    const auto start = c.start ? parse_timestamp(*c.start) : std::nullopt;
    if (start && end) {  // an end that is one step after the last sample stays so
        const double after = static_cast<double>(end->nanoseconds - start->nanoseconds) * 1e-9 * c.rate_in();
        if (after > static_cast<double>(c.frames_in) - 0.5) less = c.frames_in - (last + c.step / c.up);
    }
    return -static_cast<double>(less) / c.rate_in();
}

void true_first_index(Item& item, Index first, Index step) {
    const auto value = item.number();
    if (!value) return;
    const double moved = *value + static_cast<double>(first);
    const double index = moved / static_cast<double>(step);
    if (index == std::floor(index))
        item.set(index);
    else
        item.give_up();
}

/// Step of evenly spaced, rising channels; empty for others.
std::optional<Index> channel_step(const Change& c) {
    const auto& s = c.selected;
    if (s.size() < 2) return s.empty() ? std::nullopt : std::optional<Index>(1);
    const Index step = s[1] - s[0];
    for (std::size_t i = 1; i < s.size(); ++i)
        if (step < 1 || s[i] - s[i - 1] != step) return std::nullopt;
    return step;
}

/// Index of the first locus and the spacing of loci: distance is (start + i) * spacing.
void true_loci(hid_t object, const Change& c, const std::string& name, const std::string& where) {
    Item item(object, name, where);
    const auto step = channel_step(c);
    const auto start = attribute(object, name)->number();
    const bool even = step && start &&
                      std::fmod(*start + static_cast<double>(c.selected[0]), static_cast<double>(*step)) == 0;
    if (!even) return item.give_up();
    true_first_index(item, c.selected[0], *step);
    for (const std::string& other : attribute_names(object)) {
        if (*step == 1 || !among(plain_name(other), {"spatialsamplinginterval"})) continue;
        Item spacing(object, other, where);
        if (const auto value = spacing.number()) spacing.set(*value * static_cast<double>(*step));
    }
}

void true_scale(hid_t object, const std::string& name, const std::string& plain_name,
                const std::string& where) {
    if (among(plain_name, {"scalefactor", "addoffset"}))
        H5Adelete(object, name.c_str());                                 // CF: none is neutral
    if (plain_name == "conversion") Item(object, name, where).set(1.0);  // NWB wants it to be there
    if (plain_name == "offset") Item(object, name, where).set(0.0);
}

/// The item is a time near `moment` of the source: as near as its digits tell.
bool is_moment(const Item& item, const std::optional<Timestamp>& moment, const Change& c) {
    if (!moment) return false;
    const double apart = std::max(1.0, 1 / c.rate_in());
    for (const Timestamp candidate : item.moments())
        if (std::abs(static_cast<double>(candidate.nanoseconds - moment->nanoseconds)) * 1e-9 <= apart)
            return true;
    return false;
}

/// What integers may round a moved time by: nobody sees a hundredth of a sample.
double allowed_rounding(const Change& c) {
    return 0.01 / c.rate_in();
}

/// A value somewhere beside the signal: changed where it says of the source what is no longer so, else left.
void make_true_if_known(Item& item, const std::string& n, const Change& c) {
    const auto value = item.number();
    if (c.rate && is_rate(n) && value && near(*value, c.rate_in())) return true_rate(item, c);
    if (c.rate && is_step(n) && value)
        for (const double unit : {1.0, 1e3, 1e6, 1e9})
            if (near(*value, unit / c.rate_in())) return true_step(item, c);
    if (c.moved() && is_count(n) && value)
        if (const auto count = count_now(*value, c)) return item.set(static_cast<double>(*count));
    if (!c.selected.empty() && is_channel_count(n) && value == static_cast<double>(c.channels_in))
        return item.set(static_cast<double>(c.channels_out));
    if (c.moved() && is_duration(n)) return true_duration(item, c);
    const auto start = c.rate && c.start ? parse_timestamp(*c.start) : std::nullopt;
    if (!start) return;
    if (c.first != 0 && may_be_start(n) && is_moment(item, start, c))
        return item.move(start_shift(c), allowed_rounding(c));
    const Timestamp end = later(*start, static_cast<double>(c.frames_in) / c.rate_in());
    if (c.moved() && may_be_end(n) && is_moment(item, end, c))
        item.move(end_shift(c, item.time()), allowed_rounding(c));
}

}  // namespace

void make_true(hid_t object, const Change& c, Place place, const std::string& where) {
    const bool signal = place == Place::signal;
    for (const std::string& name : attribute_names(object)) {
        const std::string n = plain_name(name);
        Item item(object, name, where);
        if (place == Place::apart) {
            if (name != "start_time") make_true_if_known(item, n, c);
        } else if (signal && c.scaled && among(n, {"scalefactor", "addoffset", "conversion", "offset"})) {
            true_scale(object, name, n, where);
        } else if (signal && (c.retyped || c.scaled) &&
                   among(n, {"fillvalue", "missingvalue", "validrange", "validmin", "validmax"})) {
            item.give_up();  // in units and type of what was stored
        } else if (signal && !c.raw && among(n, {"fillvalue", "missingvalue"})) {
            if (const auto fill = item.number(); fill && stands_for_nan(*fill)) item.give_up();  // it is NaN
        } else if (c.rate && is_rate(n)) {
            true_rate(item, c);
        } else if (c.rate && is_step(n)) {
            true_step(item, c);
        } else if (c.moved() && is_count(n)) {
            true_count(item, c);
        } else if (!c.selected.empty() && is_channel_count(n)) {
            if (item.number() == static_cast<double>(c.channels_in))
                item.set(static_cast<double>(c.channels_out));
            else if (item.number())
                item.give_up();
        } else if (!c.selected.empty() && n == "startlocusindex") {
            true_loci(object, c, name, where);
        } else if (c.moved() && n == "startindex") {
            true_first_index(item, c.first, c.step);
        } else if (c.first != 0 && is_start(n) && name != "start_time") {
            if (c.rate)
                item.move(start_shift(c), allowed_rounding(c));
            else
                item.give_up();
        } else if (c.moved() && is_end(n)) {
            if (c.rate)
                item.move(end_shift(c, item.time()), allowed_rounding(c));
            else
                item.give_up();
        } else if (name != "start_time") {
            make_true_if_known(item, n, c);
        }
    }
}

void make_true(hid_t file, const std::string& path, const Change& change, const std::string& where) {
    Item item(file, path, where, Item::Kind::dataset);
    if (last_of(path) != "start_time") make_true_if_known(item, plain_name(last_of(path)), change);
}

}  // namespace convoy::io::h5
