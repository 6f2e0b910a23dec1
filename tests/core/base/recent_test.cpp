// The last few things of a kind.
#include "core/base/recent.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace convoy;

TEST_CASE("what was made is not made again, until others took its place") {
    Recent<std::string, int> recent(2);
    int made = 0;
    const auto ask = [&](const std::string& key) {
        return *recent.get(key, [&] { return std::make_shared<const int>(++made); });
    };
    CHECK(ask("a") == 1);
    CHECK(ask("b") == 2);
    CHECK(ask("a") == 1);
    CHECK(ask("c") == 3);  // b was asked for longest ago
    CHECK(ask("a") == 1);
    CHECK(ask("b") == 4);
}

TEST_CASE("a value outlives its place") {
    Recent<int, std::string> recent(1);
    const auto kept = recent.get(1, [] { return std::make_shared<const std::string>("one"); });
    recent.get(2, [] { return std::make_shared<const std::string>("two"); });
    CHECK(*kept == "one");
    CHECK_THROWS_AS(recent.get(3, []() -> std::shared_ptr<const std::string> { throw 3; }), int);
    CHECK(*recent.get(2, []() -> std::shared_ptr<const std::string> { throw 2; }) == "two");
}
