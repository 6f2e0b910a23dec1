// Time stamps beside the data: the rate they give, gaps, an unfinished tail.
#pragma once

#include "io/hdf5/metadata.hpp"

namespace convoy::io::h5 {

/// What a series of stamps says.
struct StampLine {
    std::string path;                // of the stamps
    Index frames = 0;                // stamped: less than there are when the last block is unfinished
    std::optional<double> rate;      // Hz; none where the unit is unknown or the stamps stand still
    std::optional<Timestamp> start;  // of the first one, where they are absolute
    std::vector<Gap> gaps;
};

/// Reads the stamps for `frames` frames at `path` in source.home, twice, in blocks. A stamp is a number of
/// seconds (or of its `units`; whole numbers since 1970 without a unit tell it by their size). The line
/// through all stamps between gaps is fitted by least squares with one slope. A gap is a lasting step of more
/// than `tolerance` frames between the stamps before and those after; a stamp that is late alone is none.
/// nullopt where they are no stamps (another length, all equal, not finite).
std::optional<StampLine> stamp_line(const Source& source, const std::string& path, Index frames,
                                    double tolerance);

/// What a scale of time says of the first of its `frames` samples.
struct TimeOrigin {
    double value = 0;
    bool in_samples = false;  // not in seconds
};
/// Of the scale at `path` in source.home; nullopt where it has another length, no known unit, or counts from
/// a date.
std::optional<TimeOrigin> time_origin(const Source& source, const std::string& path, Index frames);

}  // namespace convoy::io::h5
