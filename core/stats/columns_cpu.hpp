// Levels of series that lie side by side, in vectors; chosen for the processor by Highway.
#pragma once

#include "core/base/signal.hpp"

namespace convoy::stats {

/// Of one series: its largest magnitude, the sum of its squares, and how many samples are above 1 in
/// magnitude. What a NaN or Inf leaves is not to be used: its sum of squares is not finite.
struct Column {
    double peak = 0;
    double squares = 0;
    Index over = 0;
};

/// The sums of `width` series of `count` samples each: sample n of series j is x[n * step + j]. Each series
/// is summed one by one, so that the bits are those of any vector width.
void column_sums(const float* x, Index count, Index step, Index width, Column* out);
void column_sums(const double* x, Index count, Index step, Index width, Column* out);

}  // namespace convoy::stats
