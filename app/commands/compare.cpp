// convoy compare: the user's own job, a filter or a pipeline, under every memory mode.
#include <tbb/global_control.h>

#include <algorithm>

#include "app/command.hpp"
#include "app/compare_tables.hpp"
#include "app/job_call.hpp"
#include "app/log.hpp"
#include "app/output.hpp"
#include "app/pipeline_call.hpp"
#include "app/threads.hpp"
#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/compare.hpp"
#include "pipelines/compare_page.hpp"

namespace convoy::command {

namespace {

constexpr Param own_params[] = {
    {.name = "modes",
     .value = "LIST",
     .help = "memory modes, by commas; default all (the CPU is always there)"},
    {.name = "repeat",
     .kind = Kind::integer,
     .value = "N",
     .help = "counted repetitions of each",
     .fallback = "20"},
    {.name = "warmup",
     .kind = Kind::integer,
     .value = "N",
     .help = "repetitions before them",
     .fallback = "3"},
    {.name = "scope",
     .value = "LIST",
     .help = "link (chunks lie in the slots), memory (filled from and drained to RAM), file; default all"},
    {.name = "profile",
     .kind = Kind::flag,
     .help = "count page faults and migrated bytes by cause (CUPTI), in one more run of each GPU mode"},
    {.name = "html", .value = "FILE", .help = "write the comparison as one self-contained page"},
    {.name = "set",
     .value = "KEY=VALUE",
     .help = "change the pipeline file, as in convoy run",
     .repeated = true},
};

// The parameters of a group as they mean here: several chunk sizes may be compared.
std::span<const Param> with_chunk_list(std::span<const Param> params) {
    static std::vector<Param> changed;
    changed.assign(params.begin(), params.end());
    for (Param& p : changed)
        if (p.name == "chunk") {
            p.value = "LIST";
            p.help = "samples a channel (48000), durations (1s) or bytes (4MiB,64MiB) a chunk: each is run";
        }
    return changed;
}

std::vector<Group> groups() {
    const auto has_chunk = [](const Param& p) { return p.name == "chunk"; };
    std::vector<Group> all{{"Compare", own_params}};
    for (Group g : app::step_groups("filter", "Filter")) {
        if (std::any_of(g.params.begin(), g.params.end(), has_chunk)) g.params = with_chunk_list(g.params);
        all.push_back(g);
    }
    all.push_back({"Listing", app::listing_params()});
    return all;
}

bool is_pipeline(const std::string& input) {
    return input.ends_with(".yaml") || input.ends_with(".yml");
}

// The job of a pipeline file's first input. Only its result is written: saved steps and pictures are left
// out.
pipelines::JobRequest pipeline_job(const Call& call) {
    for (const Param& p : step::catalog().at("filter").params)
        if (call.params.given(p.name))
            throw usage_error(call.params.spelled(p.name) + " is of a job without a pipeline file",
                              "change the file's steps by --set steps.filter.lowpass=100",
                              call.inputs.front());
    const auto requests = app::requests_of(app::script_of(call), call, true);
    pipelines::JobRequest job = requests.front();
    if (requests.size() > 1)
        app::log_note(call.params, "the first of " + to_text(static_cast<Index>(requests.size())) +
                                       " inputs is compared: " + job.input);
    std::erase_if(job.steps, [](const pipelines::StepCall& s) { return s.step->name == "save"; });
    for (pipelines::StepCall& s : job.steps)
        s = pipelines::without_picture(s);
    job.skip_finished = false;
    if (job.output != "null") pipelines::make_folders(job);  // what its disk can do is measured first
    return job;
}

pipelines::JobRequest job_of(const Call& call) {
    constexpr std::string_view of_one_run[][2] = {
        {"memory", "name the modes that are compared by --modes"},
        {"explain", "convoy filter and convoy run explain"},
        {"resume", "every repetition is a whole run"},
    };
    for (const auto& [name, hint] : of_one_run)
        if (call.params.given(name))
            throw usage_error(call.params.spelled(name) + " is of a single run, and many are compared",
                              std::string(hint));
    if (is_pipeline(call.inputs.front())) return pipeline_job(call);
    if (call.inputs.size() != 1) throw usage_error("one input is compared", "give one file");
    if (call.params.given("set"))
        throw usage_error("--set changes a pipeline file, and none is given", "leave it out");
    for (const Param& p : pipelines::batch_params())
        if (call.params.given(p.name))
            throw usage_error(call.params.spelled(p.name) + " is for several inputs, and one is compared",
                              "leave it out");
    return app::job_request("filter", call);
}

int count_of(const Params& p, std::string_view name, Index least) {
    const Index n = p.integer(name);
    if (n < least || n > 100000)
        throw usage_error("--" + std::string(name) + " must be from " + to_text(least) + " to 100000");
    return static_cast<int>(n);
}

int run(const Call& call) {
    const Params& p = call.params;
    pipelines::CompareOptions o{job_of(call)};
    app::check_side_files(p, {call.inputs.front(), o.job.input});
    if (p.given("modes")) o.modes = split(p.text("modes"), ',');
    if (p.given("chunk")) o.chunks = split(p.text("chunk"), ',');  // --chunk takes a list here
    if (p.given("scope")) {
        o.scopes.clear();
        for (const std::string& name : split(p.text("scope"), ','))
            o.scopes.push_back(pipelines::scope_of(name));
    }
    o.repeat = count_of(p, "repeat", 1);
    o.warmup = count_of(p, "warmup", 0);
    o.profile = p.flag("profile");
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(app::threads_of(o.job.options)));
    const pipelines::Comparison c = pipelines::compare(o);
    const app::Table repetitions = app::repetitions_table(c, o.job.command);
    app::write_report(p, to_json(repetitions));
    if (p.given("html")) app::write_text(p.text("html"), pipelines::compare_page(c, o));
    app::print(p.flag("json") || p.flag("csv") ? repetitions : app::summary_table(c), p);
    if (!c.no_profile.empty()) warn(o.job.input, "no profile was taken: " + c.no_profile);
    if (!c.outputs_equal) throw failed(o.job.input, "the outputs of the GPU's memory modes differ");
    return 0;
}

}  // namespace

extern constinit const Command compare{
    "compare", "your own filter job or pipeline under every memory mode, side by side in one run",
    "INPUT",   "a file, FILE.h5:/dataset, or a pipeline file",
    true,      "convoy compare recording.h5 -o null --lowpass 100 --repeat 10",
    groups,    run};

}  // namespace convoy::command
