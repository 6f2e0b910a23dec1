#include "core/base/printable.hpp"

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "tests/catch.hpp"

using namespace convoy;

TEST_CASE("a message is one line whatever a file is called") {
    CHECK(printable("plain, ü and \xe6\x97\xa5.wav") == "plain, ü and \xe6\x97\xa5.wav");
    CHECK(printable("a\nb\r\tc") == "a\\nb\\r\\tc");
    CHECK(printable(std::string_view("\x1b[2J\x7f\0", 6)) == "\\x1b[2J\\x7f\\x00");
    CHECK(printable("\xc2\x9b\x32J") == "\\x9b2J");
    CHECK(printable(printable("a\nb")) == "a\\nb");
    CHECK(std::string(failed("a\nb.h5", "is\tno file", "look\n").what()) ==
          "a\\nb.h5: is\\tno file; look\\n");
    std::string seen;
    const auto before =
        on_warning([&](const std::string& where, const std::string& text) { seen = where + "|" + text; });
    warn("a\nb", "c\nd");
    on_warning(before);
    CHECK(seen == "a\\nb|c\\nd");
}

TEST_CASE("whole numbers are written out, others in the fewest digits that read back") {
    CHECK(to_text(100000.0) == "100000");
    CHECK(to_text(-3000000.0) == "-3000000");
    CHECK(to_text(9007199254740991.0) == "9007199254740991");
    CHECK(to_text(1e22) == "1e+22");
    CHECK(to_text(0.1) == "0.1");
    CHECK(to_text(1e-7) == "1e-07");
    CHECK(to_text(0.0) == "0");
    CHECK(to_text(-0.0) == "-0");
    CHECK(to_text(44100.5) == "44100.5");
}
