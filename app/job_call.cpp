#include "app/job_call.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "app/log.hpp"
#include "app/output.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/html.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/requests.hpp"

namespace convoy::app {

namespace {

constexpr Param output_path[] = {
    {.name = "output",
     .value = "OUT",
     .help = "the result; its ending picks the format, HDF5 by default",
     .also = "o"},
};

}  // namespace

Params values_of(const Params& all, std::vector<Param> declared) {
    Params values(declared);
    for (const Param& p : declared)
        if (all.given(p.name)) values.set(p.name, all.text(p.name));
    return values;
}

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
    if (!call.params.given("output"))
        throw usage_error("no output is given", "say where the result goes: -o OUT.h5");
    return {call.inputs.empty() ? "" : call.inputs.front(),
            call.params.text("output"),
            values_of(call.params, pipelines::joined({pipelines::input_params(), pipelines::output_params(),
                                                      pipelines::execution_params()})),
            {{&step, values_of(call.params, {step.params.begin(), step.params.end()})}},
            call.words,
            call.params.given("report"),
            {}};
}

namespace {

// What was not asked for by name.
void tell_choices(const pipelines::JobReport& report) {
    const std::string input = printable(report.input.path) + ": ";
    log_info(input + "on " + report.device_name + ", memory " + report.memory + ": " + report.memory_reason);
    for (const pipelines::StepReport& step : report.steps)
        if (!step.strategy.empty())
            log_info(input + step.name + " by the strategy " + step.strategy + ": " + step.reason);
}

std::string mib(double bytes) {
    return to_text(std::round(bytes / (1 << 20) * 10) / 10) + " MiB";
}
std::string ms(double seconds) {
    return to_text(std::round(seconds * 1e4) / 10) + " ms";
}

// How the work was cut, and where the time went.
void tell_work(const pipelines::JobReport& report) {
    const std::string input = printable(report.input.path) + ": ";
    const pipelines::StreamReport& s = report.stream;
    log_debug(input + to_text(s.chunks) + " chunks of at most " + to_text(s.chunk_frames) +
              " output frames, in " + to_text(s.passes) + " passes over " + to_text(s.slots) + " slots; " +
              mib(static_cast<double>(s.traffic.bytes_h2d)) + " to the device, " +
              mib(static_cast<double>(s.traffic.bytes_d2h)) + " back");
    log_debug(input + ms(report.total_s) + ": opening " + ms(report.open_s) + ", planning " +
              ms(report.plan_s) + ", setting up " + ms(s.setup_s) + ", finishing " + ms(report.finish_s) +
              "; side by side: reading " + ms(s.read_s) + ", computing " + ms(s.compute_s) + ", waiting " +
              ms(s.wait_s) + ", levels " + ms(s.measure_s) + ", writing " + ms(s.write_s));
    for (const pipelines::StepReport& step : report.steps)
        log_debug(input + step.name + ": " + ms(step.seconds) + ", halo " + to_text(step.halo) + " frames");
}

int run_single(pipelines::JobRequest request, const Params& params) {
    Progress progress(params, request.input);
    request.progress = progress.callback();
    pipelines::Job job(std::move(request));
    if (params.flag("explain"))
        for (const pipelines::StepReport& step : job.planned().steps)
            log_text(step.explanation);
    tell_choices(job.planned());
    const pipelines::JobReport report = job.run();
    if (report.ending == pipelines::Ending::skipped)
        log_note(params, report.output + ": is finished already, and its input unchanged; nothing to do");
    else
        tell_work(report);
    if (report.ending == pipelines::Ending::extended)
        log_note(params, report.output + ": extended, since its input was appended to");
    if (params.given("report")) write_report(params, to_json(report));
    if (params.given("html")) {
        const pipelines::Outcome outcome{report.input.path, report.output, report, {}, Fault::failed, false};
        write_text(params.text("html"), pipelines::html_report({outcome}, report.command));
    }
    return 0;
}

// Lists what was not done where --failed-to says, and then in messages; whether there was any. After a signal
// that is told instead.
bool tell_failed(const std::vector<pipelines::Outcome>& outcomes, const Params& params) {
    std::vector<std::string> failed;  // each input once, however many results it has
    for (const pipelines::Outcome& o : outcomes)
        if (!o.report && (failed.empty() || failed.back() != o.input)) failed.push_back(o.input);
    std::string names, lines = "not done:\n";
    for (const std::string& input : failed) {
        names += input + "\n";
        lines += printable(input) + "\n";
    }
    if (params.given("failed-to")) write_text(params.text("failed-to"), names);
    pipelines::check_cancelled(outcomes);
    if (!failed.empty()) log_text(lines);
    return !failed.empty();
}

int run_several(std::vector<pipelines::JobRequest> requests, const Params& params) {
    pipelines::BatchOptions options;
    const std::string command = requests.empty() ? "" : requests.front().command;
    if (const auto jobs = params.integer_if("jobs")) options.jobs = static_cast<int>(*jobs);
    options.fail_fast = params.flag("fail-fast");
    Progress progress(params, {});
    if (progress.shown())
        options.progress = [&](const pipelines::BatchProgress& b) {
            progress.show(
                b.part, b.samples,
                to_text(static_cast<Index>(b.done)) + "/" + to_text(static_cast<Index>(b.all)) + " files");
        };
    options.finished = [told = std::set<std::string>()](const pipelines::Outcome& outcome) mutable {
        // One that all channels of a file share is told once.
        if (!outcome.error.empty() && told.insert(outcome.error).second) log_error(outcome.error);
        if (!outcome.report) return;
        tell_choices(*outcome.report);
        if (outcome.report->ending != pipelines::Ending::skipped) tell_work(*outcome.report);
    };
    const auto outcomes = pipelines::run_batch(std::move(requests), options);
    const auto skipped = std::count_if(outcomes.begin(), outcomes.end(), [](const pipelines::Outcome& o) {
        return o.report && o.report->ending == pipelines::Ending::skipped;
    });
    if (skipped > 0)
        log_note(params, to_text(static_cast<Index>(skipped)) + " outputs were finished already");
    if (params.given("report")) write_report(params, to_json(outcomes));
    if (params.given("html")) write_text(params.text("html"), pipelines::html_report(outcomes, command));
    if (params.flag("explain"))
        for (const pipelines::Outcome& o : outcomes)
            for (std::size_t i = 0; o.report && i < o.report->steps.size(); ++i)
                log_text(o.input + ": " + o.report->steps[i].explanation);
    return tell_failed(outcomes, params) ? 3 : 0;
}

void check_side_files_of(const std::vector<pipelines::JobRequest>& requests, const Params& params) {
    std::vector<std::string> inputs, results;
    for (const pipelines::JobRequest& request : requests) {
        inputs.push_back(request.input);
        inputs.insert(inputs.end(), request.joined.begin(), request.joined.end());
        if (request.output != "null") results.push_back(request.output);
    }
    check_side_files(params, inputs, results);
}

}  // namespace

int run_requests(std::vector<pipelines::JobRequest> requests, const Params& params, bool batch) {
    if (const auto jobs = params.integer_if("jobs"); jobs && (*jobs < 1 || *jobs > 1024))
        throw usage_error("--jobs must be from 1 to 1024");
    check_side_files_of(requests, params);
    // Folders that come from a template, or a name that ends in a slash; one that was typed should be there.
    for (pipelines::JobRequest& request : requests)
        request.make_folders |= request.output != params.text("output");
    if (!batch) return run_single(std::move(requests.front()), params);
    return run_several(std::move(requests), params);
}

int run_step(std::string_view name, const command::Call& call) {
    auto requests = pipelines::requests_for(call.inputs, call.params, job_request(name, call));
    const bool batch = call.inputs.size() != 1 || requests.size() != 1 || call.params.given("failed-to");
    return run_requests(std::move(requests), call.params, batch);
}

}  // namespace convoy::app
