#include "app/job_call.hpp"

#include <algorithm>

#include "app/log.hpp"
#include "app/output.hpp"
#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::app {

namespace {

constexpr Param output_path[] = {
    {.name = "output", .value = "OUT", .help = "the result; its ending picks the format, HDF5 by default", .also = "o"},
};

// The values of `call` that belong to a list of declarations, as parameters of their own.
Params part_of(const command::Call& call, std::vector<Param> declared) {
    Params part(declared);
    for (const Param& p : declared)
        if (call.params.given(p.name)) part.set(p.name, call.params.text(p.name));
    return part;
}

}  // namespace

std::vector<command::Group> step_groups(std::string_view step, std::string_view title) {
    return {{"Output", output_path},
            {title, step::catalog().at(step).params},
            {"Input", pipelines::input_params()},
            {"Several inputs", pipelines::batch_params()},
            {"How it is written", pipelines::output_params()},
            {"How it is computed", pipelines::execution_params()}};
}

pipelines::JobRequest job_request(std::string_view name, const command::Call& call) {
    const auto& step = step::catalog().at(name);
    if (!call.params.given("output")) throw usage_error("no output is given", "say where the result goes: -o OUT.h5");
    return {call.inputs.empty() ? "" : call.inputs.front(),
            call.params.text("output"),
            part_of(call, pipelines::joined({pipelines::input_params(), pipelines::output_params(),
                                             pipelines::execution_params()})),
            {{&step, part_of(call, {step.params.begin(), step.params.end()})}},
            call.words,
            call.params.given("report"),
            {}};
}

namespace {

// The request for each input, with the output that it writes.
std::vector<pipelines::JobRequest> requests_for(std::string_view step, const command::Call& call) {
    std::vector<std::string> words = call.inputs;
    const Params& p = call.params;
    if (p.given("files-from")) {
        const auto listed = pipelines::read_list(p.text("files-from"), p.flag("null"));
        words.insert(words.end(), listed.begin(), listed.end());
    }
    std::vector<std::string> inputs = pipelines::expand_inputs(words);
    if (inputs.empty()) throw usage_error("no input is given", "name a file, a quoted glob, or --files-from FILE");
    const bool several = inputs.size() > 1;
    if (p.given("shard")) inputs = pipelines::shard_of(std::move(inputs), pipelines::parse_shard(p.text("shard")));
    const pipelines::JobRequest common = job_request(step, call);
    const std::string format = p.text("format");
    const pipelines::Naming naming{common.output,
                                   format.empty() ? ".h5" : (format.starts_with('.') ? "" : ".") + format, several};
    std::vector<std::string> outputs(inputs.size(), "null");
    if (common.output != "null") outputs = pipelines::name_outputs(inputs, naming, pipelines::recording_date);
    std::vector<pipelines::JobRequest> requests(inputs.size(), common);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        requests[i].input = inputs[i];
        requests[i].output = outputs[i];
    }
    return requests;
}

int run_single(pipelines::JobRequest request, const Params& params) {
    Progress progress(params, request.input);
    request.progress = progress.callback();
    pipelines::Job job(std::move(request));
    if (params.flag("explain"))
        for (const pipelines::StepReport& step : job.planned().steps) log_text(step.explanation);
    const pipelines::JobReport report = job.run();
    if (report.ending == pipelines::Ending::skipped)
        log_note(params, report.output + ": is finished already, and its input unchanged; nothing to do");
    if (report.ending == pipelines::Ending::extended)
        log_note(params, report.output + ": extended, since its input was appended to");
    write_report(params, to_json(report));
    return 0;
}

Json batch_json(const std::vector<pipelines::Outcome>& outcomes) {
    Json files = Json::array();
    Index failures = 0;
    for (const pipelines::Outcome& o : outcomes) {
        Json file = o.report ? to_json(*o.report) : Json::object();
        if (!o.report) {
            file["input"]["path"] = o.input;
            file["output"]["path"] = o.output;
            file["error"] = o.error.empty() ? Json("not started") : Json(o.error);
            ++failures;
        }
        files.push(std::move(file));
    }
    Json whole;
    whole["schema"] = "convoy.batch/1";
    whole["files"] = std::move(files);
    whole["failed"] = failures;
    return whole;
}

int run_several(std::vector<pipelines::JobRequest> requests, const Params& params) {
    pipelines::BatchOptions options;
    const Index jobs = params.integer("jobs");
    if (jobs < 1 || jobs > 1024) throw usage_error("--jobs must be from 1 to 1024");
    options.jobs = static_cast<int>(jobs);
    options.fail_fast = params.flag("fail-fast");
    Progress progress(params, to_text(static_cast<Index>(requests.size())) + " files");
    const auto show = progress.callback();
    options.finished = [&](const pipelines::Outcome& outcome, std::size_t done, std::size_t all) {
        if (!outcome.error.empty()) log_error(outcome.error);
        if (show) show(static_cast<Index>(done), static_cast<Index>(all));
    };
    const auto outcomes = pipelines::run_batch(std::move(requests), options);
    const auto skipped = std::count_if(outcomes.begin(), outcomes.end(), [](const pipelines::Outcome& o) {
        return o.report && o.report->ending == pipelines::Ending::skipped;
    });
    if (skipped > 0) log_note(params, to_text(static_cast<Index>(skipped)) + " outputs were finished already");
    write_report(params, batch_json(outcomes));
    if (params.flag("explain"))
        for (const pipelines::Outcome& o : outcomes)
            for (std::size_t i = 0; o.report && i < o.report->steps.size(); ++i)
                log_text(o.input + ": " + o.report->steps[i].explanation);
    std::string failed;
    for (const pipelines::Outcome& o : outcomes)
        if (!o.report) failed += o.input + "\n";
    if (params.given("failed-to")) write_text(params.text("failed-to"), failed);
    if (failed.empty()) return 0;
    log_text("not done:\n" + failed);
    return 3;
}

}  // namespace

int run_step(std::string_view name, const command::Call& call) {
    auto requests = requests_for(name, call);
    const bool batch = call.inputs.size() != 1 || requests.size() != 1 || call.params.given("failed-to");
    if (!batch) return run_single(std::move(requests.front()), call.params);
    return run_several(std::move(requests), call.params);
}

}  // namespace convoy::app
