// What convoy compare prints.
#pragma once

#include <string>

#include "app/output.hpp"
#include "pipelines/compare.hpp"

namespace convoy::app {

/// One row a repetition, with the columns that scripts rely on; in JSON, machine and command beside them.
Table repetitions_table(const pipelines::Comparison& comparison, const std::string& command);

/// One row a way of doing the job, for people.
Table summary_table(const pipelines::Comparison& comparison);

}  // namespace convoy::app
