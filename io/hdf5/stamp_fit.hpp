// The line through time stamps: its slope, and where they leave it for good.
#pragma once

#include <optional>
#include <vector>

#include "io/format.hpp"

namespace convoy::io::h5 {

constexpr Index block_frames = 1 << 18;  // stamps that are read at a time

/// Stamps as they are read, in blocks.
class StampSeries {
  public:
    virtual ~StampSeries() = default;
    /// Seconds after the first stamp of frames [from, from + count).
    virtual void read(Index from, Index count, std::vector<double>& out) = 0;
    /// By how much their type rounds them, in seconds.
    virtual double resolution() const = 0;
};

struct StampFit {
    double rate = 0;  // Hz
    std::vector<Gap> gaps;
};
/// The least-squares line through all stamps between gaps, with one slope; a gap is a lasting step of more
/// than `tolerance` frames. nullopt where they stand still, fall or are not finite.
std::optional<StampFit> fit_stamps(StampSeries& stamps, Index frames, double tolerance);

/// The simplest decimal number within `tolerance` (relative) of x: 500 for 500.0000003.
double simplest(double x, double tolerance);

}  // namespace convoy::io::h5
