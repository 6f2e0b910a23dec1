// What a batch would do, told without touching anything: files, shapes, bytes, memory, strategies, time.
#pragma once

#include <string>
#include <vector>

#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// What is known of one job before it is run.
struct FilePlan {
    std::string input, output;
    std::string error;  // why it could not be planned; the rest is empty then
    Fault fault = Fault::failed;
    JobReport job;
    Ending ending = Ending::done;
    Cuts cuts;
    double read_bytes = 0, write_bytes = 0;
    double memory_bytes = 0;  // rings and windows
    double seconds = 0;       // estimated
};

struct BatchPlan {
    std::vector<FilePlan> files;  // in the order of the requests
    double seconds = 0;           // of the run, files at work at once as it would have them
    /// The exit status that the run would have, as far as can be told.
    int status() const;
};

/// Plans every request, several at a time. Opens the inputs and writes nothing. Time comes from a trial on a
/// part of the first file of each kind, and scales with the samples of the others.
BatchPlan plan_batch(const std::vector<JobRequest>& requests);

/// The plan for people: every step of the first file, one line for each of the others.
std::string described(const BatchPlan& plan);

/// The same as JSON, schema convoy.plan/1.
Json to_json(const BatchPlan& plan);

}  // namespace convoy::pipelines
