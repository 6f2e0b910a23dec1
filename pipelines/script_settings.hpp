// Changes to a pipeline file for one run: --set KEY=VALUE.
#pragma once

#include <string>

#include "pipelines/yaml.hpp"

namespace convoy::pipelines {

/// Puts a line `execution.device=cpu`, `steps.2.decimate=8` or `steps.filter.bandpass=[300, 3000]` into the
/// tree of a pipeline file. Error (a wrong request) where it names a step that there is not.
void apply_setting(Yaml& root, const std::string& setting);

}  // namespace convoy::pipelines
