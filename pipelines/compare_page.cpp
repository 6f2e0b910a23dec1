#include "pipelines/compare_page.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/quantity.hpp"
#include "core/base/version.hpp"
#include "pipelines/page.hpp"

namespace convoy::pipelines {

namespace {

using page::escaped;
using page::extents;
using page::figures;
using page::row;

std::string heading(Scope scope) {
    switch (scope) {
        case Scope::link:
            return "Link: chunks in the slots already";
        case Scope::memory:
            return "Memory: filled from and drained to RAM by the CPU";
        default:
            return "File: from file to file";
    }
}

std::string name_of_arm(const Arm& arm) {
    return arm.mode + (arm.chunk.empty() ? "" : ", " + arm.chunk);
}

// The arms of a scope that ran.
std::vector<std::size_t> arms_in(const Comparison& c, Scope scope) {
    std::vector<std::size_t> arms;
    for (std::size_t i = 0; i < c.arms.size(); ++i)
        if (c.arms[i].scope == scope && c.arms[i].reason.empty()) arms.push_back(i);
    return arms;
}

std::string text_at(double x, double y, const std::string& text, const char* more = "") {
    return "<text x=\"" + figures(x) + "\" y=\"" + figures(y) + "\" font-size=\"12\"" + more + ">" +
           escaped(text) + "</text>";
}

// A line an arm: the median, and a bar from the tenth to the ninetieth percentile; seconds from 0.
std::string plot(const Comparison& c, const std::vector<std::size_t>& arms) {
    constexpr double left = 190, width = 560, line = 24;
    double longest = 0;
    for (const std::size_t i : arms)
        longest = std::max(longest, c.summaries[i].e2e.p90);
    if (!(longest > 0)) return {};
    const auto x = [&](double seconds) { return left + seconds / longest * width; };
    std::string marks;
    double y = line;
    for (const std::size_t i : arms) {
        const bench::Spread& s = c.summaries[i].e2e;
        marks += text_at(8, y + 4, name_of_arm(c.arms[i])) + "<rect x=\"" + figures(x(s.p10)) + "\" y=\"" +
                 figures(y - 6) + "\" width=\"" + figures(std::max(1.0, x(s.p90) - x(s.p10))) +
                 "\" height=\"12\" fill=\"#9bc\"/><circle cx=\"" + figures(x(s.median)) + "\" cy=\"" +
                 figures(y) + "\" r=\"4\" fill=\"#135\"/>";
        y += line;
    }
    marks += text_at(left, y + 4, "0 s") +
             text_at(left + width, y + 4, figures(longest) + " s", " text-anchor=\"end\"");
    return "<svg viewBox=\"0 0 770 " + figures(y + line / 2) +
           "\" width=\"100%\" style=\"max-width:770px\" role=\"img\" aria-label=\"seconds by memory mode\">" +
           marks + "</svg>\n";
}

std::string percent(double share) {
    return std::isnan(share) ? "" : figures(std::round(share * 100)) + " %";
}

std::string ratio(const ArmSummary& s) {
    return figures(s.ratio) + " (" + figures(s.ratio_low) + " to " + figures(s.ratio_high) + ")";
}

std::string table(const Comparison& c, const std::vector<std::size_t>& arms) {
    std::string text = "<table>" + row({"mode", "mechanism", "median s", "p10 to p90", "set-up s",
                                        "ratio (95 %)", "", "what decides", "busy", "of its ceiling"},
                                       "th");
    for (const std::size_t i : arms) {
        const ArmSummary& s = c.summaries[i];
        text += row({escaped(name_of_arm(c.arms[i])), escaped(c.arms[i].mechanism), figures(s.e2e.median),
                     figures(s.e2e.p10) + " to " + figures(s.e2e.p90), figures(s.setup.median),
                     i == s.baseline ? "1, all ratios are to this" : ratio(s), escaped(s.verdict),
                     escaped(s.limit.resource), percent(s.limit.busy), percent(s.limit.of_ceiling)});
    }
    return text + "</table>\n";
}

// The machine, the job and the figures of the scope that is nearest to what a user sees, in sentences.
std::string quotation(const Comparison& c, const CompareOptions& o) {
    if (c.repetitions.empty()) return "Nothing could be run.";
    const JobReport& job = c.repetitions.front().report;
    std::string steps;
    for (const StepReport& step : job.steps)
        steps += (steps.empty() ? "" : ", ") + step.name +
                 (step.taps.empty() ? "" : " (" + to_text(static_cast<Index>(step.taps.size())) + " taps)");
    std::string text =
        (c.device.backend == device::Backend::cuda ? "On " + c.device.attributes.name : "On the CPU") + ", " +
        steps + " of " + extents(job.input.dims) + " samples (" + job.input.stored_type + ") by convoy " +
        std::string(version) + " took";
    const Scope scope = o.scopes.back();
    std::string figures_of_modes;
    for (const std::size_t i : arms_in(c, scope)) {
        const ArmSummary& s = c.summaries[i];
        figures_of_modes += (figures_of_modes.empty() ? " " : "; ") + figures(s.e2e.median) + " s with " +
                            name_of_arm(c.arms[i]) +
                            (i == s.baseline ? "" : ", " + ratio(s) + " times " + c.arms[s.baseline].mode);
    }
    return text + figures_of_modes + " (scope " + std::string(name_of(scope)) + ", medians of " +
           std::to_string(o.repeat) +
           " interleaved runs, paired ratios with 95 % bootstrap intervals, set-up apart).";
}

std::string limits(const CompareOptions& o) {
    std::string text =
        "<ul><li>One machine, one run of the program, one job: other jobs weigh reading, computing and "
        "writing differently.</li>"
        "<li>Files were read from the page cache where they fit, and written to it: disks may be slower.</li>"
        "<li>Set-up (opening, planning, allocating, the CUDA context in the first run) is apart.</li>"
        "<li>Ceilings were measured once, before the runs, on 64 MiB.</li>";
    if (o.job.output == "null") text += "<li>No result was written.</li>";
    if (std::find(o.scopes.begin(), o.scopes.end(), Scope::file) == o.scopes.end())
        text += "<li>No run went from file to file.</li>";
    return text + "</ul>\n";
}

// What the pages of managed memory did in the profiled runs; empty where there was none.
std::string pages(const Comparison& c) {
    std::string rows;
    for (const Repetition& r : c.repetitions) {
        if (!r.pages) continue;
        const memory::Moved &in = r.pages->to_device, &out = r.pages->to_host;
        std::vector<std::string> cells{escaped(name_of_arm(c.arms[r.arm])),
                                       std::string(name_of(*c.arms[r.arm].scope))};
        for (const Index count : {r.pages->cpu_faults, r.pages->gpu_faults, in.asked, in.faulted, in.ahead,
                                  out.asked, out.faulted, out.ahead, out.evicted})
            cells.push_back(to_text(count));
        rows += row(cells);
    }
    if (rows.empty())
        return c.no_profile.empty() ? "" : "<p>No profile was taken: " + escaped(c.no_profile) + ".</p>\n";
    return "<h2>Pages of managed memory</h2>\n<p>Faults, and bytes moved to the GPU and back, in one more "
           "run of each GPU mode, which the counting slows.</p>\n<table>" +
           row({"mode", "scope", "CPU faults", "GPU faults", "to GPU: prefetched", "faulted", "ahead",
                "to host: prefetched", "faulted", "ahead", "evicted"},
               "th") +
           rows + "</table>\n";
}

std::string machine(const Comparison& c) {
    std::string text = "<table>";
    for (const bench::Figure& f : c.ceilings)
        text += row({"<code>" + f.name + "</code>",
                     std::isnan(f.value) ? "not measured" : figures(f.value) + " " + escaped(f.unit),
                     escaped(f.note)});
    return text + "</table>\n";
}

}  // namespace

std::string compare_page(const Comparison& c, const CompareOptions& o) {
    std::string text = page::head("convoy compare") + "<h1>Memory modes compared</h1>\n<p><code>" +
                       escaped(o.job.command) + "</code></p>\n<blockquote>" + escaped(quotation(c, o)) +
                       "</blockquote>\n";
    if (!c.outputs_equal) text += "<p class=\"bad\">The outputs of the GPU's memory modes differ.</p>\n";
    for (const Scope scope : o.scopes) {
        const auto arms = arms_in(c, scope);
        if (!arms.empty()) text += "<h2>" + heading(scope) + "</h2>\n" + plot(c, arms) + table(c, arms);
    }
    std::string lacking;
    for (const Arm& arm : c.arms)
        if (!arm.reason.empty())
            lacking += row({escaped(arm.mode), arm.scope ? std::string(name_of(*arm.scope)) : "all scopes",
                            escaped(arm.reason)});
    if (!lacking.empty()) text += "<h2>Not run</h2>\n<table>" + lacking + "</table>\n";
    text += pages(c);
    return text + "<h2>Ceilings of the machine, in the same run</h2>\n" + machine(c) + "<h2>Limits</h2>\n" +
           limits(o) + page::foot;
}

}  // namespace convoy::pipelines
