// Numbers as people type them: 3k, 500ms, 10, 2min, 01:02:03.5, 480000n, 64MiB. Independent of the locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy {

/// "3k" is 3000, "1.5M" 1.5e6, "2e3" 2000. Empty where the text is no number.
std::optional<double> parse_number(std::string_view text);
/// A whole number, with k, M, G; empty otherwise (also for 2.5).
std::optional<Index> parse_integer(std::string_view text);
/// Bytes: "64MiB", "1GB", "4096B". A unit is needed.
std::optional<Index> parse_bytes(std::string_view text);

/// A place or length in time: seconds ("10", "10s", "500ms", "2min", "1h", "HH:MM:SS.s"), samples
/// ("480000n"), or an absolute time (ISO 8601, seconds since 1970 in UTC).
struct Time {
    enum class Unit { seconds, samples, absolute } unit = Unit::seconds;
    double value = 0;
};
std::optional<Time> parse_time(std::string_view text);

/// "300,3000" as words.
std::vector<std::string> split(std::string_view text, char separator);

/// Shortest text that reads back as the same number (whole ones written out), with a point in any locale.
std::string to_text(double value);
std::string to_text(Index value);
/// For people: "3.2 GiB", "1.5 GB/s" uses to_text elsewhere; three figures.
std::string bytes_text(double bytes);

/// The name in `names` that is nearest to a misspelt one, or empty where none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& names);

}  // namespace convoy
