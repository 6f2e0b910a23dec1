#include "app/compare_tables.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/base/text.hpp"

namespace convoy::app {

namespace {

// What the steps of a job took, those that had a choice.
std::string strategies(const pipelines::JobReport& report) {
    std::string all;
    for (const pipelines::StepReport& step : report.steps)
        if (!step.strategy.empty()) all += (all.empty() ? "" : "+") + step.strategy;
    return all;
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json scope_text(const pipelines::Arm& arm) {
    return arm.scope ? Json(std::string(name_of(*arm.scope))) : Json();
}

Json measured(double value, bool there) {
    return there ? Json(value) : Json();
}
Json measured(double value) {
    return measured(value, !std::isnan(value));
}

// A name for rows that belong together: of the result, which is the same in each.
std::string run_id_of(const pipelines::Comparison& c) {
    for (const pipelines::Repetition& r : c.repetitions)
        if (!r.report.stream.hash.empty()) return r.report.stream.hash.substr(0, 8);
    return "";
}

// First line of one of the system's small files; null where it is not there.
Json line_of(const char* path) {
    std::ifstream file(path);
    std::string line;
    return std::getline(file, line) ? Json(line) : Json();
}

// What figures depend on: kernel, GPU and its link, huge pages, and the ceilings of this run.
Json machine(const pipelines::Comparison& c) {
    utsname host{};
    uname(&host);
    Json m;
    m["kernel"] = std::string(host.sysname) + " " + host.release;
    m["huge_pages"] = line_of("/sys/kernel/mm/transparent_hugepage/enabled");
    if (c.device.backend == device::Backend::cuda) {
        const device::Attributes& a = c.device.attributes;
        m["gpu"] = a.name;
        m["driver"] = a.driver_version;
        m["ecc"] = a.ecc;
        m["pcie_generation"] = a.pcie_generation;
        m["pcie_width"] = a.pcie_width;
    }
    for (const pipelines::bench::Figure& f : c.ceilings)
        m["ceilings"][f.name] = measured(f.value);
    return m;
}

const std::vector<std::string> repetition_columns = split(
    "run_id,host,gpu,driver,mode,mechanism,scope,phase,rep,order,chunk_bytes,slots,taps,strategy,e2e_s,"
    "setup_s,read_s,h2d_s,kernel_s,d2h_s,write_s,stall_s,host_cpu_s,bytes_h2d,bytes_d2h,"
    "peak_pinned_bytes,peak_managed_bytes,peak_device_bytes,output_sha256,output_hash,limit,"
    "limit_busy,limit_of_ceiling,cpu_page_faults,gpu_page_faults,migrated_h2d_prefetched,"
    "migrated_h2d_faulted,migrated_h2d_ahead,migrated_h2d_other,migrated_d2h_prefetched,"
    "migrated_d2h_faulted,migrated_d2h_ahead,migrated_d2h_evicted,migrated_d2h_other,records_lost,note",
    ',');

// Taps of the first filter; null where there is none.
Json taps_of(const pipelines::JobReport& report) {
    for (const pipelines::StepReport& step : report.steps)
        for (const auto& [key, value] : step.notes)
            if (key == "numtaps") return *parse_integer(value);
    return {};
}

// What the pages did in a profiled repetition, by repetition_columns; nulls in any other.
std::vector<Json> page_cells(const std::optional<memory::Migrations>& pages) {
    if (!pages) return std::vector<Json>(12);
    const memory::Moved &in = pages->to_device, &out = pages->to_host;
    return {pages->cpu_faults, pages->gpu_faults, in.asked,  in.faulted,  in.ahead,  in.evicted + in.other,
            out.asked,         out.faulted,       out.ahead, out.evicted, out.other, pages->lost};
}

std::string phase_of(const pipelines::Repetition& r) {
    if (r.pages) return "profile";
    return r.steady ? "steady" : "warm-up";
}

// The cells of a repetition, by repetition_columns; times that were not taken are null.
std::vector<Json> cells_of(const pipelines::Comparison& c, const pipelines::Repetition& r,
                           const std::string& run_id, const std::string& host) {
    const pipelines::Arm& arm = c.arms[r.arm];
    const pipelines::StreamReport& s = r.report.stream;
    const bool gpu = arm.mode != "host";
    std::vector<Json> cells{run_id,
                            host,
                            gpu ? Json(r.report.device_name) : Json(),
                            gpu ? Json(c.device.attributes.driver_version) : Json(),
                            arm.mode,
                            arm.mechanism,
                            scope_text(arm),
                            phase_of(r),
                            r.rep,
                            r.order,
                            r.chunk_bytes,
                            s.slots,
                            taps_of(r.report),
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
                            text_or_null(s.hash),
                            text_or_null(r.limit.resource),
                            measured(r.limit.busy),
                            measured(r.limit.of_ceiling)};
    for (Json& cell : page_cells(r.pages))
        cells.push_back(std::move(cell));
    cells.emplace_back();  // no note
    return cells;
}

// The profiled run of an arm; null where there was none.
const pipelines::Repetition* profiled(const pipelines::Comparison& c, std::size_t arm) {
    for (const pipelines::Repetition& r : c.repetitions)
        if (r.arm == arm && r.pages) return &r;
    return nullptr;
}

// To every row of the summary, what the pages did.
void add_pages(Table& t, const pipelines::Comparison& c) {
    for (const char* name : {"page_faults", "migrated_h2d", "migrated_d2h"})
        t.columns.insert(t.columns.end() - 1, name);
    for (std::size_t i = 0; i < t.rows.size(); ++i) {
        std::vector<Json> cells(3);
        if (const pipelines::Repetition* r = profiled(c, i))
            cells = {r->pages->cpu_faults + r->pages->gpu_faults, r->pages->to_device.sum(),
                     r->pages->to_host.sum()};
        t.rows[i].insert(t.rows[i].end() - 1, cells.begin(), cells.end());
    }
}

}  // namespace

Table repetitions_table(const pipelines::Comparison& c, const std::string& command) {
    const std::string run_id = run_id_of(c);
    utsname host{};
    uname(&host);
    Table t{"convoy.compare/1", repetition_columns, {}, {{"machine", machine(c)}, {"command", command}}};
    if (!c.no_profile.empty()) t.about.emplace_back("no_profile", c.no_profile);
    for (const pipelines::Repetition& r : c.repetitions)
        t.rows.push_back(cells_of(c, r, run_id, host.nodename));
    for (const pipelines::Arm& arm : c.arms)
        if (!arm.reason.empty()) {
            auto& row = t.rows.emplace_back(t.columns.size());
            row[0] = run_id, row[1] = host.nodename, row[4] = arm.mode, row[5] = arm.mechanism,
            row[6] = scope_text(arm);
            row.back() = arm.reason;
        }
    return t;
}

Table summary_table(const pipelines::Comparison& c) {
    Table t{"convoy.compare/1",
            {"scope",      "mode",      "mechanism", "device",   "chunk",   "median_s", "p10_s",
             "p90_s",      "setup_s",   "ratio",     "ratio_95", "verdict", "limit",    "busy",
             "of_ceiling", "bytes_h2d", "bytes_d2h", "strategy", "equal",   "note"},
            {}};
    const auto three = [](double v) { return to_text(std::round(v * 1000) / 1000); };
    for (std::size_t i = 0; i < c.arms.size(); ++i) {
        const pipelines::Arm& arm = c.arms[i];
        const pipelines::ArmSummary& s = c.summaries[i];
        const auto last = std::find_if(c.repetitions.rbegin(), c.repetitions.rend(),
                                       [&](const pipelines::Repetition& r) { return r.arm == i; });
        if (last == c.repetitions.rend()) {
            auto& row = t.rows.emplace_back(t.columns.size());
            row[0] = scope_text(arm), row[1] = arm.mode, row[2] = arm.mechanism, row[3] = arm.device,
            row.back() = arm.reason;
            continue;
        }
        const std::string note = i == s.baseline ? "ratios are to this" : "";
        t.rows.push_back({scope_text(arm),
                          arm.mode,
                          arm.mechanism,
                          arm.device,
                          arm.chunk.empty() ? "default" : arm.chunk,
                          s.e2e.median,
                          s.e2e.p10,
                          s.e2e.p90,
                          s.setup.median,
                          s.ratio,
                          three(s.ratio_low) + " to " + three(s.ratio_high),
                          text_or_null(s.verdict),
                          text_or_null(s.limit.resource),
                          s.limit.busy,
                          s.limit.of_ceiling,
                          last->report.stream.traffic.bytes_h2d,
                          last->report.stream.traffic.bytes_d2h,
                          strategies(last->report),
                          arm.mode == "host" || *arm.scope == pipelines::Scope::link ? Json() : Json(s.equal),
                          text_or_null(note + (s.fastest_chunk ? (note.empty() ? "" : "; ") +
                                                                     std::string("its fastest chunk")
                                                               : ""))});
    }
    const auto has_pages = [](const pipelines::Repetition& r) { return r.pages.has_value(); };
    if (std::any_of(c.repetitions.begin(), c.repetitions.end(), has_pages)) add_pages(t, c);
    return t;
}

}  // namespace convoy::app
