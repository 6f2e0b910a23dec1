#include "pipelines/requests.hpp"

#include <filesystem>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::pipelines {

namespace {

std::vector<std::string> inputs_of(std::vector<std::string> words, const Params& batch) {
    if (batch.given("files-from")) {
        const auto listed = read_list(batch.text("files-from"), batch.flag("null"));
        words.insert(words.end(), listed.begin(), listed.end());
    }
    std::vector<std::string> inputs = expand_inputs(words);
    if (inputs.empty()) throw usage_error("no input is given", "name a file, a quoted glob, or --files-from FILE");
    return inputs;
}

// One output for each input, from a name, folder or template.
std::vector<std::string> outputs_for(const std::vector<std::string>& inputs, const std::string& output,
                                     const std::string& format) {
    if (output == "null") return std::vector<std::string>(inputs.size(), "null");
    const std::string extension = format.empty() ? ".h5" : (format.starts_with('.') ? "" : ".") + format;
    return name_outputs(inputs, {output, extension, inputs.size() > 1}, recording_date);
}

// Files that are written must all be different ones.
void check_apart(const std::vector<std::string>& outputs, std::set<std::string>& taken) {
    for (const std::string& output : outputs)
        if (output != "null" && !taken.insert(std::filesystem::absolute(output).lexically_normal().string()).second)
            throw usage_error("two results would go to " + output, "name them apart");
}

void name_saved(std::vector<JobRequest>& requests, const std::vector<std::string>& inputs, std::set<std::string>& taken) {
    const std::vector<StepCall> steps = requests.front().steps;
    for (std::size_t s = 0; s < steps.size(); ++s) {
        if (steps[s].step->name != "save") continue;
        try {
            const auto paths = outputs_for(inputs, steps[s].params.text("path"), "");
            check_apart(paths, taken);
            for (std::size_t i = 0; i < inputs.size(); ++i)
                requests[i].steps[s].params.set("path", paths[i], steps[s].place);
        } catch (const Error& e) {
            throw Error(e.fault(), steps[s].place, e.problem(), e.hint());
        }
    }
}

}  // namespace

std::vector<JobRequest> requests_for(std::vector<std::string> words, const Params& batch, const JobRequest& common) {
    const std::vector<std::string> inputs = inputs_of(std::move(words), batch);
    const auto outputs = outputs_for(inputs, common.output, common.options.text("format"));
    std::set<std::string> taken;
    check_apart(outputs, taken);
    std::vector<JobRequest> requests(inputs.size(), common);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        requests[i].input = inputs[i];
        requests[i].output = outputs[i];
    }
    name_saved(requests, inputs, taken);
    if (!batch.given("shard")) return requests;
    // The names are those of the whole batch, whatever part of it is done here.
    std::map<std::string, std::size_t> number;
    for (std::size_t i = 0; i < inputs.size(); ++i) number.emplace(inputs[i], i);
    std::vector<JobRequest> mine;
    for (const std::string& input : shard_of(inputs, parse_shard(batch.text("shard"))))
        mine.push_back(std::move(requests[number.at(input)]));
    return mine;
}

}  // namespace convoy::pipelines
