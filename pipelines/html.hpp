// A run as one self-contained HTML page: nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "pipelines/batch.hpp"

namespace convoy::pipelines {

/// What ran, on what, how fast, and what came out. Files that failed come first; the first 24 done are told
/// in full, with levels by channel, responses of their filters and small spectrograms before and after.
std::string html_report(const std::vector<Outcome>& outcomes, const std::string& command);

}  // namespace convoy::pipelines
