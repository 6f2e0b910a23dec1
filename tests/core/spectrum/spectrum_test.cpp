#include "tests/core/spectrum/judge.hpp"
#include "tests/scipy.hpp"

using namespace convoy;
using namespace convoy::spectrum;
using namespace convoy::spectrum::judge;

TEST_CASE("spectrograms equal scipy.signal.spectrogram") {
    struct Case {
        const char* window;
        const char* scipys;
        Index length, nfft, hop;
    };
    const std::vector<Case> cases{{"hann", "'hann'", 256, 256, 64},
                                  {"hann", "'hann'", 200, 256, 50},
                                  {"kaiser,9", "('kaiser', 9)", 100, 100, 37},
                                  {"hamming", "'hamming'", 77, 77, 77},
                                  {"boxcar", "'boxcar'", 90, 91, 200},
                                  {"tukey,0.25", "('tukey', 0.25)", 8, 16, 3},
                                  {"hann", "'hann'", 1, 2, 1},
                                  {"hann", "'hann'", 1009, 1009, 100}};
    std::string program = same_noise + "x = x[:3001]\nfor w, n, nfft, hop in [";
    for (const Case& c : cases)
        program += std::string("(") + c.scipys + ", " + std::to_string(c.length) + ", " +
                   std::to_string(c.nfft) + ", " + std::to_string(c.hop) + "), ";
    program += R"(]:
  for detrend in [False, 'constant']:
    s = lambda **k: row(signal.spectrogram(x, 8000, w, n, n - hop if hop <= n else 0, nfft, detrend, **k)[2])
    if hop > n:  # SciPy has no gaps between frames
      v = signal.get_window(w, n)
      f = np.array([x[m:m + n] for m in range(0, len(x) - n + 1, hop)])
      if detrend: f = f - f.mean(1, keepdims=True)
      X = np.fft.rfft(f * v, nfft).T
      P = np.abs(X) ** 2
      T = P.copy(); T[1:-1 if nfft % 2 == 0 else None] *= 2
      [row(r) for r in (T / 8000 / (v ** 2).sum(), T / v.sum() ** 2, np.abs(X), P, X)]
      continue
    s(scaling='density', mode='psd')
    s(scaling='spectrum', mode='psd')
    wsum = signal.get_window(w, n).sum()
    X = signal.spectrogram(x, 8000, w, n, n - hop, nfft, detrend, scaling='spectrum', mode='complex')[2] * wsum
    row(np.abs(X)); row(np.abs(X) ** 2); row(X)
)";
    const auto rows = test::scipy(program);
    std::size_t at = 0;
    const auto samples = noise_of(3001);
    for (const Case& c : cases)
        for (bool detrend : {false, true})
            for (Quantity q : {Quantity::density, Quantity::spectrum, Quantity::magnitude, Quantity::power,
                               Quantity::complex}) {
                Problem p = problem_for(3001, c.window, c.length, c.nfft, c.hop);
                p.detrend = detrend;
                p.quantity = q;
                INFO(c.window << " of " << c.length << ", nfft " << c.nfft << ", hop " << c.hop
                              << ", quantity " << static_cast<int>(q) << ", detrend " << detrend);
                const auto& theirs = rows.at(at++);
                CHECK(difference(run(p, samples), theirs) < 1e-12);
                p.arithmetic = SampleType::float32;
                CHECK(difference(run(p, samples), theirs) < 3e-6);
            }
}

TEST_CASE("centred spectra equal scipy.signal.stft on a padded signal") {
    const auto rows = test::scipy(same_noise + R"(x = x[:1000]
for pad in [dict(mode='constant'), dict(mode='reflect'), dict(mode='edge'), dict(mode='reflect', reflect_type='odd')]:
  for nfft in [256, 75]:
    e = np.pad(x, nfft // 2, **pad)
    w = signal.get_window('hann', nfft)
    row(signal.stft(e, 8000, w, nfft, nfft - 64, boundary=None, padded=False)[2] * w.sum())
e = np.pad(x[:40], 128, mode='reflect')
row(signal.stft(e, 8000, 'hann', 256, 192, boundary=None, padded=False)[2] * 128)
# A window shorter than nfft stands in the middle, as in librosa and torch.
w = np.pad(signal.get_window('hann', 100), 78)
e = np.pad(x, 128)
row(signal.stft(e, 8000, w, 256, 192, boundary=None, padded=False)[2] * w.sum())
)");
    std::size_t at = 0;
    for (Padding padding : {Padding::zero, Padding::reflect, Padding::edge, Padding::odd})
        for (Index nfft : {256, 75}) {
            Problem p = problem_for(1000, "hann", nfft, nfft, 64);
            p.centered = true;
            p.padding = padding;
            p.quantity = Quantity::complex;
            INFO("padding " << static_cast<int>(padding) << ", nfft " << nfft);
            const auto& theirs = rows.at(at++);
            const auto whole = run(p, noise_of(1000));
            CHECK(difference(whole, theirs) < 1e-12);
            for (Index chunk : {1, 3})
                CHECK(same_bits(run(p, noise_of(1000), chunk), whole));
        }
    Problem tiny = problem_for(40, "hann", 256, 256, 64);
    tiny.centered = true;
    tiny.padding = Padding::reflect;
    tiny.quantity = Quantity::complex;
    CHECK(difference(run(tiny, noise_of(40)), rows.at(at++)) < 1e-12);
    Problem narrow = problem_for(1000, "hann", 100, 256, 64);
    narrow.centered = true;
    narrow.quantity = Quantity::complex;
    CHECK(difference(run(narrow, noise_of(1000)), rows.at(at++)) < 1e-12);
}

TEST_CASE("complex signals have spectra on both sides of 0 Hz") {
    const auto rows = test::scipy(same_noise + R"(z = x[:2000:2] + 1j * x[1:2000:2]
for nfft in [64, 45]:
  f, t, s = signal.spectrogram(z, 8000, 'hann', nfft, nfft - 20, detrend=False, return_onesided=False)
  row(np.fft.fftshift(s, axes=0)); row(np.fft.fftshift(f))
)");
    for (Index nfft : {64, 45}) {
        Problem p = problem_for(1000, "hann", nfft, nfft, 20);
        p.shape.inner = 2;
        p.complex = true;
        CHECK(difference(run(p, noise_of(2000)), rows.at(nfft == 64 ? 0 : 2)) < 1e-12);
        const Scale scale = linear_bins({nfft, 8000, true, {}, {}});
        CHECK(difference(scale.centres, rows.at(nfft == 64 ? 1 : 3)) < 1e-12);
    }
}

TEST_CASE("chunks, layouts and stored types do not change a bit") {
    const Index n = 5000, channels = 19;
    Problem p = problem_for(n, "hann", 128, 128, 32);
    p.in = p.arithmetic = SampleType::float32;
    p.decibels = Decibels{1e-6, 3, -90};
    p.shape = {channels, n, 1};
    std::vector<float> planar, mixed(static_cast<std::size_t>(n * channels));
    for (Index c = 0; c < channels; ++c)
        for (double v : noise_of(n, c * n))
            planar.push_back(static_cast<float>(v));
    for (Index c = 0; c < channels; ++c)
        for (Index i = 0; i < n; ++i)
            mixed[static_cast<std::size_t>(i * channels + c)] = planar[c * n + i];
    const auto whole = run(p, planar);
    for (Index chunk : {1, 7, 64})
        CHECK(same_bits(run(p, planar, chunk), whole));
    Problem q = p;
    q.shape = {1, n, channels};
    CHECK(same_bits(run(q, mixed), whole));
    CHECK(same_bits(run(q, mixed, 5), whole));
    std::vector<std::int16_t> stored;
    for (float v : mixed)
        stored.push_back(static_cast<std::int16_t>(std::lround(v * 32768)));
    q.in = SampleType::int16;
    q.scaling.gain = {1.0 / 32768};
    CHECK(same_bits(run(q, stored, 11), whole));
}

TEST_CASE("frames far apart take no room for what lies between them") {
    const auto samples = to_float(noise_of(30000));
    const auto problem = [](Index frames, Index hop) {
        Problem p = problem_for(frames, "hann", 64, 64, hop);
        p.in = p.arithmetic = SampleType::float32;
        return p;
    };
    const Problem close = problem(15000, 10);
    for (const Index inner : {1, 2}) {
        Problem p = close, apart = problem(15000, 500);
        p.shape = apart.shape = {1, 15000, inner};
        const auto all = run(p, samples), some = run(apart, samples);
        for (Index row = 0; row < p.bins() * inner; ++row)
            for (Index m = 0; m < apart.outputs(); ++m)
                REQUIRE(some[static_cast<std::size_t>(row * apart.outputs() + m)] ==
                        all[static_cast<std::size_t>(row * p.outputs() + m * 50)]);
        CHECK(same_bits(run(apart, samples, 3), some));
    }
    Problem one = problem(15000, Index{1} << 40);
    one.shape = {1, 15000, 2};
    CHECK(run(one, samples).size() == 33 * 2);
}

TEST_CASE("a NaN spoils its frames and no other, and silence is exactly zero") {
    for (Index nfft : {64, 60}) {
        Problem p = problem_for(2000, "hann", nfft, nfft, 16);
        p.in = p.arithmetic = SampleType::float32;
        const auto clean = to_float(noise_of(2000));
        auto dirty = clean;
        dirty[777] = NAN;
        const auto a = run(p, clean), b = run(p, dirty);
        const Index frames = p.outputs();
        for (Index k = 0; k < p.bins(); ++k)
            for (Index m = 0; m < frames; ++m) {
                const bool spoilt = m * 16 <= 777 && 777 < m * 16 + nfft;
                const std::size_t i = static_cast<std::size_t>(k * frames + m);
                REQUIRE((spoilt ? std::isnan(b[i]) : a[i] == b[i]));
            }
        auto quiet = clean;
        std::fill(quiet.begin() + 500, quiet.begin() + 1000, 0.0f);
        const auto c = run(p, quiet);
        for (Index k = 0; k < p.bins(); ++k)
            for (Index m = (500 + 15) / 16; m * 16 + nfft <= 1000; ++m)
                REQUIRE(c[static_cast<std::size_t>(k * frames + m)] == 0);
    }
}

TEST_CASE("senseless spectrograms are wrong requests") {
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    Problem p = problem_for(1000, "hann", 256, 256, 64);
    Problem longer = p;
    longer.nfft = 128;
    CHECK(has(message_of(longer), "window of 256 samples is longer than --nfft 128"));
    Problem still = p;
    still.hop = 0;
    CHECK(has(message_of(still), "--hop 0"));
    Problem brief = p;
    brief.shape.frames = 255;
    CHECK(has(message_of(brief), "signal of 255 samples is shorter than one frame of 256 samples"));
    brief.shape.frames = 256;
    CHECK(message_of(brief) == "no error");
    Problem empty = p;
    empty.window.clear();
    CHECK(has(message_of(empty), "window of 0 samples"));
    Problem complex = p;
    complex.quantity = Quantity::complex;
    complex.decibels = Decibels{};
    CHECK(has(message_of(complex), "decibels of complex values"));
    Problem huge = p;
    huge.average = Average{Average::Kind::percentile, 10000000, 50};
    CHECK(has(message_of(huge), "--average-kind mean or max"));
}
