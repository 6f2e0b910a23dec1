// convoy compare: the user's own job, a filter or a pipeline, under every memory mode.
#include <sys/utsname.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>

#include "app/command.hpp"
#include "app/job_call.hpp"
#include "app/log.hpp"
#include "app/output.hpp"
#include "app/pipeline_call.hpp"
#include "app/threads.hpp"
#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/compare.hpp"

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
    {.name = "set",
     .value = "KEY=VALUE",
     .help = "change the pipeline file, as in convoy run",
     .repeated = true},
};

std::vector<Group> groups() {
    std::vector<Group> all{{"Compare", own_params}};
    for (const Group& g : app::step_groups("filter", "Filter"))
        all.push_back(g);
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
        if (s.params.has("png")) s.params.set("png", "", s.place);
    job.skip_finished = false;
    if (job.output != "null") pipelines::make_folders(job);
    return job;
}

pipelines::JobRequest job_of(const Call& call) {
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

// What the steps of a job took, those that had a choice.
std::string strategies(const pipelines::JobReport& report) {
    std::string all;
    for (const pipelines::StepReport& step : report.steps)
        if (!step.strategy.empty()) all += (all.empty() ? "" : "+") + step.strategy;
    return all;
}

int count_of(const Params& p, std::string_view name, Index least) {
    const Index n = p.integer(name);
    if (n < least || n > 100000)
        throw usage_error("--" + std::string(name) + " must be from " + to_text(least) + " to 100000");
    return static_cast<int>(n);
}

Json measured(double seconds, bool there) {
    return there ? Json(seconds) : Json();
}

// One row a repetition, with the columns that scripts rely on.
app::Table repetitions_table(const pipelines::Comparison& c, const std::string& run_id) {
    utsname host{};
    uname(&host);
    app::Table t{"convoy.compare/1",
                 {"run_id",
                  "host",
                  "gpu",
                  "driver",
                  "mode",
                  "mechanism",
                  "scope",
                  "phase",
                  "rep",
                  "order",
                  "chunk_bytes",
                  "slots",
                  "taps",
                  "strategy",
                  "e2e_s",
                  "setup_s",
                  "read_s",
                  "h2d_s",
                  "kernel_s",
                  "d2h_s",
                  "write_s",
                  "stall_s",
                  "host_cpu_s",
                  "bytes_h2d",
                  "bytes_d2h",
                  "peak_pinned_bytes",
                  "peak_managed_bytes",
                  "peak_device_bytes",
                  "output_sha256",
                  "output_hash",
                  "note"},
                 {}};
    for (const pipelines::Repetition& r : c.repetitions) {
        const pipelines::Arm& arm = c.arms[r.arm];
        const pipelines::StreamReport& s = r.report.stream;
        const bool gpu = arm.mode != "host";
        Json taps;
        for (const pipelines::StepReport& step : r.report.steps)
            for (const auto& [key, value] : step.notes)
                if (key == "numtaps" && taps.is_null()) taps = *parse_integer(value);
        t.rows.push_back({run_id,
                          host.nodename,
                          gpu ? Json(r.report.device_name) : Json(),
                          Json(),
                          arm.mode,
                          arm.mechanism,
                          "file",
                          r.warm ? "steady" : "warm-up",
                          r.rep,
                          r.order,
                          r.chunk_bytes,
                          s.slots,
                          taps,
                          strategies(r.report),
                          r.e2e_s,
                          r.setup_s,
                          s.read_s,
                          measured(s.traffic.h2d_s, s.traffic.h2d_s > 0),
                          measured(gpu ? s.traffic.kernel_s : s.compute_s, !gpu || s.traffic.kernel_s > 0),
                          measured(s.traffic.d2h_s, s.traffic.d2h_s > 0),
                          s.write_s,
                          s.wait_s,
                          r.host_cpu_s,
                          s.traffic.bytes_h2d,
                          s.traffic.bytes_d2h,
                          s.footprint.pinned,
                          s.footprint.managed,
                          s.footprint.device,
                          Json(),
                          s.hash,
                          Json()});
    }
    for (const pipelines::Arm& arm : c.arms)
        if (!arm.reason.empty()) {
            auto& row = t.rows.emplace_back(t.columns.size());
            row[0] = run_id, row[1] = host.nodename, row[4] = arm.mode, row[5] = arm.mechanism,
            row[6] = "file";
            row.back() = arm.reason;
        }
    return t;
}

app::Table summary_table(const pipelines::Comparison& c) {
    app::Table t{"convoy.compare/1",
                 {"mode", "mechanism", "device", "chunk", "median_s", "p10_s", "p90_s", "setup_s", "ratio",
                  "ratio_95", "bytes_h2d", "bytes_d2h", "strategy", "equal", "note"},
                 {}};
    const auto three = [](double v) { return to_text(std::round(v * 1000) / 1000); };
    for (std::size_t i = 0; i < c.arms.size(); ++i) {
        const pipelines::Arm& arm = c.arms[i];
        const pipelines::ArmSummary& s = c.summaries[i];
        const auto last = std::find_if(c.repetitions.rbegin(), c.repetitions.rend(),
                                       [&](const pipelines::Repetition& r) { return r.arm == i; });
        if (last == c.repetitions.rend()) {
            auto& row = t.rows.emplace_back(t.columns.size());
            row[0] = arm.mode, row[1] = arm.mechanism, row[2] = arm.device, row.back() = arm.reason;
            continue;
        }
        const pipelines::JobReport& report = last->report;
        t.rows.push_back({arm.mode, arm.mechanism, arm.device, arm.chunk.empty() ? "default" : arm.chunk,
                          s.e2e.median, s.e2e.p10, s.e2e.p90, s.setup.median, s.ratio,
                          three(s.ratio_low) + " to " + three(s.ratio_high), report.stream.traffic.bytes_h2d,
                          report.stream.traffic.bytes_d2h, strategies(report),
                          arm.mode == "host" ? Json() : Json(s.equal),
                          i == c.baseline ? Json("ratios are to this") : Json()});
    }
    return t;
}

int run(const Call& call) {
    const Params& p = call.params;
    app::check_side_file(p, "report");
    pipelines::CompareOptions o{job_of(call)};
    if (p.given("modes")) o.modes = split(p.text("modes"), ',');
    if (p.given("chunk")) o.chunks = split(p.text("chunk"), ',');  // --chunk takes a list here
    o.repeat = count_of(p, "repeat", 1);
    o.warmup = count_of(p, "warmup", 0);
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(app::threads_of(o.job.options)));
    const pipelines::Comparison c = pipelines::compare(o);
    const std::string run_id =
        c.repetitions.empty() ? "" : c.repetitions.front().report.stream.hash.substr(0, 8);
    const bool rows = p.flag("json") || p.flag("csv");
    app::write_report(p, to_json(repetitions_table(c, run_id)));
    app::print(rows ? repetitions_table(c, run_id) : summary_table(c), p);
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
