// What decides how long a job takes: the resource that is at work longest, beside what it can do at best.
#pragma once

#include <string>

#include "pipelines/bench/figures.hpp"
#include "pipelines/job.hpp"

namespace convoy::pipelines {

struct Limit {
    std::string resource;                     // "reading", "kernels", ...; empty where nothing was timed
    double busy = bench::not_measured;        // share of the job's time that it was at work
    double of_ceiling = bench::not_measured;  // the job's rate through it, of its ceiling; NaN where unknown
    bool of_the_mode = false;                 // moving samples as the memory mode does is what takes longest
};

/// The limit of a job that took `seconds` without set-up. `ceilings`: of bench::measure_ceilings() on the
/// same machine; what is missing in it is not known here either.
Limit limit_of(const JobReport& report, Scope scope, double seconds, const bench::Figures& ceilings);

}  // namespace convoy::pipelines
