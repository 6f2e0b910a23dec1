// Catch2, whichever version the system has (2 in Debian 12, 3 later): tests include this and nothing of
// Catch2.
#pragma once

#if CONVOY_CATCH2_VERSION >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

/// Ends a test that needs something this machine lacks, and says so: the test counts as skipped, never
/// silently.
#if CONVOY_CATCH2_VERSION >= 3
#define CONVOY_SKIP(reason) SKIP(reason)
#else
#define CONVOY_SKIP(reason)            \
    do {                               \
        WARN("skipped: " << (reason)); \
        return;                        \
    } while (false)
#endif

/// Matches a text (CHECK_THROWS_WITH) that contains another.
inline auto containing(const std::string& part) {
#if CONVOY_CATCH2_VERSION >= 3
    return Catch::Matchers::ContainsSubstring(part);
#else
    return Catch::Matchers::Contains(part);
#endif
}
