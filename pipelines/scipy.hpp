// A pipeline as a Python script with NumPy and SciPy, for those who want to see the same in a second
// language, and the two compared.
#pragma once

#include <string>
#include <vector>

#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// A script that does what the requests do. Its axes, channels and rates are those of the first input.
struct SciPyScript {
    std::string text;
    std::size_t steps = 0;  // of the pipeline, from the first one on, that are in it
    std::string missing;    // which step is not, and why: the script ends before it
};

/// The script for requests with the same steps. `name` is what they come from, for its heading. Opens the
/// first input; Error where that or a step cannot be.
SciPyScript scipy_script(const std::vector<JobRequest>& requests, const std::string& name);

/// How far a script's result lies from ours, on the first samples of the first input.
struct SciPyCheck {
    std::string python;        // what ran it
    Index frames = 0;          // of the input
    std::vector<Index> shape;  // of the result
    double largest = 0;        // difference
    double peak = 0;           // the largest value of the script's result
    double relative = 0;  // largest difference over the largest value; of decibels, of what they stand for
    /// Both are the same but for rounding.
    bool same() const { return relative <= 1e-4; }
};

/// Runs the script with the Python that is found. Error where none has NumPy and SciPy, the script fails, or
/// its result has another shape.
SciPyCheck check_scipy(const JobRequest& request, const SciPyScript& script);

}  // namespace convoy::pipelines
