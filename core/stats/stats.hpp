// Levels of samples as they pass: peak, RMS, NaN, Inf and over-range counts, by lane, with Thrust; and a hash
// of a result that does not depend on the order in which its pieces come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::stats {

/// Sums over one lane. Peaks and sums are of finite samples only.
struct Level {
    double peak = 0;  // largest magnitude
    double sum_squares = 0;
    Index finite = 0;  // samples that are finite
    Index nan = 0, inf = 0;
    Index over = 0;  // float samples of magnitude above 1: over-range in audio
    double rms() const;
    void add(const Level& other);
};

/// Levels of lanes are kept one by one up to so many; of more (the rows of images), neighbours share one, so
/// that memory does not grow with them.
constexpr Index most_levels = Index{1} << 16;
constexpr Index lanes_a_level(Index lanes) {
    return lanes <= most_levels ? 1 : (lanes + most_levels - 1) / most_levels;
}
constexpr std::size_t level_count(Index lanes) {
    const Index each = lanes_a_level(lanes);
    return static_cast<std::size_t>((lanes + each - 1) / each);
}

/// Adds the levels of frames `part` of a window to `into` (one a lane of the window, outer-major), in
/// parallel. Integers are taken as stored.
void measure(const Window& window, Span part, Level* into);

/// A 128-bit sum of mixed (position, bits) words: the same for any order and any chunks.
struct Hash {
    std::uint64_t low = 0, high = 0;
    void add(const Hash& other);
    std::string text() const;  // 32 hexadecimal digits
};

/// The hash of frames `part` of a window, at their places in a whole result of shape `whole`: output frame
/// part.first - origin, lanes from `lanes` on.
Hash hash(const Window& window, Span part, Index origin, const Lanes& lanes, const Shape& whole);

}  // namespace convoy::stats
