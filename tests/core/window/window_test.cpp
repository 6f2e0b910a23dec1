#include "core/window/window.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/scipy.hpp"

using namespace convoy;
using window::Symmetry;

namespace {

// What we call it, and what get_window takes for it.
struct Pair {
    const char* ours;
    const char* scipys;
};
const std::vector<Pair> pairs{
    {"barthann", "'barthann'"},
    {"bartlett", "'bartlett'"},
    {"blackman", "'blackman'"},
    {"blackmanharris", "'blackmanharris'"},
    {"bohman", "'bohman'"},
    {"boxcar", "'boxcar'"},
    {"chebwin,100", "('chebwin', 100)"},
    {"chebwin,51.5", "('chebwin', 51.5)"},
    {"cosine", "'cosine'"},
    {"dpss,2.5", "('dpss', 2.5)"},
    {"exponential", "'exponential'"},
    {"exponential,none,3", "('exponential', None, 3.0)"},
    {"flattop", "'flattop'"},
    {"gaussian,7", "('gaussian', 7)"},
    {"general_cosine,0.5,0.3,0.2", "('general_cosine', [0.5, 0.3, 0.2])"},
    {"general_gaussian,1.5,7", "('general_gaussian', 1.5, 7)"},
    {"general_hamming,0.7", "('general_hamming', 0.7)"},
    {"hamming", "'hamming'"},
    {"hann", "'hann'"},
    {"kaiser,8.6", "('kaiser', 8.6)"},
    {"kaiser,0", "('kaiser', 0.0)"},
    {"14", "14.0"},
    {"lanczos", "'lanczos'"},
    {"nuttall", "'nuttall'"},
    {"parzen", "'parzen'"},
    {"taylor", "'taylor'"},
    {"taylor,6,45", "('taylor', 6, 45)"},
    {"taylor,4,30,0", "('taylor', 4, 30, False)"},
    {"triang", "'triang'"},
    {"tukey", "'tukey'"},
    {"tukey,0.25", "('tukey', 0.25)"},
    {"tukey,0", "('tukey', 0)"},
    {"tukey,1.5", "('tukey', 1.5)"},
};
const std::vector<Index> lengths{1, 6, 7, 8, 9, 64, 101, 1024};

std::string message_of(const char* text, Index length, Symmetry symmetry) {
    try {
        window::make(text, length, symmetry);
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::usage);
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("windows equal SciPy's, symmetric and periodic") {
    std::string program = "import warnings; warnings.simplefilter('ignore')\nfor w in [";
    for (const Pair& pair : pairs)
        program += std::string(pair.scipys) + ", ";
    program += "]:\n  for n in [";
    for (Index n : lengths)
        program += std::to_string(n) + ", ";
    program += "]:\n    row(signal.get_window(w, n, False))\n    row(signal.get_window(w, n, True))";
    const auto rows = test::scipy(program);
    REQUIRE(rows.size() == pairs.size() * lengths.size() * 2);
    std::size_t at = 0;
    for (const Pair& pair : pairs)
        for (Index n : lengths)
            for (Symmetry symmetry : {Symmetry::symmetric, Symmetry::periodic}) {
                const auto ours = window::make(pair.ours, n, symmetry);
                const auto& theirs = rows[at++];
                REQUIRE(ours.size() == theirs.size());
                double worst = 0;
                for (std::size_t i = 0; i < ours.size(); ++i) {
                    CHECK_FALSE(std::isnan(ours[i]));
                    worst = std::max(worst, std::abs(ours[i] - theirs[i]));
                }
                INFO(pair.ours << " of " << n
                               << (symmetry == Symmetry::periodic ? ", periodic" : ", symmetric"));
                // Long windows of these two are only so exact in SciPy itself (extended precision tells).
                const std::string name = pair.ours;
                CHECK(worst < (name.starts_with("chebwin") || name.starts_with("dpss") ? 2e-11 : 1e-12));
            }
}

TEST_CASE("a Kaiser-Bessel-derived window equals SciPy's and is for filters only") {
    const auto rows = test::scipy("row(signal.get_window(('kbd', 6.0), 64, False))");
    const auto ours = window::make("kbd,6", 64, Symmetry::symmetric);
    REQUIRE(ours.size() == rows.at(0).size());
    for (std::size_t i = 0; i < ours.size(); ++i)
        CHECK(std::abs(ours[i] - rows[0][i]) < 1e-12);
    CHECK(message_of("kbd,6", 64, Symmetry::periodic).find("filter design") != std::string::npos);
    CHECK(message_of("kbd,6", 65, Symmetry::symmetric).find("must be even") != std::string::npos);
}

TEST_CASE("every spelling of SciPy is known") {
    const auto rows = test::scipy(
        "from scipy.signal.windows import _windows as w\n"
        "for group in w._win_equiv_raw:\n"
        "  for name in group: row([ord(c) for c in name])");
    CHECK(rows.size() > 60);
    for (const auto& row : rows) {
        const std::string name(row.begin(), row.end());
        INFO(name);
        try {
            window::parse(name);
        } catch (const Error& error) {  // the name is known, and a parameter is missing
            CHECK(error.problem().find("needs a parameter") != std::string::npos);
        }
    }
    CHECK(window::usages().size() == 25);
    CHECK(window::parse("han").text() == "hann");
    CHECK(window::parse("exponential,none,3").text() == "exponential,none,3");
}

TEST_CASE("wrong windows are wrong requests that say what to write") {
    CHECK(message_of("hanning", 8, Symmetry::periodic) ==
          "there is no window 'hanning'; did you mean 'hamming'?");
    CHECK(message_of("", 8, Symmetry::periodic).find("choose one of barthann") != std::string::npos);
    CHECK(message_of("kaiser", 8, Symmetry::periodic) ==
          "the window 'kaiser' needs a parameter; write kaiser,BETA");
    CHECK(message_of("kaiser,x", 8, Symmetry::periodic).find("'x' is not a number") != std::string::npos);
    CHECK(message_of("kaiser,-1", 8, Symmetry::periodic).find("between 0 and 700") != std::string::npos);
    CHECK(message_of("hann,3", 8, Symmetry::periodic).find("too many parameters") != std::string::npos);
    CHECK(message_of("gaussian,0", 8, Symmetry::periodic).find("positive") != std::string::npos);
    CHECK(message_of("dpss,4", 8, Symmetry::periodic).find("below half the length") != std::string::npos);
    CHECK(message_of("taylor,2.5", 8, Symmetry::periodic).find("whole number") != std::string::npos);
    CHECK(message_of("exponential,3,1", 8, Symmetry::symmetric).find("in the middle") != std::string::npos);
}
