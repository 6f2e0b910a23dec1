// Looks at the magnitudes of a row of samples, in vectors. A NaN is passed over.
#pragma once

#include <limits>

#include "core/base/signal.hpp"

namespace convoy::conv1d {

/// The largest magnitude, and the least that is not 0 (infinity where all are).
struct Extremes {
    float most = 0, least = std::numeric_limits<float>::infinity();
};
Extremes extremes(const float* x, Index n);

/// The least peak of 4 samples in a row (infinity where n < 4): 0 in silence.
float lowest_peak_of_four(const float* x, Index n);

}  // namespace convoy::conv1d
