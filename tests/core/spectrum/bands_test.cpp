#include "core/spectrum/bands.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/scipy.hpp"

using namespace convoy;
using namespace convoy::spectrum;

namespace {

// The bands as a matrix, bands x bins.
std::vector<double> dense(const Scale& scale, Index bins) {
    std::vector<double> matrix(scale.bands.size() * static_cast<std::size_t>(bins));
    for (std::size_t b = 0; b < scale.bands.size(); ++b)
        for (std::size_t i = 0; i < scale.bands[b].weights.size(); ++i)
            matrix.at(b * static_cast<std::size_t>(bins) + static_cast<std::size_t>(scale.bands[b].first) +
                      i) = scale.bands[b].weights[i];
    return matrix;
}

void check_equal(const std::vector<double>& ours, const std::vector<double>& theirs, double tolerance) {
    REQUIRE(ours.size() == theirs.size());
    double worst = 0;
    for (std::size_t i = 0; i < ours.size(); ++i)
        worst = std::max(worst, std::abs(ours[i] - theirs[i]));
    CHECK(worst < tolerance);
}

template <class F>
std::string message_of(F f) {
    try {
        f();
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::usage);
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("mel bands are triangles of equal area, equally spaced in mel") {
    // The definition, written with interpolation; corners from the two published formulas.
    const auto rows = test::scipy(R"(
def corners(n, low, high, htk):
  if htk:
    mel, hz = (lambda f: 2595 * np.log10(1 + f / 700)), (lambda m: 700 * (10 ** (m / 2595) - 1))
    return hz(np.linspace(mel(low), mel(high), n + 2))
  f = np.concatenate([np.linspace(0, 1000, 16), 1000 * 6.4 ** (np.arange(1, 100) / 27)])  # at mel 0, 1, 2, ...
  mel = lambda h: np.where(h < 1000, h * 0.015, 15 + 27 * np.log(np.maximum(h, 1) / 1000) / np.log(6.4))
  m = np.linspace(mel(low), mel(high), n + 2)
  return np.where(m < 15, np.interp(m, np.arange(len(f)), f), 1000 * 6.4 ** ((m - 15) / 27))
for htk in [False, True]:
  for n, low, high in [(128, 0, 11025), (40, 20, 8000)]:
    c = corners(n, low, high, htk)
    bins = np.arange(1025) * 22050 / 2048
    row([np.interp(bins, c[i:i + 3], [0, 1, 0], left=0, right=0) * 2 / (c[i + 2] - c[i]) for i in range(n)])
    row(c[1:-1])
)");
    std::size_t at = 0;
    for (Mel formula : {Mel::slaney, Mel::htk})
        for (Index n : {128, 40}) {
            const Axis axis{2048, 22050, false, n == 40 ? std::optional(20.0) : std::nullopt,
                            n == 40 ? std::optional(8000.0) : std::nullopt};
            const Scale scale = mel_bands(axis, n, formula);
            check_equal(dense(scale, 1025), rows.at(at++), 1e-12);
            check_equal(scale.centres, rows.at(at++), 1e-8);
        }
    // Published values of librosa.filters.mel(sr=22050, n_fft=2048): the first triangle.
    const Scale librosa = mel_bands({2048, 22050, false, {}, {}}, 128, Mel::slaney);
    CHECK(std::abs(librosa.bands[0].weights[0] - 0.016182853) < 1e-7);
    CHECK(std::abs(librosa.bands[0].weights[1] - 0.032365706) < 1e-7);
}

TEST_CASE("decidecades share out all power between their edges") {
    const Scale scale = decidecade_bands({4800, 48000, false, {}, {}}, 2.5);
    CHECK(std::abs(scale.centres.front() - 50.1187) < 1e-3);  // the first as wide as a bin of 10 Hz
    CHECK(std::abs(scale.centres.back() - 19952.6) < 0.1);
    const std::vector<double> matrix = dense(scale, 2401);
    const double low = scale.centres.front() / std::pow(10, 0.05),
                 high = scale.centres.back() * std::pow(10, 0.05);
    double sum = 0;
    for (double w : matrix)
        sum += w;
    CHECK(std::abs(sum - 2.5 * (high - low) / 10) < 1e-9);
    for (Index k = 10; k < 2200; ++k) {  // no bin is counted twice or lost
        double column = 0;
        for (std::size_t b = 0; b < scale.bands.size(); ++b)
            column += matrix[b * 2401 + k];
        CHECK(std::abs(column - 2.5) < 1e-12);
    }
    const Scale some = decidecade_bands({4800, 48000, false, 100.0, 1000.0}, 1);
    CHECK(some.centres.size() == 11);
}

TEST_CASE("logarithmic bands are means") {
    const Scale scale = log_bands({1024, 48000, false, {}, {}}, 64);
    CHECK(scale.centres.size() == 64);
    for (std::size_t b = 0; b < 64; ++b) {
        double sum = 0;
        for (double w : scale.bands[b].weights)
            sum += w;
        CHECK(std::abs(sum - 1) < 1e-12);
        if (b > 0)
            CHECK(scale.centres[b] / scale.centres[b - 1] == Approx(scale.centres[1] / scale.centres[0]));
    }
    CHECK(scale.centres.front() > 46.875);
    CHECK(scale.centres.back() < 24000);
}

TEST_CASE("the bin at the Nyquist frequency is there, however the spacing is rounded") {
    for (const double rate : {8000.0, 44100.0, 1000.0, 0.3, 100.0 / 3})
        for (Index nfft = 2; nfft <= 1000; ++nfft) {
            CAPTURE(rate, nfft);
            const Scale scale = linear_bins({nfft, rate, false, {}, {}});
            REQUIRE(static_cast<Index>(scale.centres.size()) == nfft / 2 + 1);
            REQUIRE(static_cast<Index>(linear_bins({nfft, rate, true, {}, {}}).centres.size()) == nfft);
            // A limit that names a bin takes it, rounded as anybody may have worked it out.
            const double named = static_cast<double>(nfft / 3) * (rate / static_cast<double>(nfft));
            if (nfft >= 3)
                REQUIRE(static_cast<Index>(linear_bins({nfft, rate, false, {}, named}).centres.size()) ==
                        nfft / 3 + 1);
        }
    CHECK(linear_bins({240, 8000, false, {}, {}}).centres.back() == 4000);
}

TEST_CASE("limits pick bins, and senseless ones are wrong requests") {
    const Scale scale = linear_bins({1000, 8000, false, 100.0, 200.0});
    CHECK(scale.centres.size() == 13);
    CHECK(scale.centres.front() == 104);
    CHECK(message_of([] {
              linear_bins({1000, 8000, false, 101.0, 103.0});
          }).find("8 Hz apart") != std::string::npos);
    CHECK(message_of([] {
              linear_bins({1000, 8000, false, 300.0, 200.0});
          }).find("--fmin 300 Hz is not below --fmax 200 Hz") != std::string::npos);
    const std::string coarse = message_of([] { decidecade_bands({8, 8000, false, {}, {}}, 1); });
    CHECK(coarse.find("--fmin") == std::string::npos);  // nobody gave one
    CHECK(coarse.find("raise --nfft") != std::string::npos);
    CHECK(message_of([] {
              mel_bands({1000, 8000, false, {}, 5000.0}, 40, Mel::slaney);
          }).find("--fmax 5000 Hz is above the Nyquist frequency 4000 Hz") != std::string::npos);
    CHECK(message_of([] {
              mel_bands({1000, 8000, false, {}, {}}, 0, Mel::slaney);
          }).find("--bins 0") != std::string::npos);
    CHECK(message_of([] {
              log_bands({1000, 8000, false, 0.0, {}}, 10);
          }).find("logarithmic") != std::string::npos);
    CHECK(message_of([] {
              mel_bands({1000, 8000, true, {}, {}}, 40, Mel::slaney);
          }).find("complex") != std::string::npos);
}
