// Results of so many filters that their rows should not be in memory at once.
#pragma once

#include <memory>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d {

/// The problem as blocks of its filters, each planned with the strategy and a piece of the result on its own:
/// every block then reads the input anew. Which filters are a block depends on the problem only. nullptr
/// where the rows of an image's result are few enough, channels come last, or the strategy cannot do a block.
std::unique_ptr<Stage> plan_filter_blocks(const Problem&, const Strategy&, const device::Device&);

}  // namespace convoy::conv2d
