// Commands that run one step on inputs: filter, spectrogram, conv2d.
#pragma once

#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "pipelines/job.hpp"

namespace convoy::app {

/// The values that were given of some declarations, as parameters of their own.
Params values_of(const Params& all, std::vector<Param> declared);

/// The step's own parameters under `title`, and those of inputs, outputs and execution.
std::vector<command::Group> step_groups(std::string_view step, std::string_view title);

/// The job that a call describes: the step on the call's input.
pipelines::JobRequest job_request(std::string_view step, const command::Call& call);

/// Runs one job, or a batch as --jobs, --fail-fast, --failed-to and --report say: then one line for each
/// failure, and a list of them at the end. Returns the exit status.
int run_requests(std::vector<pipelines::JobRequest> requests, const Params& params, bool batch);

/// Runs the step on the call's input; returns the exit status.
int run_step(std::string_view step, const command::Call& call);

}  // namespace convoy::app
