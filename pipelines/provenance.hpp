// What made a result: told to people in /convoy, and compared by later runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipelines/identity.hpp"
#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// Names and values for /convoy, enough to repeat the run.
std::vector<std::pair<std::string, std::string>> provenance(const JobReport& report,
                                                            const JobRequest& request);

/// What makes the bits of a planned result, beside the input's samples; `taps`: of its filter.
JobTexts job_texts(const JobReport& report, const JobRequest& request, const std::vector<double>& taps);

}  // namespace convoy::pipelines
