// The padding of 1-D filters is that of all stages.
#pragma once

#include "core/base/padding.hpp"

namespace convoy::conv1d {
using convoy::Padding;
using convoy::Source;
using convoy::source_of;
}  // namespace convoy::conv1d
