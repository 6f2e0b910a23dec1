#include "core/base/params.hpp"

#include "core/base/error.hpp"
#include "tests/catch.hpp"

namespace convoy {

namespace {

constexpr Param list[] = {
    {.name = "atten-db", .kind = Kind::number, .value = "DB", .fallback = "80"},
    {.name = "numtaps", .kind = Kind::integer, .value = "N", .also = "n-taps"},
    {.name = "bandpass", .kind = Kind::numbers, .value = "LO,HI"},
    {.name = "mode", .kind = Kind::choice, .value = "MODE", .fallback = "same", .choices = "same,full"},
    {.name = "raw", .kind = Kind::flag},
    {.name = "start", .kind = Kind::time},
};

Params params() {
    return Params({std::begin(list), std::end(list)});
}

std::string refusal(std::string_view name, const std::string& text) {
    try {
        Params p = params();
        p.set(name, text);
        return "accepted";
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::usage);
        return error.what();
    }
}

}  // namespace

TEST_CASE("values are read by their kind, defaults where nothing is given") {
    Params p = params();
    CHECK(p.number("atten-db") == 80);
    CHECK_FALSE(p.given("atten-db"));
    p.set("atten_db", "60");  // as pipeline files write it
    p.set("n-taps", "3k");    // another spelling
    p.set("bandpass", "0.3k,3000");
    p.set("start", "480000n");
    CHECK(p.number("atten-db") == 60);
    CHECK(p.integer("numtaps") == 3000);
    CHECK(p.numbers("bandpass") == std::vector<double>{300, 3000});
    CHECK(p.time_if("start")->unit == Time::Unit::samples);
    CHECK(p.text("mode") == "same");
    CHECK_FALSE(p.flag("raw"));
    CHECK(p.words() == std::vector<std::string>{"--atten-db", "60", "--numtaps", "3k", "--bandpass",
                                                "0.3k,3000", "--start", "480000n"});
}

TEST_CASE("what cannot be right is refused by name") {
    CHECK(refusal("numtap", "3") == "there is no parameter 'numtap'; did you mean 'numtaps'?");
    CHECK(refusal("numtaps", "2.5") == "--numtaps '2.5' is not a whole number");
    CHECK(refusal("mode", "both") == "--mode 'both' is not one of same, full");
    CHECK(refusal("bandpass", "1;2") == "--bandpass '1;2' is not numbers separated by commas");
    CHECK(refusal("start", "soon").starts_with("--start 'soon' is not a time"));
}

TEST_CASE("quantities as people type them") {
    CHECK(parse_number("3k") == 3000);
    CHECK(parse_number("+2.5e3") == 2500);
    CHECK_FALSE(parse_number("1,5"));
    CHECK_FALSE(parse_number("nan"));
    CHECK_FALSE(parse_number(""));
    CHECK(parse_integer("2G") == 2000000000);
    CHECK_FALSE(parse_integer("1.5"));
    CHECK(parse_bytes("64MiB") == Index{64} << 20);
    CHECK_FALSE(parse_bytes("64"));
    CHECK(parse_time("500ms")->value == Approx(0.5));
    CHECK(parse_time("2min")->value == 120);
    CHECK(parse_time("01:02:03.5")->value == Approx(3723.5));
    const auto iso = parse_time("2026-11-29T10:00:00.25+01:00");
    REQUIRE(iso);
    CHECK(iso->unit == Time::Unit::absolute);
    CHECK(iso->value == Approx(1795942800.25));
    CHECK_FALSE(parse_time("2026-13-01"));
    CHECK_FALSE(parse_time("ten"));
    CHECK(to_text(0.1) == "0.1");
    CHECK(bytes_text(3.5 * 1024 * 1024) == "3.50 MiB");
}

}  // namespace convoy
