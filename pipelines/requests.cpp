#include "pipelines/requests.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/picture.hpp"
#include "pipelines/views.hpp"

namespace convoy::pipelines {

namespace {

std::vector<std::string> inputs_of(std::vector<std::string> words, const Params& batch) {
    if (batch.flag("null") && !batch.given("files-from"))
        throw usage_error("-0 tells how the names of --files-from are separated",
                          "give that, or leave it out");
    if (batch.given("files-from")) {
        const auto listed = read_list(batch.text("files-from"), batch.flag("null"));
        words.insert(words.end(), listed.begin(), listed.end());
    }
    std::vector<std::string> inputs = expand_inputs(words);
    if (inputs.empty())
        throw usage_error("no input is given", "name a file, a quoted glob, or --files-from FILE");
    return inputs;
}

// The day (YYYY-MM-DD) on which an input starts, or else of its file: {date} in names.
std::string recording_date(const std::string& input, const JobRequest& common) {
    io::OpenOptions options = open_options(common.options);
    open_as_image(options, common.steps);
    const io::Recording r = io::open(input, options)->recording();
    return (r.start_time ? *r.start_time : r.modified).substr(0, 10);
}

// A name that a folder would hardly have: neither one that is there, nor a template, and with an ending.
bool looks_like_a_file(const std::string& output) {
    return names_one_file({output}) && std::filesystem::path(output).has_extension();
}

// One output for each input, from a name, folder or template.
std::vector<std::string> outputs_for(const std::vector<std::string>& inputs, const std::string& output,
                                     const std::string& format, const JobRequest& common,
                                     const std::vector<std::string>& channels = {}) {
    if (output.empty()) throw usage_error("the output has no name", "say where the result goes: -o OUT.h5");
    if (output == "-")
        throw usage_error("results are files, and are not written to standard output", "give -o OUT.h5");
    if (output == "null") return std::vector<std::string>(inputs.size(), "null");
    const std::string extension = format.empty() ? ".h5" : (format.starts_with('.') ? "" : ".") + format;
    return name_outputs(inputs, {output, extension, inputs.size() > 1, channels},
                        [&](const std::string& input) { return recording_date(input, common); });
}

// Files that are written must all be different ones.
void check_apart(const std::vector<std::string>& outputs, std::set<std::string>& taken) {
    for (const std::string& output : outputs)
        if (output != "null" &&
            !taken.insert(std::filesystem::absolute(output).lexically_normal().string()).second)
            throw usage_error("two results would go to " + output, "name them apart");
}

// Files that steps write beside the results: one for each input.
void name_beside(std::vector<JobRequest>& requests, const std::vector<std::string>& inputs,
                 std::set<std::string>& taken, const std::vector<std::string>& channels = {}) {
    const JobRequest common = requests.front();
    for (std::size_t s = 0; s < common.steps.size(); ++s) {
        const StepCall& call = common.steps[s];
        const std::string_view file = written_by(call);
        if (file.empty()) continue;
        try {
            const std::string name = call.params.text(file);
            const bool picture = file == "png";
            if (picture) check_picture_name(name);
            if (picture && inputs.size() > 1 && names_one_file({name}))
                throw several_into_one(name, "picture", "name them by a template like {stem}.png");
            const auto paths = outputs_for(inputs, name, picture ? "png" : "", common, channels);
            check_apart(paths, taken);
            for (std::size_t i = 0; i < inputs.size(); ++i)
                requests[i].steps[s].params.set(file, paths[i], call.place);
        } catch (const Error& e) {
            throw Error(e.fault(), call.place.empty() ? e.where() : call.place, e.problem(), e.hint());
        }
    }
}

// In the order of their start times, where all are known; else as they were named.
std::vector<std::pair<std::string, io::Recording>> in_order_of_time(const std::vector<std::string>& inputs,
                                                                    const Params& options) {
    std::vector<std::pair<std::string, io::Recording>> all;
    std::vector<std::pair<double, std::size_t>> starts;
    for (const std::string& input : inputs) {
        all.emplace_back(input, io::open(input, open_options(options))->recording());
        const auto& start = all.back().second.start_time;
        const auto time = start ? parse_time(*start) : std::nullopt;
        if (time && time->unit == Time::Unit::absolute) starts.emplace_back(time->value, starts.size());
    }
    if (starts.size() < all.size()) return all;
    std::sort(starts.begin(), starts.end());
    std::vector<std::pair<std::string, io::Recording>> sorted;
    for (const auto& [ignored, i] : starts)
        sorted.push_back(std::move(all[i]));
    return sorted;
}

// Runs of inputs of which each begins where the one before ends; where no times are known, all follow one
// another. `inputs` come out in that order.
std::vector<std::vector<std::string>> runs_of(std::vector<std::string>& inputs, const JobRequest& common,
                                              bool one_file) {
    const double tolerance = open_options(common.options).gap_tolerance;
    const std::string gaps = common.options.text("gaps");
    std::vector<std::vector<std::string>> runs;
    const io::Recording* before = nullptr;
    std::string first_gap;
    const auto ordered = in_order_of_time(inputs, common.options);
    inputs.clear();
    for (const auto& [input, recording] : ordered) {
        const double jump = before ? samples_between(*before, recording).value_or(0) : 0;
        const bool gap = std::abs(jump) > tolerance;
        if (gap) {
            const std::string told = "starts " + to_text(std::abs(jump) / *before->rate) + " s " +
                                     (jump > 0 ? "after" : "before") + " the end of " + before->label();
            if (common.options.given("gaps") && gaps == "error")
                throw failed(recording.label(), told,
                             "--gaps split makes a signal of each run of files, --gaps ignore one of all");
            if (first_gap.empty()) first_gap = recording.label() + " " + told;
        }
        if (!before || (gap && gaps != "ignore")) runs.emplace_back();
        runs.back().push_back(input);
        inputs.push_back(input);
        before = &recording;
    }
    if (one_file && runs.size() > 1)
        warn(common.output, "is made a folder of " + to_text(static_cast<Index>(runs.size())) +
                                " results: " + first_gap + "; --gaps ignore joins them all the same");
    return runs;
}

// The requests whose inputs are of this part of all, in its order.
std::vector<JobRequest> in_shard(std::vector<JobRequest> requests, const std::string& shard) {
    std::multimap<std::string, std::size_t> numbers;
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (!numbers.contains(requests[i].input)) inputs.push_back(requests[i].input);
        numbers.emplace(requests[i].input, i);
    }
    std::vector<JobRequest> mine;
    for (const std::string& input : shard_of(inputs, parse_shard(shard))) {
        const auto [first, end] = numbers.equal_range(input);
        for (auto at = first; at != end; ++at)
            mine.push_back(std::move(requests[at->second]));
    }
    return mine;
}

// One request a run of joined inputs.
std::vector<JobRequest> joined_requests(std::vector<std::string> inputs, const Params& batch,
                                        const JobRequest& common) {
    const std::string format = common.options.text("format");
    const bool at_inputs = batch.text("split") == "input";
    std::vector<std::string> firsts;
    const auto runs = runs_of(inputs, common, !at_inputs && looks_like_a_file(common.output));
    for (const auto& run : runs)
        firsts.push_back(run.front());
    const auto outputs = outputs_for(at_inputs ? inputs : firsts, common.output, format, common);
    std::set<std::string> taken;
    check_apart(outputs, taken);
    std::vector<JobRequest> requests(runs.size(), common);
    for (std::size_t r = 0, input = 0; r < runs.size(); input += runs[r].size(), ++r) {
        requests[r].input = runs[r].front();
        requests[r].joined.assign(runs[r].begin() + 1, runs[r].end());
        requests[r].output = outputs[at_inputs ? input : r];
        requests[r].split = batch.text("split");
        if (!at_inputs || common.output == "null") continue;
        const auto first = outputs.begin() + static_cast<std::ptrdiff_t>(input);
        requests[r].split_outputs.assign(first, first + static_cast<std::ptrdiff_t>(runs[r].size()));
    }
    name_beside(requests, firsts, taken);
    return batch.given("shard") ? in_shard(std::move(requests), batch.text("shard")) : requests;
}

// Where the output's name has {channel}: each input once for each of its channels, and their numbers.
std::vector<std::string> tell_channels_apart(std::vector<std::string>& inputs, const JobRequest& common) {
    std::vector<std::string> all, channels;
    for (const std::string& input : inputs) {
        std::vector<Index> numbers{0};  // of an input that cannot be opened: its job tells why
        try {
            const io::Recording r = io::open(input, open_options(common.options))->recording();
            numbers = r.selected;
            for (Index c = 0; r.selected.empty() && c < r.shape.lanes() / (r.complex ? 2 : 1); ++c)
                numbers.resize(static_cast<std::size_t>(c) + 1, c);
        } catch (const Error&) {
        }
        for (const Index c : numbers) {
            all.push_back(input);
            channels.push_back(to_text(c));
        }
    }
    inputs = std::move(all);
    return channels;
}

}  // namespace

std::vector<JobRequest> requests_for(std::vector<std::string> words, const Params& batch,
                                     const JobRequest& common) {
    std::vector<std::string> inputs = inputs_of(std::move(words), batch);
    if (batch.flag("join")) return joined_requests(std::move(inputs), batch, common);
    if (batch.text("split") == "input")
        throw usage_error("--split input goes with --join", "give --join, or --split TIME");
    // A folder with the name of a file is what nobody means.
    if (inputs.size() > 1 && names_one_file({common.output}) && io::ends_as_output(common.output))
        throw several_into_one(common.output);
    std::vector<std::string> channels;
    if (common.output.find("{channel}") != std::string::npos) channels = tell_channels_apart(inputs, common);
    const auto outputs = outputs_for(inputs, common.output, common.options.text("format"), common, channels);
    std::set<std::string> taken;
    check_apart(outputs, taken);
    std::vector<JobRequest> requests(inputs.size(), common);
    for (JobRequest& request : requests)
        request.split = batch.text("split");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        requests[i].input = inputs[i];
        requests[i].output = outputs[i];
        if (!channels.empty()) requests[i].options.set("channels", channels[i]);
    }
    name_beside(requests, inputs, taken, channels);
    if (!batch.given("shard")) return requests;
    // The names are those of the whole batch, whatever part of it is done here.
    return in_shard(std::move(requests), batch.text("shard"));
}

}  // namespace convoy::pipelines
