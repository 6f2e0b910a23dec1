// Where the ticks of an axis stand, and how they are written.
#pragma once

#include <string>
#include <vector>

namespace convoy::pipelines {

/// The ends of an axis, or of colours.
struct Range {
    double low, high;
    double share(double v) const { return (v - low) / (high - low); }
};

struct Tick {
    double value;
    std::string text;
};

/// Round values (1, 2 or 5 times a power of ten apart) from low to high, about `wanted` of them.
std::vector<Tick> linear_ticks(double low, double high, int wanted);

/// 1, 2 and 5 times the powers of ten from low to high; low above 0.
std::vector<Tick> log_ticks(double low, double high);

/// A range in readable units: values divided by `factor` are in `units`.
struct Readable {
    double factor;
    std::string units;
};
Readable readable_time(double seconds);
Readable readable_frequency(double hz);

}  // namespace convoy::pipelines
