// Averages of spectra over time, frame after frame in the order of time: the same bits however the frames
// come in.
#pragma once

#include <vector>

#include "core/spectrum/spectrum.hpp"

namespace convoy::spectrum {

/// One channel's columns on their way to a single one. All memory is taken when it is made: two numbers a
/// bin, or for percentiles every value.
template <class T>
class Averager {
  public:
    Averager(const Average& average, Index bins, Index lanes);

    void start();
    /// Takes `count` frames, values[bin * lanes + i] being those of frame i.
    void add(const T* values, Index count);
    /// Writes the column to lane 0 of values[bin * lanes + lane], and 1 to the other lanes. NaN where a frame
    /// was NaN.
    void finish(T* values);

  private:
    T percentile(T* first);

    Average average_;
    Index bins_, lanes_, frames_ = 0;
    std::vector<double> sums_;  // mean and max, by bin
    std::vector<T> all_;        // percentile: [bins][average.frames]
};

}  // namespace convoy::spectrum
