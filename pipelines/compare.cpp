#include "pipelines/compare.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <random>

#include "core/base/error.hpp"
#include "pipelines/bench/ceilings.hpp"
#include "pipelines/cancel.hpp"

namespace convoy::pipelines {

namespace {

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool lacks(std::string_view name) {
    const auto there = memory::lacking();
    return std::any_of(there.begin(), there.end(), [&](const memory::Lacking& m) { return m.name == name; });
}

std::string_view full_name(std::string_view asked) {
    return asked == "managed-inplace" ? "managed" : asked;
}

// Whether a mode is asked for. The CPU always is.
bool wanted(const CompareOptions& o, std::string_view name) {
    const auto is = [&](const std::string& asked) { return name == full_name(asked); };
    return name == "host" || o.modes.empty() || std::any_of(o.modes.begin(), o.modes.end(), is);
}

// Rows for the modes that this program was built without.
std::vector<Arm> arms_lacking(const CompareOptions& o) {
    for (const std::string& name : o.modes)
        if (!lacks(full_name(name))) memory::catalog().at(full_name(name));  // or tells those that there are
    std::vector<Arm> arms;
    for (const memory::Lacking& mode : memory::lacking())
        if (wanted(o, mode.name))
            arms.push_back(
                {{}, std::string(mode.name), std::string(mode.mechanism), "", "", device::gpu_remark()});
    return arms;
}

// Why a mode cannot be timed with its chunks in the slots.
std::string why_no_link(std::string_view mode) {
    return mode == "managed-fault"
               ? "pages that the CPU does not touch stay on the GPU: nothing crosses the link"
               : "";
}

// Every mode on the device that it is for, in every scope and at every chunk.
std::vector<Arm> arms_of(const CompareOptions& o) {
    const device::Device device = device::select(o.job.options.text("device"));
    const device::Device cpu = device::cpu();
    std::string on_cpu_only;
    for (const StepCall& call : o.job.steps)
        if (call.step->cpu_only && on_cpu_only.empty())
            on_cpu_only = "the step " + std::string(call.step->name) + " runs on the CPU only";
    std::vector<Arm> arms = arms_lacking(o);
    for (const memory::Mode* mode : memory::catalog()) {
        if (!wanted(o, mode->name)) continue;
        const device::Device& on = mode->name == "host" ? cpu : device;
        std::string why = mode->unsupported(on);
        if (mode->name != "host" && device.backend == device::Backend::cpu) why = device::gpu_remark();
        if (mode->name != "host" && why.empty()) why = on_cpu_only;
        Arm arm{{}, std::string(mode->name), std::string(mode->mechanism), on.id(), "", why};
        if (!why.empty()) {
            arms.push_back(arm);
            continue;
        }
        for (const Scope scope : o.scopes)
            for (const std::string& chunk : o.chunks.empty() ? std::vector<std::string>{""} : o.chunks) {
                arm.scope = scope;
                arm.chunk = chunk;
                arm.reason = scope == Scope::link ? why_no_link(arm.mode) : "";
                arms.push_back(arm);
            }
    }
    std::stable_sort(arms.begin(), arms.end(), [](const Arm& a, const Arm& b) { return a.scope < b.scope; });
    return arms;
}

JobRequest request_for(const Arm& arm, const CompareOptions& o, const std::shared_ptr<RamFiles>& ram) {
    JobRequest r = o.job;
    r.scope = *arm.scope;
    r.ram = ram;
    if (r.scope != Scope::file) r.output = "null";
    r.options.set("device", arm.device);
    r.options.set("memory", arm.mode);
    if (!arm.chunk.empty()) r.options.set("chunk", arm.chunk);
    if (arm.mode == "host") r.options.set("strategy", "auto");  // the GPU's strategies have other names
    if (r.output != "null") {
        const std::filesystem::path path(r.output);  // beside the result, and of its format
        r.output =
            (path.parent_path() / (path.stem().string() + ".convoy-compare" + path.extension().string()))
                .string();
        r.options.set("overwrite", "");
    }
    r.hash = r.scope != Scope::link;
    return r;
}

Repetition run_once(const Arm& arm, const CompareOptions& o, const std::shared_ptr<RamFiles>& ram,
                    const bench::Figures& ceilings) {
    Repetition rep;
    const double cpu = cpu_seconds();
    const bench::Stopwatch watch;
    Job job(request_for(arm, o, ram));
    rep.report = job.run();
    const StreamReport& s = rep.report.stream;
    rep.setup_s = rep.report.open_s + rep.report.plan_s + s.setup_s;
    rep.e2e_s = watch.seconds() - rep.setup_s;
    rep.host_cpu_s = cpu_seconds() - cpu;
    const io::Recording& in = rep.report.input;
    const double in_frames = static_cast<double>(s.chunk_frames) * static_cast<double>(in.shape.frames) /
                             static_cast<double>(std::max<Index>(1, rep.report.steps.back().shape.frames));
    rep.chunk_bytes =
        static_cast<Index>(in_frames) * in.shape.lanes() * bytes_of(in.type) / std::max<Index>(1, s.passes);
    std::error_code ignored;
    if (rep.report.output != "null") std::filesystem::remove(rep.report.output, ignored);
    rep.limit = limit_of(rep.report, *arm.scope, rep.e2e_s, ceilings);
    return rep;
}

// Median of paired ratios, and the 2.5 to 97.5 % range of that median over resampled pairs.
void add_ratio(ArmSummary& summary, const std::vector<double>& times, const std::vector<double>& baseline) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(times.size(), baseline.size()); ++i)
        ratios.push_back(times[i] / baseline[i]);
    if (ratios.empty()) return;
    summary.ratio = bench::spread_of(ratios).median;
    std::minstd_rand random(1);
    std::uniform_int_distribution<std::size_t> pick(0, ratios.size() - 1);
    std::vector<double> medians;
    for (int i = 0; i < 1000; ++i) {
        std::vector<double> sample(ratios.size());
        for (double& r : sample)
            r = ratios[pick(random)];
        medians.push_back(bench::spread_of(std::move(sample)).median);
    }
    std::sort(medians.begin(), medians.end());
    summary.ratio_low = medians[25];
    summary.ratio_high = medians[974];
}

std::vector<double> counted(const Comparison& c, std::size_t arm, double Repetition::*member) {
    std::vector<double> values;
    for (const Repetition& r : c.repetitions)
        if (r.arm == arm && r.steady) values.push_back(r.*member);
    return values;
}

// Outputs of the GPU modes are the same in a scope; the CPU has other strategies, with other rounding.
void check_equal(Comparison& c) {
    std::map<Scope, std::string> first;
    for (const Repetition& r : c.repetitions) {
        const Arm& arm = c.arms[r.arm];
        if (arm.mode == "host") continue;
        const std::string& hash = r.report.stream.hash;
        if (first.emplace(*arm.scope, hash).first->second != hash)
            c.summaries[r.arm].equal = c.outputs_equal = false;
    }
}

std::size_t baseline_of(const Comparison& c, std::optional<Scope> scope) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < c.arms.size(); ++i) {
        const Arm& arm = c.arms[i];
        if (arm.scope != scope || !arm.reason.empty()) continue;
        if (!found || (arm.mode == "pinned" && c.arms[*found].mode != "pinned")) found = i;
    }
    return found.value_or(0);
}

std::string verdict(const Comparison& c, std::size_t arm) {
    const ArmSummary &s = c.summaries[arm], &to = c.summaries[s.baseline];
    if (arm == s.baseline || c.arms[arm].mode == "host" || c.arms[s.baseline].mode == "host") return "";
    if (!s.limit.of_the_mode && !to.limit.of_the_mode) return "not decided by the mode";
    return s.ratio_low > 1 ? "slower" : s.ratio_high < 1 ? "faster" : "equal";
}

// Of several chunk sizes, the one that each mode does best with.
void mark_fastest(Comparison& c) {
    std::map<std::pair<std::optional<Scope>, std::string>, std::vector<std::size_t>> tried;
    for (std::size_t i = 0; i < c.arms.size(); ++i)
        if (c.arms[i].reason.empty()) tried[{c.arms[i].scope, c.arms[i].mode}].push_back(i);
    for (const auto& [way, arms] : tried)
        if (arms.size() > 1)
            c.summaries[*std::min_element(arms.begin(), arms.end(), [&](std::size_t a, std::size_t b) {
                 return c.summaries[a].e2e.median < c.summaries[b].e2e.median;
             })].fastest_chunk = true;
}

void summarize(Comparison& c) {
    c.summaries.resize(c.arms.size());
    check_equal(c);
    for (std::size_t i = 0; i < c.arms.size(); ++i) {
        ArmSummary& s = c.summaries[i];
        s.baseline = baseline_of(c, c.arms[i].scope);
        s.e2e = bench::spread_of(counted(c, i, &Repetition::e2e_s));
        s.setup = bench::spread_of(counted(c, i, &Repetition::setup_s));
        add_ratio(s, counted(c, i, &Repetition::e2e_s), counted(c, s.baseline, &Repetition::e2e_s));
        for (const Repetition& r : c.repetitions)
            if (r.arm == i && !r.pages) s.limit = r.limit;
    }
    for (std::size_t i = 0; i < c.arms.size(); ++i)
        c.summaries[i].verdict = verdict(c, i);
    mark_fastest(c);
}

// What the machine can do at best; files are tried where the output would be.
bench::Figures ceilings_for(const CompareOptions& o, const device::Device& device) {
    bench::CeilingOptions c;
    c.device = device;
    c.bytes = std::size_t{64} << 20;
    c.repeat = 3;
    const bool files = std::find(o.scopes.begin(), o.scopes.end(), Scope::file) != o.scopes.end();
    if (files && o.job.output != "null") c.folder = io::writable_folder_of(o.job.output);
    return bench::measure_ceilings(c);
}

// One more run of every GPU mode, in which the driver tells what the pages of managed memory do. Where it
// does not let us ask, the times that were taken stay good.
void profile(Comparison& c, const CompareOptions& o, const std::shared_ptr<RamFiles>& ram) {
    c.no_profile = memory::MigrationWatch::unavailable();
    if (!c.no_profile.empty()) return;
    for (std::size_t arm = 0; arm < c.arms.size(); ++arm) {
        if (!c.arms[arm].reason.empty() || c.arms[arm].mode == "host") continue;
        check_cancelled();
        std::optional<memory::MigrationWatch> watch;
        try {
            watch.emplace();
        } catch (const Error& refused) {
            c.no_profile = refused.what();
            return;
        }
        Repetition r = run_once(c.arms[arm], o, ram, c.ceilings);
        r.pages = watch->finish();
        r.arm = arm;
        r.order = static_cast<int>(c.repetitions.size());
        c.repetitions.push_back(std::move(r));
    }
}

}  // namespace

Comparison compare(const CompareOptions& o) {
    Comparison c;
    c.arms = arms_of(o);
    for (const Arm& arm : c.arms)
        if (arm.reason.empty() && arm.mode != "host") c.device = device::select(arm.device);
    c.ceilings = ceilings_for(o, c.device);
    const auto ram = std::make_shared<RamFiles>();
    std::minstd_rand random(20);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < c.arms.size(); ++i)
        if (c.arms[i].reason.empty()) order.push_back(i);
    for (int rep = -o.warmup; rep < o.repeat; ++rep) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t arm : order) {
            check_cancelled();
            Repetition r = run_once(c.arms[arm], o, ram, c.ceilings);
            r.arm = arm;
            r.steady = rep >= 0;
            r.rep = rep >= 0 ? rep : rep + o.warmup;
            r.order = static_cast<int>(c.repetitions.size());
            c.repetitions.push_back(std::move(r));
        }
    }
    if (o.profile) profile(c, o, ram);
    summarize(c);
    return c;
}

}  // namespace convoy::pipelines
