// Commands that take a pipeline file: run, compare.
#pragma once

#include <vector>

#include "app/command.hpp"
#include "pipelines/script.hpp"

namespace convoy::app {

/// The pipeline file that the call names first, with what its other words and options change. Error (a wrong
/// request) where it is wrong, or neither it nor the call names inputs and an output.
pipelines::Script script_of(const command::Call& call);

/// One request for each of its inputs; with `hash`, results are hashed.
std::vector<pipelines::JobRequest> requests_of(const pipelines::Script& script, const command::Call& call,
                                               bool hash);

}  // namespace convoy::app
