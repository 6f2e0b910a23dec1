#include "pipelines/options.hpp"

#include <cmath>
#include <mutex>
#include <set>

#include "core/base/error.hpp"

namespace convoy::pipelines {

namespace {

constexpr Param input_list[] = {
    {.name = "dataset", .value = "/PATH", .help = "dataset of an HDF5 input (or write INPUT:/PATH)"},
    {.name = "channels", .value = "LIST", .help = "channels to take, in that order: 0,2,5-9,100-1100:4"},
    {.name = "time-axis", .kind = Kind::integer, .value = "N", .help = "the axis of time, counted from 0"},
    {.name = "rate",
     .kind = Kind::number,
     .value = "HZ",
     .help = "sample rate, where the input does not tell it"},
    {.name = "raw", .kind = Kind::flag, .help = "leave scale factors and offsets of HDF5 integers unapplied"},
    {.name = "start",
     .kind = Kind::time,
     .value = "TIME",
     .help = "first moment of the part that is written"},
    {.name = "end", .kind = Kind::time, .value = "TIME", .help = "end of the part, exclusive"},
    {.name = "duration", .kind = Kind::time, .value = "TIME", .help = "length of the part"},
    {.name = "gaps",
     .kind = Kind::choice,
     .value = "WHAT",
     .help = "what a gap in the time stamps, or between joined files, is",
     .fallback = "error",
     .choices = "error,split,ignore"},
    {.name = "gap-tolerance",
     .kind = Kind::number,
     .value = "SAMPLES",
     .help = "largest jump that is no gap",
     .fallback = "1.5"},
    {.name = "filename-time", .value = "PATTERN", .help = "start time in the file's name: %Y%m%d_%H%M%S"},
};

constexpr Param output_list[] = {
    {.name = "out-dataset", .value = "/PATH", .help = "path of the dataset that is written"},
    {.name = "output-dtype",
     .kind = Kind::choice,
     .value = "TYPE",
     .help = "type of the samples that are written; int16 has a scale_factor, and a _FillValue for NaN",
     .choices = "float32,float64,int16"},
    {.name = "compression",
     .value = "KIND",
     .help = "none, gzip or gzip:LEVEL (with shuffle)",
     .fallback = "none"},
    {.name = "hdf5-chunks",
     .kind = Kind::integers,
     .value = "LIST",
     .help = "chunk extents of the dataset, one an axis"},
    {.name = "format", .value = "EXT", .help = "h5, wav, w64, aiff or flac, whatever the name ends in"},
    {.name = "bits",
     .kind = Kind::choice,
     .value = "BITS",
     .help = "sample width of audio output",
     .choices = "16,24,32f"},
    {.name = "guard",
     .kind = Kind::flag,
     .help = "audio output: scale the whole file down instead of clipping"},
    {.name = "overwrite", .kind = Kind::flag, .help = "replace an existing output"},
    {.name = "resume",
     .kind = Kind::flag,
     .help = "go on where a killed run was; leave a finished output; extend one whose input was appended to"},
    {.name = "sync", .kind = Kind::flag, .help = "wait until the result is on the disk"},
};

constexpr Param execution_list[] = {
    {.name = "device", .value = "DEVICE", .help = "auto, cpu, cuda or cuda:N", .fallback = "auto"},
    {.name = "memory",
     .value = "MODE",
     .help = "auto, managed, managed-prefetch, managed-fault, pinned, pageable, mapped or host",
     .fallback = "auto"},
    {.name = "strategy",
     .value = "NAME",
     .help = "how it is computed; auto takes the fastest",
     .fallback = "auto"},
    {.name = "dtype",
     .kind = Kind::choice,
     .value = "TYPE",
     .help = "type of the arithmetic and of the result",
     .choices = "float32,float64"},
    {.name = "chunk",
     .value = "SIZE",
     .help = "samples a channel (48000), duration (1s) or bytes (64MiB) a chunk"},
    {.name = "threads", .kind = Kind::integer, .value = "N", .help = "CPU threads; default the CPUs allowed"},
    {.name = "explain",
     .kind = Kind::flag,
     .help = "print the cost model's table behind auto, and do the work"},
};

// A moment as a column of an image, whose times are on its axis.
double column_of(const Time& time, const io::Recording& r, std::string_view option) {
    const io::Axis& axis = r.axes.back();
    if (time.unit != Time::Unit::seconds || axis.units != "s" || !axis.values.empty())
        throw usage_error("--" + std::string(option) +
                              " is a time, and the columns of this image are not counted in seconds",
                          "give columns as 4800n", r.label());
    return option == "duration" ? std::round(time.value / axis.step)
                                : std::ceil((time.value - axis.first) / axis.step - 1e-6);
}

// A moment as an input frame.
double frame_of(const Time& time, const io::Recording& r, std::string_view option) {
    if (time.unit == Time::Unit::samples) return time.value;
    if (!r.axes.empty()) return column_of(time, r, option);
    if (!r.rate)
        throw usage_error("--" + std::string(option) + " is a time, and no sample rate was found (" +
                              r.rate_looked_for + ")",
                          "give --rate HZ, or samples as 4800n", r.label());
    if (time.unit == Time::Unit::seconds) return std::round(time.value * *r.rate);
    const auto start = r.start_time ? parse_time(*r.start_time) : std::nullopt;
    if (!start || start->unit != Time::Unit::absolute)
        throw usage_error(
            "--" + std::string(option) + " is an absolute time, and the input tells no start time",
            "give seconds from its first sample", r.label());
    return std::round((time.value - start->value) * *r.rate);
}

}  // namespace

std::span<const Param> input_params() {
    return input_list;
}
std::span<const Param> output_params() {
    return output_list;
}
std::span<const Param> execution_params() {
    return execution_list;
}

std::vector<Param> joined(std::initializer_list<std::span<const Param>> lists) {
    std::vector<Param> all;
    for (const auto& list : lists)
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

io::OpenOptions open_options(const Params& input) {
    io::OpenOptions o;
    o.dataset = input.text("dataset");
    o.channels = input.text("channels");
    if (const auto axis = input.integer_if("time-axis")) o.time_axis = static_cast<int>(*axis);
    o.rate = input.number_if("rate");
    if (o.rate && !(*o.rate > 0)) throw usage_error("--rate must be more than 0 Hz");
    if (input.given("channels") && o.channels.empty())
        throw usage_error(input.spelled("channels") + " lists none",
                          "write it like 0,2,5-9, or leave it out for all");
    o.raw = input.flag("raw");
    o.gaps = input.text("gaps");
    o.gap_tolerance = input.number("gap-tolerance");
    if (!(o.gap_tolerance > 0))
        throw usage_error(input.spelled("gap-tolerance") + " must be more than 0 samples",
                          "the default is 1.5");
    o.filename_time = input.text("filename-time");
    return o;
}

void warn_of_idle_options(const Params& input, const io::Recording& r) {
    static std::mutex mutex;
    static std::set<std::string> told;
    if (r.format != "audio") return;
    for (const std::string_view name : {"raw", "gaps", "gap-tolerance"}) {
        if (!input.given(name)) continue;
        const std::scoped_lock lock(mutex);
        if (told.emplace(name).second)
            warn(r.label(), input.spelled(name) +
                                " changes nothing: audio has neither scale attributes nor time stamps");
    }
}

Part part_of(const Params& input, const io::Recording& r) {
    Part part{0, r.shape.frames, true, true};
    const auto frames = static_cast<double>(r.shape.frames);
    if (input.given("end") && input.given("duration"))
        throw usage_error("--end and --duration exclude each other", "give one of them");
    if (const auto start = input.time_if("start")) {
        const double first = frame_of(*start, r, "start");
        if (first < 0 || first >= frames)
            throw usage_error(input.spelled("start") + " (" + input.text("start") +
                                  ") is not within the signal of " + to_text(r.shape.frames) + " samples",
                              {}, r.label());
        part.first = static_cast<Index>(first);
        part.from_start = false;
    }
    std::optional<double> end;
    if (const auto time = input.time_if("end")) end = frame_of(*time, r, "end");
    if (const auto length = input.time_if("duration")) {
        if (length->unit == Time::Unit::absolute) throw usage_error("--duration is a moment, not a length");
        end = static_cast<double>(part.first) + frame_of(*length, r, "duration");
    }
    if (end) {
        if (*end <= static_cast<double>(part.first))
            throw usage_error(
                "the part from sample " + to_text(part.first) + " to " + to_text(*end) + " is empty", {},
                r.label());
        if (*end < frames) {
            part.end = static_cast<Index>(*end);
            part.to_end = false;
        } else if (*end > frames) {
            warn(r.label(), "the part asked for ends at sample " + to_text(*end) + ", the signal at " +
                                to_text(r.shape.frames));
        }
    }
    return part;
}

ChunkRequest chunk_request(const Params& execution, const std::optional<double>& rate) {
    const std::string text = execution.text("chunk");
    if (text.empty()) return {};
    if (const auto frames = parse_integer(text); frames && *frames > 0) return {*frames, 0};
    if (const auto bytes = parse_bytes(text); bytes && *bytes > 0) return {0, *bytes};
    if (const auto time = parse_time(text); time && time->unit != Time::Unit::absolute && time->value > 0) {
        if (time->unit == Time::Unit::samples) return {static_cast<Index>(time->value), 0};
        if (!rate)
            throw usage_error("--chunk " + text + " is a time, and no sample rate was found",
                              "give --rate HZ");
        return {std::max<Index>(1, std::llround(time->value * *rate)), 0};
    }
    throw usage_error("--chunk '" + text + "' is no size",
                      "give samples (48000), a duration (1s) or bytes (64MiB)");
}

}  // namespace convoy::pipelines
