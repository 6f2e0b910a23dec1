// Points in time as files tell them: ISO 8601 text, times in file names, and arithmetic on them to the
// nanosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace convoy::io {

/// A point in time: nanoseconds since 1970-01-01T00:00:00, in UTC where `utc`, else in a zone that nobody
/// named.
struct Timestamp {
    std::int64_t nanoseconds = 0;
    bool utc = false;
    friend bool operator==(Timestamp, Timestamp) = default;
};

/// A time from its parts; empty where they are no date (month 13). Seconds may be 60 (a leap second counts as
/// the next).
std::optional<Timestamp> make_timestamp(int year, int month, int day, int hour, int minute, double second,
                                        bool utc);

/// "2020-06-15T13:45:00.25Z", also with a space for the T, an offset (+02:00, +0200; the result is then in
/// UTC), a date alone, or text behind a complete time when `rest` is given, which takes what follows. Empty
/// for anything else.
std::optional<Timestamp> parse_timestamp(std::string_view text, std::string_view* rest = nullptr);

/// ISO 8601 with as many decimals (0, 3, 6 or 9) as the time needs, and Z where it is in UTC.
std::string to_iso8601(Timestamp time);

/// `time` moved by `seconds`, rounded to the nanosecond.
Timestamp later(Timestamp time, double seconds);

/// The time that a file's name holds where `pattern` (%Y %y %m %d %H %M %S %f %j %s, %% and plain text)
/// matches in it; digits before or after the match do not belong to it. %s is seconds since 1970, in UTC; a Z
/// in the pattern makes the rest UTC too. Error (a wrong request) for an unknown letter; empty where nothing
/// matches.
std::optional<Timestamp> time_in_name(const std::string& path, const std::string& pattern);

}  // namespace convoy::io
