// Averages over so long a time that their samples should not be in memory at once.
#pragma once

#include <memory>

#include "core/spectrum/spectrum.hpp"

namespace convoy::spectrum {

/// Whether the samples of one column are more than a window should hold, and its average needs no more of
/// them than running sums: a mean or a largest value.
bool is_long_average(const Problem& problem);

/// Learns all averages in one pass over the input (Stage::learn), on the CPU, and then only writes them.
/// Holds a running value for each bin of each column: 8 bytes x channels x bins x columns.
std::unique_ptr<Stage> plan_long_average(const Problem& problem, const device::Device& device);

}  // namespace convoy::spectrum
