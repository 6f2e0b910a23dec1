// Pipeline files: YAML to a checked list of steps. Nothing is opened but the file itself.
#pragma once

#include <string>
#include <vector>

#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// A pipeline file, checked. Values keep the place where they were written, for messages.
struct Script {
    std::string path;
    std::vector<std::string> inputs;  // words: names and globs, looked for next to the file first
    std::string inputs_place;
    std::string output;  // a name, a folder or a template, from the current folder
    std::string output_place;
    std::vector<StepCall> steps;
    Params options;  // of input_params, output_params, execution_params and batch_params
};

/// Reads a pipeline file. `settings` are lines KEY=VALUE that change it first: `execution.device=cpu`,
/// `steps.2.decimate=8`, `steps.filter.bandpass=[300, 3000]`. Error (a wrong request, with file and line) for
/// unknown keys (naming the nearest known one), values of another type, steps that there are not, filters
/// that are not defined.
Script read_script(const std::string& path, const std::vector<std::string>& settings);

/// A JSON schema of pipeline files, from the same declarations as the help.
Json script_schema();

}  // namespace convoy::pipelines
