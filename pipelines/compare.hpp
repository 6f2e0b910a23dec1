// The user's own job under every memory mode, side by side in one run: interleaved, shuffled, outputs hashed.
#pragma once

#include <string>
#include <vector>

#include "pipelines/bench/figures.hpp"
#include "pipelines/job.hpp"

namespace convoy::pipelines {

struct CompareOptions {
    JobRequest job;  // input, steps, options; its memory and chunk are replaced, and its device for the CPU
    std::vector<std::string> modes = {};   // empty: every one
    std::vector<std::string> chunks = {};  // as --chunk takes them; empty: the default
    int repeat = 20, warmup = 3;
};

/// One way of doing the job.
struct Arm {
    std::string mode, mechanism, device, chunk;
    std::string reason;  // why the machine lacks it; empty where it ran
};

/// One counted (or warming) repetition of an arm.
struct Repetition {
    std::size_t arm = 0;
    bool warm = false;       // not a warm-up
    int rep = 0, order = 0;  // repetition of the arm; place among all runs
    double e2e_s = 0;        // from the first read to the closed output, set-up apart
    double setup_s = 0, host_cpu_s = 0;
    Index chunk_bytes = 0;  // of input
    JobReport report;
};

struct ArmSummary {
    bench::Spread e2e, setup;
    double ratio = bench::not_measured;  // of e2e to the baseline's, paired, median
    double ratio_low = bench::not_measured, ratio_high = bench::not_measured;  // 95 % bootstrap interval
    bool equal = true;  // its output is that of the first GPU mode (of the CPU, where there is none)
};

struct Comparison {
    std::vector<Arm> arms;
    std::vector<Repetition> repetitions;
    std::vector<ArmSummary> summaries;  // one an arm
    std::size_t baseline = 0;   // the arm that ratios refer to: pinned where it ran, else the first that did
    bool outputs_equal = true;  // of the GPU modes
};

/// Runs the comparison. The output is written beside the job's output under a name of its own and removed, or
/// thrown away for "null".
Comparison compare(const CompareOptions& options);

}  // namespace convoy::pipelines
