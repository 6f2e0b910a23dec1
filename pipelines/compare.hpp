// The user's own job under every memory mode, side by side in one run: interleaved, shuffled, outputs hashed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/memory/migrations.hpp"
#include "pipelines/bench/figures.hpp"
#include "pipelines/job.hpp"
#include "pipelines/limit.hpp"

namespace convoy::pipelines {

struct CompareOptions {
    JobRequest job;  // input, steps, options; its memory and chunk are replaced, and its device for the CPU
    std::vector<std::string> modes = {};   // empty: every one
    std::vector<std::string> chunks = {};  // as --chunk takes them; empty: the default
    std::vector<Scope> scopes = {std::begin(all_scopes), std::end(all_scopes)};
    int repeat = 20, warmup = 3;
    bool profile = false;  // count page faults and migrations, in a pass after the timed ones
};

/// One way of doing the job.
struct Arm {
    std::optional<Scope> scope;  // none where the machine lacks the mode in every scope
    std::string mode, mechanism, device, chunk;
    std::string reason;  // why it could not run; empty where it did
};

/// One run of an arm.
struct Repetition {
    std::size_t arm = 0;
    bool steady = false;     // counted; else a warm-up
    int rep = 0, order = 0;  // repetition of the arm; place among all runs
    double e2e_s = 0;        // from the first read to the closed output, set-up apart
    Limit limit;
    double setup_s = 0, host_cpu_s = 0;
    Index chunk_bytes = 0;                    // of input
    std::optional<memory::Migrations> pages;  // of a profiled run, which is slower and not counted
    JobReport report;
};

struct ArmSummary {
    bench::Spread e2e, setup;
    double ratio = bench::not_measured;  // of e2e to the baseline's, paired, median
    double ratio_low = bench::not_measured, ratio_high = bench::not_measured;  // 95 % bootstrap interval
    std::size_t baseline = 0;    // the arm that it is the ratio to: of its scope, pinned where that ran, else
                                 // the first that did
    Limit limit;                 // of the last repetition
    bool equal = true;           // its output is that of the first GPU mode in its scope
    bool fastest_chunk = false;  // of several, for its mode and scope
    /// What may be said of the ratio: "equal", "faster", "slower" where both are limited by their memory
    /// modes, else "not decided by the mode"; empty for the baseline and the CPU.
    std::string verdict;
};

struct Comparison {
    std::vector<Arm> arms;
    std::vector<Repetition> repetitions;
    std::vector<ArmSummary> summaries;  // one an arm
    device::Device device;              // that the GPU modes ran on
    bench::Figures ceilings;            // of the machine, measured in the same run
    std::string no_profile;             // why a profile that was asked for could not be taken
    bool outputs_equal = true;          // of the GPU modes
};

/// Runs the comparison. In Scope::file, the output is written beside the job's output under a name of its own
/// and removed, or thrown away for "null".
Comparison compare(const CompareOptions& options);

}  // namespace convoy::pipelines
