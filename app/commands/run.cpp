// convoy run: a pipeline file over one input or thousands.
#include <tbb/global_control.h>

#include "app/command.hpp"
#include "app/job_call.hpp"
#include "app/log.hpp"
#include "app/output.hpp"
#include "app/pipeline_call.hpp"
#include "app/threads.hpp"
#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/plan.hpp"
#include "pipelines/regions.hpp"
#include "pipelines/replay.hpp"
#include "pipelines/requests.hpp"
#include "pipelines/scipy.hpp"
#include "pipelines/script.hpp"

namespace convoy::command {

namespace {

using pipelines::JobRequest;
using pipelines::Script;

constexpr Param own_params[] = {
    {.name = "output",
     .value = "OUT",
     .help = "file, folder or template of results, instead of the pipeline file's",
     .also = "o"},
    {.name = "set",
     .value = "KEY=VALUE",
     .help = "change the pipeline file: execution.device=cpu, steps.2.decimate=8, counted from 0",
     .repeated = true},
    {.name = "plan", .kind = Kind::flag, .help = "print what would be done, and touch nothing"},
    {.name = "regions",
     .value = "FILE",
     .help = "one clip a row of a Raven selection table or of Audacity's labels"},
    {.name = "html", .value = "FILE", .help = "write what was done as one self-contained page"},
    {.name = "replay",
     .value = "REPORT",
     .help = "repeat the run that a report tells of, and compare the hashes of the results"},
    {.name = "merge-reports",
     .kind = Kind::flag,
     .help = "the files named are reports: make them one (--report, or printed)"},
    {.name = "emit-scipy",
     .value = "FILE",
     .help =
         "write the steps as a Python script with NumPy and SciPy (- for standard output), and run nothing"},
    {.name = "check-scipy",
     .kind = Kind::flag,
     .help = "run that script on the first samples of the first input, and print the largest difference"},
    {.name = "schema", .kind = Kind::flag, .help = "print the JSON schema of pipeline files"},
};

std::vector<Group> groups() {
    return {{"Pipeline", own_params},
            {"Several inputs", pipelines::batch_params()},
            {"Input", pipelines::input_params()},
            {"How it is written", pipelines::output_params()},
            {"How it is computed", pipelines::execution_params()}};
}

// A script that is wrong is refused before anything is written: it is planned on the first input that can be
// read.
void check(const std::vector<JobRequest>& requests) {
    constexpr std::size_t tries = 8;
    std::optional<Error> wrong;
    for (std::size_t i = 0; i < std::min(tries, requests.size()); ++i) {
        try {
            const pipelines::Job job(requests[i]);
            return;
        } catch (const Error& e) {
            if (e.fault() == Fault::usage && !wrong) wrong = e;
        }
    }
    if (wrong) throw *wrong;
}

std::string described(const pipelines::SciPyCheck& check, const std::string& input) {
    return input + ", " + to_text(check.frames) + " samples: largest difference from SciPy " +
           to_text(check.largest) + ", the largest value being " + to_text(check.peak) + ": " +
           to_text(check.relative) + " of it" + (check.same() ? "" : ", which is more than rounding") + "\n";
}

bool reports_to_output(const Params& params) {
    return params.given("report") && params.text("report") == "-";
}

Json report_of(const pipelines::SciPyCheck& check, const std::string& input) {
    Json j;
    j["schema"] = "convoy.scipy_check/1";
    j["input"] = input;
    j["python"] = check.python;
    j["frames"] = check.frames;
    j["largest_difference"] = check.largest;
    j["largest_value"] = check.peak;
    j["relative_difference"] = check.relative;
    j["same"] = check.same();
    return j;
}

int show_plan(const std::vector<JobRequest>& requests, const Params& params) {
    const pipelines::BatchPlan plan = pipelines::plan_batch(requests);
    if (!reports_to_output(params)) app::write_text("-", described(plan));
    app::write_report(params, to_json(plan));
    for (const pipelines::FilePlan& file : plan.files)
        if (!file.error.empty()) app::log_error(file.error);
    return plan.status();
}

int with_scipy(const std::vector<JobRequest>& requests, const Params& params, const std::string& name) {
    const pipelines::SciPyScript script = pipelines::scipy_script(requests, name);
    if (!script.missing.empty()) warn({}, "the script ends before " + script.missing);
    if (params.given("emit-scipy")) app::write_text(params.text("emit-scipy"), script.text);
    if (!params.flag("check-scipy")) return 0;
    const pipelines::SciPyCheck check = pipelines::check_scipy(requests.front(), script);
    app::write_report(params, report_of(check, requests.front().input));
    if (!reports_to_output(params)) app::write_text("-", described(check, requests.front().input));
    return check.same() ? 0 : 1;
}

int run_replay(const Params& params) {
    std::string text;
    int status = 0;
    const auto replays = pipelines::replay(params.text("replay"));
    for (const pipelines::Replay& r : replays) {
        if (!r.error.empty()) app::log_error(r.error);
        if (r.error.empty())
            text +=
                r.input + ": " +
                (r.same() ? "the same, " + r.now : "differs: " + r.before + " before, " + r.now + " now") +
                "\n";
        if (!r.same()) status = 1;
    }
    app::write_report(params, to_json(replays));
    if (!reports_to_output(params)) app::write_text("-", text);
    return status;
}

int merge(const Call& call) {
    if (call.inputs.empty())
        throw usage_error("no report is named", "convoy run --merge-reports part1.json part2.json");
    const Json merged = pipelines::merged_reports(call.inputs);
    if (call.params.given("report"))
        app::write_report(call.params, merged);
    else
        app::write_text("-", merged.dump() + "\n");
    return 0;
}

// One thing is done instead of the work, and most leave nothing for reports of work to tell.
void check_instead(const Params& params) {
    std::string_view way;
    for (const std::string_view option :
         {"replay", "merge-reports", "schema", "plan", "emit-scipy", "check-scipy"}) {
        if (!params.given(option)) continue;
        if (!way.empty() && way != "emit-scipy")
            throw usage_error(params.spelled(way) + " and " + params.spelled(option) + " exclude each other",
                              "give one of them");
        way = option;
    }
    if (way.empty()) return;
    for (const std::string_view option : {"html", "failed-to", "report"}) {
        const bool goes =  // with a plan all do: the command is that of the work
            way == "plan" || (option == "report" && way != "schema" && way != "emit-scipy");
        if (params.given(option) && !goes)
            throw usage_error(params.spelled(option) + " does not go with " + params.spelled(way),
                              "leave it out");
    }
    app::check_side_file(params, "report");
}

int run(const Call& call) {
    check_instead(call.params);
    if (call.params.given("replay")) return run_replay(call.params);
    if (call.params.flag("merge-reports")) return merge(call);
    if (call.params.flag("schema")) {
        app::write_text("-", pipelines::script_schema().dump() + "\n");
        return 0;
    }
    if (call.inputs.empty())
        throw usage_error("no pipeline file is given", "name one: convoy run pipeline.yaml");
    const Script script = app::script_of(call);
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(app::threads_of(script.options)));
    std::vector<JobRequest> requests =
        app::requests_of(script, call, call.params.given("report") || call.params.given("html"));
    if (call.params.given("regions")) {
        const std::string table = call.params.text("regions");
        requests = pipelines::clips(requests, pipelines::read_regions(table), table);
    }
    if (call.params.given("emit-scipy") || call.params.flag("check-scipy"))
        return with_scipy(requests, call.params, script.path);
    if (call.params.flag("plan")) return show_plan(requests, call.params);
    check(requests);
    Params params = call.params;
    for (const std::string_view name : {"jobs", "fail-fast"})
        if (script.options.given(name)) params.set(name, script.options.text(name));
    const bool batch = requests.size() != 1 || params.given("failed-to");
    for (JobRequest& request : requests)
        request.make_folders = true;
    return app::run_requests(std::move(requests), params, batch);
}

}  // namespace

extern constinit const Command run_pipeline{
    "run",      "run a scripted pipeline over one file or thousands",
    "PIPELINE", "the pipeline file, and inputs that take the place of its own",
    false,      "convoy run pipeline.yaml --plan",
    groups,     run};

}  // namespace convoy::command
