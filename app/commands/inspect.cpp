// convoy inspect: what is in files, and how convoy understands it.
#include <optional>

#include "app/command.hpp"
#include "app/log.hpp"
#include "app/output.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/options.hpp"

namespace convoy::command {

namespace {

// The words for inputs, without those that pick a part: a file is looked at whole.
std::span<const Param> inspected_params() {
    static const std::vector<Param> list = [] {
        std::vector<Param> taken;
        for (const Param& p : pipelines::input_params())
            if (p.name != "start" && p.name != "end" && p.name != "duration") taken.push_back(p);
        return taken;
    }();
    return list;
}

std::vector<Group> groups() {
    return {{"Input", inspected_params()}, {"Output", app::listing_params()}};
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json describe(const io::Recording& r) {
    Json j;
    j["path"] = r.path;
    j["dataset"] = text_or_null(r.dataset);
    j["format"] = r.format;
    Json gaps = Json::array();
    for (const io::Gap& g : r.gaps) {
        Json gap;
        gap["at_frame"] = g.at;
        gap["seconds"] = g.seconds;
        gaps.push(std::move(gap));
    }
    j["shape"] = Json::Array(r.dims.begin(), r.dims.end());
    j["type"] = r.stored_type;
    j["complex"] = r.complex;
    j["chunk"] = r.chunk.empty() ? Json() : Json(Json::Array(r.chunk.begin(), r.chunk.end()));
    j["storage"] = text_or_null(r.storage);
    j["time_axis"] = r.time_axis;
    j["time_axis_source"] = text_or_null(r.time_axis_source);
    j["sampling_rate"] = r.rate ? Json(*r.rate) : Json();
    j["sampling_rate_source"] = text_or_null(r.rate ? r.rate_source : "looked for: " + r.rate_looked_for);
    j["start_time"] = r.start_time ? Json(*r.start_time) : Json();
    j["start_time_source"] = text_or_null(r.start_time_source);
    j["time_first"] = r.time_first;
    j["duration"] = r.rate ? Json(static_cast<double>(r.shape.frames) / *r.rate) : Json();
    j["scaled"] = !r.scaling.trivial();
    j["gaps"] = std::move(gaps);
    j["bytes"] = r.file_bytes;
    j["modified"] = text_or_null(r.modified);
    return j;
}

void print_text(const io::Recording& r) {
    std::string text = r.label() + "\n";
    const auto line = [&](std::string_view key, const std::string& value) {
        text +=
            "  " + std::string(key) + std::string(key.size() < 14 ? 14 - key.size() : 1, ' ') + value + "\n";
    };
    line("format", r.format + ", " + bytes_text(static_cast<double>(r.file_bytes)));
    line("samples", extents_text(r.dims) + ", " + r.stored_type);
    if (!r.storage.empty()) line("stored as", r.storage);
    line("time axis",
         to_text(Index{r.time_axis}) + (r.time_axis_source.empty() ? "" : " (" + r.time_axis_source + ")"));
    line("rate", r.rate ? to_text(*r.rate) + " Hz (" + r.rate_source + ")"
                        : "not found; looked for " + r.rate_looked_for);
    if (r.rate) line("duration", to_text(static_cast<double>(r.shape.frames) / *r.rate) + " s");
    if (r.start_time) line("start", *r.start_time + " (" + r.start_time_source + ")");
    if (r.time_first != 0)
        line("first sample",
             "at " + to_text(r.time_first) + (r.rate ? " s" : " samples") + " of its time scale");
    if (!r.scaling.trivial()) line("scaling", "applied (--raw leaves the values as stored)");
    for (const io::Gap& g : r.gaps)
        line("gap", "before frame " + to_text(g.at) + ": " + to_text(g.seconds) + " s");
    app::write_text("-", text);
}

// Files, globs, and of files that hold several signals each.
std::vector<std::string> inputs_of(const Call& call) {
    std::vector<std::string> inputs;
    for (const std::string& input : pipelines::expand_inputs(call.inputs)) {
        try {
            const auto signals = call.params.given("dataset") ? std::vector{input} : io::signals_in(input);
            inputs.insert(inputs.end(), signals.begin(), signals.end());
        } catch (const Error&) {
            inputs.push_back(input);  // told where it is opened
        }
    }
    return inputs;
}

int run(const Call& call) {
    app::check_listing(call.params);
    io::OpenOptions options = pipelines::open_options(call.params);
    if (!call.params.given("gaps")) options.gaps = "ignore";  // shown, not refused
    Json files = Json::array();
    app::Table csv{"convoy.inspect/1", {}, {}};
    int status = 0;
    // Of one file, its first signal that cannot be described: told at the end, after those that can be.
    std::optional<Error> broken;
    const bool several = pipelines::expand_inputs(call.inputs).size() > 1;
    const std::vector<std::string> inputs = inputs_of(call);
    app::check_side_files(call.params, inputs);
    for (const std::string& input : inputs) {
        try {
            const auto reader = io::open(input, options);
            const Json j = describe(reader->recording());
            files.push(j);
            if (call.params.flag("csv")) {
                auto& row = csv.rows.emplace_back();
                csv.columns.clear();
                for (const auto& [key, value] : *j.as_object()) {
                    csv.columns.push_back(key);
                    row.push_back(value);
                }
            } else if (!call.params.flag("json")) {
                print_text(reader->recording());
            }
        } catch (const Error& error) {
            if (inputs.size() == 1) throw;
            if (several) {
                app::log_error(error.what());
                status = 3;
            } else if (broken) {
                warn(error.where(), error.problem());
            } else {
                broken = error;
            }
        }
    }
    Json whole;
    whole["schema"] = "convoy.inspect/1";
    whole["files"] = std::move(files);
    if (call.params.flag("json")) app::write_text("-", whole.dump() + "\n");
    if (call.params.flag("csv")) app::print(csv, call.params);
    app::write_report(call.params, whole);
    if (broken) throw *broken;
    return status;
}

}  // namespace

extern constinit const Command inspect{
    "inspect", "what is in a file: datasets, shape, rate, time axis, start, gaps",
    "INPUT",   "files, or FILE.h5:/dataset",
    true,      "convoy inspect recording.h5 --json",
    groups,    run};

}  // namespace convoy::command
