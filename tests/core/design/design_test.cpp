#include "core/design/design.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/scipy.hpp"

using namespace convoy;
using namespace convoy::design;

namespace {

void check_equal(const std::vector<double>& ours, const std::vector<double>& theirs, double tolerance) {
    REQUIRE(ours.size() == theirs.size());
    double worst = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        CHECK_FALSE(std::isnan(ours[i]));
        worst = std::max(worst, std::abs(ours[i] - theirs[i]));
    }
    CHECK(worst < tolerance);
}

std::string message_of(const Request& request) {
    try {
        windowed_sinc(request);
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::usage);
        return error.what();
    }
    return "no error";
}

bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("firwin equals SciPy's for all bands, windows, scales and lengths") {
    const auto rows = test::scipy(R"(
for n in [1, 2, 31, 64, 129]:
  for w in ['hamming', ('kaiser', 7.5), 'boxcar']:
    for scale in [True, False]:
      row(signal.firwin(n, 700, window=w, scale=scale, fs=8000))
      row(signal.firwin(n, [700, 1900], window=w, scale=scale, fs=8000, pass_zero='bandpass'))
      m = n | 1
      row(signal.firwin(m, 700, window=w, scale=scale, fs=8000, pass_zero='highpass'))
      row(signal.firwin(m, [700, 1900], window=w, scale=scale, fs=8000, pass_zero='bandstop'))
)");
    const std::vector<double> one{700}, two{700, 1900};
    std::size_t at = 0;
    for (Index n : {1, 2, 31, 64, 129})
        for (const char* w : {"hamming", "kaiser,7.5", "boxcar"})
            for (bool scale : {true, false}) {
                INFO(n << " taps, " << w << (scale ? ", scaled" : ""));
                check_equal(firwin(n, one, Band::lowpass, w, 8000, scale), rows.at(at++), 1e-13);
                check_equal(firwin(n, two, Band::bandpass, w, 8000, scale), rows.at(at++), 1e-13);
                check_equal(firwin(n | 1, one, Band::highpass, w, 8000, scale), rows.at(at++), 1e-13);
                check_equal(firwin(n | 1, two, Band::bandstop, w, 8000, scale), rows.at(at++), 1e-13);
            }
}

TEST_CASE("Kaiser's estimates equal SciPy's") {
    const auto rows = test::scipy(R"(
for a in [8.0, 15.0, 21.0, 30.0, 50.0, 65.0, 80.0, 120.0]:
  for width in [0.001, 0.02, 0.5]:
    n, beta = signal.kaiserord(a, width)
    row([n, beta, signal.kaiser_beta(a), signal.kaiser_atten(n, width)])
)");
    std::size_t at = 0;
    for (double a : {8.0, 15.0, 21.0, 30.0, 50.0, 65.0, 80.0, 120.0})
        for (double width : {0.001, 0.02, 0.5}) {
            const Kaiser order = kaiserord(a, width);
            check_equal({static_cast<double>(order.numtaps), order.beta, kaiser_beta(a),
                         kaiser_atten(order.numtaps, width)},
                        rows.at(at++), 1e-11);
        }
    CHECK_THROWS_AS(kaiserord(7, 0.1), Error);
}

TEST_CASE("a whole design equals kaiserord and firwin") {
    const auto rows = test::scipy(R"(
n, beta = signal.kaiserord(80, 100 / 24000)
row(signal.firwin(n | 1, [300, 3000], window=('kaiser', beta), fs=48000, pass_zero='bandpass'))
n, beta = signal.kaiserord(60, 75 / 24000)
row(signal.firwin(n | 1, 300, window=('kaiser', beta), fs=48000, pass_zero='highpass'))
row(signal.firwin(101, 300, window='hamming', fs=48000, pass_zero='highpass'))
)");
    Request request{Band::bandpass, {300, 3000}, 48000, {}, 100.0, 80, ""};
    check_equal(windowed_sinc(request).taps, rows.at(0), 1e-13);
    const Filter byDefault = windowed_sinc({Band::highpass, {300}, 48000, {}, {}, 60, ""});
    CHECK(byDefault.transition == 75);
    check_equal(byDefault.taps, rows.at(1), 1e-13);
    const Filter even = windowed_sinc({Band::highpass, {300}, 48000, 100, {}, 80, "ham"});
    CHECK(even.lengthened);
    CHECK(even.window == "hamming");
    check_equal(even.taps, rows.at(2), 1e-13);
    CHECK(windowed_sinc({Band::lowpass, {300}, 48000, 100, {}, 80, "hamming"}).taps.size() == 100);
}

TEST_CASE("a window that is zero everywhere is refused, instead of taps that are NaN") {
    for (const char* window : {"hann", "bartlett", "bohman"}) {
        CHECK_THROWS_AS(windowed_sinc({Band::lowpass, {300}, 48000, 2, {}, 80, window}), Error);
        CHECK(windowed_sinc({Band::lowpass, {300}, 48000, 3, {}, 80, window}).taps[1] == 1);
    }
}

TEST_CASE("the default transition is MNE's") {
    const std::vector<double> low{1}, middle{40}, high{95}, band{1, 40};
    CHECK(default_transition(low, 200) == 1);      // not wider than the cut-off
    CHECK(default_transition(middle, 200) == 10);  // a quarter
    CHECK(default_transition(high, 200) == 5);     // up to Nyquist
    CHECK(default_transition(band, 200) == 1);
    CHECK(default_transition(std::vector<double>{4}, 200) == 2);
}

TEST_CASE("the low-pass of decimate equals SciPy's") {
    const auto rows =
        test::scipy("for q in [2, 3, 10]: row(signal.firwin(20 * q + 1, 1 / q, window='hamming'))");
    std::size_t at = 0;
    for (Index q : {2, 3, 10})
        check_equal(decimation_lowpass(q), rows.at(at++), 1e-14);
    CHECK(decimation_lowpass(1) == std::vector<double>{1});
}

TEST_CASE("cut-offs are the -6 dB points, and the response equals freqz") {
    const auto rows = test::scipy(R"(
h = signal.firwin(201, [300, 1200], window=('kaiser', 8.0), fs=8000, pass_zero='bandpass')
w, r = signal.freqz(h, worN=[0.0, 100.0, 300.0, 700.0, 1200.0, 1500.0, 3999.0, 4000.0], fs=8000)
row(np.abs(r))
)");
    const std::vector<double> cutoffs{300, 1200}, at{0, 100, 300, 700, 1200, 1500, 3999, 4000};
    const auto taps = firwin(201, cutoffs, Band::bandpass, "kaiser,8", 8000);
    const auto decibels = response_db(taps, at, 8000);
    for (std::size_t i = 0; i < at.size(); ++i)
        CHECK(std::abs(std::pow(10, decibels[i] / 20) - rows.at(0).at(i)) < 1e-13);
    CHECK(std::abs(decibels[2] + 6.02) < 0.01);
    CHECK(std::abs(decibels[4] + 6.02) < 0.01);
    CHECK(response_db(std::vector<double>{1, -1}, std::vector<double>{0}, 8000)[0] == -INFINITY);
}

TEST_CASE("senseless designs are wrong requests with their numbers") {
    CHECK(message_of({Band::lowpass, {30000}, 48000, {}, {}, 80, ""}) ==
          "the lowpass cut-off 30000 Hz is not below the Nyquist frequency 24000 Hz of a signal at 48000 Hz; "
          "choose a "
          "lower one");
    CHECK(has(message_of({Band::lowpass, {4000}, 8000, {}, {}, 80, ""}),
              "not below the Nyquist frequency 4000 Hz"));
    CHECK(has(message_of({Band::highpass, {0}, 48000, {}, {}, 80, ""}), "cut-off 0 Hz is not above 0 Hz"));
    CHECK(has(message_of({Band::bandpass, {3000, 300}, 48000, {}, {}, 80, ""}),
              "cut-offs 3000 Hz and 300 Hz are not in rising order"));
    CHECK(has(message_of({Band::bandpass, {300}, 48000, {}, {}, 80, ""}), "two cut-off frequencies, not 1"));
    CHECK(has(message_of({Band::lowpass, {300}, 48000, 0, {}, 80, ""}), "0 taps"));
    CHECK(has(message_of({Band::lowpass, {300}, 48000, {}, 0.0001, 80, ""}), "needs"));
    CHECK(has(message_of({Band::lowpass, {300}, 48000, {}, 0.0, 80, ""}), "transition of 0 Hz"));
    CHECK(has(message_of({Band::lowpass, {300}, 48000, {}, 30000.0, 80, ""}), "transition of 30000 Hz"));
    CHECK(has(message_of({Band::lowpass, {300}, 48000, {}, 50.0, 5, ""}), "5 dB"));
    CHECK(has(message_of({Band::lowpass, {300}, 0, {}, {}, 80, ""}), "--rate"));
    CHECK(has(message_of({Band::lowpass, {300}, 48000, {}, {}, 80, "hanning"}), "hanning"));
}
