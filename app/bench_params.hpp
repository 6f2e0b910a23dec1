// What convoy bench can be told: each benchmark takes some of it.
#pragma once

#include <string_view>
#include <vector>

#include "app/command.hpp"

namespace convoy::app {

/// The options of all benchmarks, by heading.
std::vector<command::Group> bench_groups();

/// Throws Error (a wrong request) where an option is given that the benchmark makes no use of.
void check_bench_params(const Params& params, std::string_view bench);

}  // namespace convoy::app
