#include "pipelines/result.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::pipelines {

namespace {

// An option that the output's format has no use for is a mistake, not something to pass over.
void refuse_options_of_other_formats(const std::string& path, const Params& options) {
    if (path == "null") return;
    const bool audio = io::writes_audio(path);
    const auto refuse = [&](std::string_view option, const std::string& kind, const std::string& hint) {
        if (options.given(option))
            throw usage_error(
                "--" + std::string(option) + " is for " + kind + " output, and " + path + " is not", hint);
    };
    for (const char* option : {"output-dtype", "compression", "hdf5-chunks", "out-dataset"})
        if (audio) refuse(option, "HDF5", "leave it out; --bits sets the width of audio samples");
    for (const char* option : {"bits", "guard"})
        if (!audio) refuse(option, "audio", "leave it out, or let the output's name end in .wav");
}

SampleType type_named(const std::string& name) {
    return name == "int16"     ? SampleType::int16
           : name == "float64" ? SampleType::float64
                               : SampleType::float32;
}

// First input frame of each file that a cut by a length of time makes.
std::vector<Index> cuts_by_time(const std::string& split, const io::Recording& input) {
    const auto time = parse_time(split);
    if (!time || time->unit == Time::Unit::absolute || !(time->value > 0))
        throw usage_error("--split '" + split + "' is neither `input` nor a length of time", "write 1h");
    if (time->unit == Time::Unit::seconds && !input.rate)
        throw usage_error("--split by time needs the sample rate", "give --rate HZ", input.label());
    const auto frames = static_cast<double>(input.shape.frames);
    const double step = time->value * (time->unit == Time::Unit::seconds ? *input.rate : 1);
    if (step < 1 || frames / step > 1e5)
        throw usage_error("--split " + split + " makes too many files", "give a longer time");
    std::vector<Index> firsts;
    for (Index k = 0; static_cast<double>(k) * step < frames; ++k)
        firsts.push_back(std::llround(static_cast<double>(k) * step));
    return firsts;
}

std::string numbered(const std::string& path, std::size_t number) {
    std::string digits = to_text(static_cast<Index>(number));
    digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
    const std::filesystem::path whole(path);
    return (whole.parent_path() / (whole.stem().string() + "_" + digits + whole.extension().string()))
        .string();
}

// "a//b/" as "/a/b"; names that cannot be found again, or that something else has, are refused.
std::string dataset_named(const std::string& text, const std::vector<io::Axis>& axes) {
    const auto refuse = [&](const std::string& why) {
        return usage_error("--out-dataset '" + text + "' " + why, "give a path like /filtered or /a/b");
    };
    std::string path, last;
    for (const std::string& part : split(text, '/')) {
        if (part.empty()) continue;
        if (part == "." || part == "..")
            throw refuse("has a part " + part + ", which HDF5 paths do not know");
        path += "/" + part;
        last = part;
    }
    if (path.empty()) throw refuse("names no dataset");
    if (path == "/convoy" || path.starts_with("/convoy/"))
        throw refuse("is where convoy writes how the file was made");
    for (const io::Axis& axis : axes)
        if (axis.name == last) throw refuse("is the name of the scale of an axis");
    return path;
}

}  // namespace

io::OutputSpec describe(const Flow& flow, SampleType computed, Span part, const std::string& path,
                        const Params& options, const io::Reader& source) {
    io::OutputSpec s;
    s.path = path;
    s.dims = flow.dims;
    s.dims[static_cast<std::size_t>(flow.time_axis)] = part.count;
    s.time_axis = flow.time_axis;
    s.shape = flow.shape;
    s.shape.frames = part.count;
    s.dataset = flow.dataset;
    s.type = computed;
    s.complex = flow.complex;
    s.rate = flow.rate;
    s.axes = flow.axes;
    io::Axis& time = s.axes[static_cast<std::size_t>(flow.time_axis)];
    time.first += static_cast<double>(part.first) * time.step;
    s.signal = flow.signal;
    s.own_axes = flow.own_axes;
    s.selected = flow.selected;
    s.time_first = flow.time_first + part.first * flow.time_step;
    s.time_step = flow.time_step;
    s.time_up = flow.time_up;
    s.source = &source;
    s.raw = options.flag("raw");
    s.attributes = flow.attributes;
    s.compression = options.text("compression");
    s.overwrite = options.flag("overwrite");
    s.sync = options.flag("sync") || options.flag("resume");
    return s;
}

io::OutputSpec describe_result(const Flow& flow, SampleType computed, Span part, const std::string& path,
                               const Params& options, const io::Reader& source) {
    io::OutputSpec s = describe(flow, computed, part, path, options, source);
    if (std::string ending = options.text("format"); !ending.empty() && path != "null") {
        if (!ending.starts_with('.')) ending = "." + ending;
        if (std::filesystem::path(path).extension() != ending) s.path += ending;
        s.format = ending.substr(1);
    }
    if (options.given("out-dataset")) s.dataset = dataset_named(options.text("out-dataset"), s.axes);
    if (const std::string type = options.text("output-dtype"); !type.empty()) s.type = type_named(type);
    s.chunks = options.integers("hdf5-chunks");
    s.bits = options.text("bits");
    refuse_options_of_other_formats(s.path, options);
    return s;
}

std::vector<io::OutputSpec> split_result(const io::OutputSpec& whole, const Flow& flow, Span wanted,
                                         const std::string& split, const std::vector<std::string>& outputs,
                                         const io::Recording& input, const Joined& joined) {
    const bool at_inputs = split == "input";
    const std::vector<Index> starts = at_inputs ? joined.firsts : cuts_by_time(split, input);
    const auto output_frame = [&](std::size_t i) {
        if (i == 0) return wanted.first;
        if (i == starts.size()) return wanted.end();
        return std::clamp(frame_at(flow, starts[i]), wanted.first, wanted.end());
    };
    std::vector<io::OutputSpec> files;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const Index first = output_frame(i), end = output_frame(i + 1);
        if (end <= first) continue;
        io::OutputSpec& s = files.emplace_back(whole);
        s.shape.frames = s.dims[static_cast<std::size_t>(s.time_axis)] = end - first;
        s.time_first = flow.time_first + first * flow.time_step;
        io::Axis& time = s.axes[static_cast<std::size_t>(s.time_axis)];
        time.first = flow.axes[static_cast<std::size_t>(flow.time_axis)].first +
                     static_cast<double>(first) * time.step;
        if (at_inputs) {  // on that input's own scale of time
            s.path = outputs[i];
            s.source = joined.readers[i];
            s.time_first -= starts[i] * flow.time_up;
            if (input.rate)
                time.first += s.source->recording().time_first - input.time_first -
                              static_cast<double>(starts[i]) / *input.rate;
        } else {
            s.path = numbered(whole.path, i + 1);
        }
    }
    return files;
}

}  // namespace convoy::pipelines
