// A comparison as one self-contained page, to be read and quoted.
#pragma once

#include <string>

#include "pipelines/compare.hpp"

namespace convoy::pipelines {

/// Plots and tables of each scope, a paragraph to quote, the machine, and what the figures do not tell.
std::string compare_page(const Comparison& comparison, const CompareOptions& options);

}  // namespace convoy::pipelines
