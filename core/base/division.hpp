// Division of whole numbers that does not round to zero.
#pragma once

#include "core/base/signal.hpp"

namespace convoy {

/// a / b towards +infinity, b > 0.
constexpr Index ceil_div(Index a, Index b) {
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/// The least multiple of `step` that is no less than n, step > 0.
constexpr Index round_up(Index n, Index step) {
    return ceil_div(n, step) * step;
}

}  // namespace convoy
