// Many jobs of one kind: one bad file does not stop the rest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// --files-from, --jobs, --fail-fast, ...: of every command that takes several inputs.
std::span<const Param> batch_params();

/// How one job of a batch ended.
struct Outcome {
    std::string input, output;
    std::optional<JobReport> report;  // where it was done
    std::string error;                // why not, as one line; empty where done
    Fault fault = Fault::failed;
    bool stopped = false;  // never started, since another one failed (--fail-fast), or by a signal
    bool kept = false;     // stopped midway, and what it had done is kept for --resume
};

/// How far a batch is.
struct BatchProgress {
    std::size_t done = 0, all = 0;  // files
    double part = 0;                // of the work by the inputs' bytes, files at work included, from 0 to 1
    Index samples = 0;              // of results, as far as they are written
};

struct BatchOptions {
    int jobs = 0;  // files at once, which share memory and threads; 0: files_at_once()
    bool fail_fast = false;
    std::function<void(const Outcome&)> finished;        // one call at a time
    std::function<void(const BatchProgress&)> progress;  // the same
};

/// Files to be worked on at once where nobody says how many: short ones on a CPU side by side, each by a
/// thread of its own, since opening and creating files leaves other threads idle; long ones one by one.
int files_at_once(const std::vector<JobRequest>& requests, Index threads);

/// Runs the jobs, `jobs` at a time; outcomes in the order of the requests. A signal stops the rest.
std::vector<Outcome> run_batch(std::vector<JobRequest> requests, const BatchOptions& options);
/// Throws Cancelled if a signal came while the batch ran.
void check_cancelled(const std::vector<Outcome>& outcomes);

/// The outcomes as JSON: the reports, or why there is none.
Json to_json(const std::vector<Outcome>& outcomes);
/// Files, an array, and how many of them failed: schema convoy.batch/1.
Json batch_report(Json files, Index failed);

/// Part I of N (`2/8`), or `slurm`: an array job's own part, from its variables. Error (a wrong request)
/// otherwise.
struct Shard {
    Index part = 1, of = 1;  // part counts from 1
};
Shard parse_shard(const std::string& text);

/// Inputs of one shard: the sorted list cut into runs of about equal bytes. Every input is in exactly one
/// shard.
std::vector<std::string> shard_of(std::vector<std::string> inputs, const Shard& shard);

}  // namespace convoy::pipelines
