#include "tests/core/spectrum/judge.hpp"
#include "tests/scipy.hpp"

using namespace convoy;
using namespace convoy::spectrum;
using namespace convoy::spectrum::judge;

TEST_CASE("averages over time are those of the columns, whatever the chunks") {
    Problem p = problem_for(4000, "hann", 64, 64, 32);
    const auto samples = noise_of(4000);
    const auto columns = run(p, samples);
    const Index frames = p.outputs(), each = 10;
    std::string program = "s = np.array([";
    for (double v : columns) {
        char text[40];
        std::snprintf(text, sizeof text, "%.17g,", v);
        program += text;
    }
    program +=
        "]).reshape(33, -1)\ncut = range(0, s.shape[1], 10)\n"
        "row(np.stack([s[:, i:i + 10].mean(1) for i in cut], 1))\n"
        "row(np.stack([s[:, i:i + 10].max(1) for i in cut], 1))\n"
        "row(np.stack([np.median(s[:, i:i + 10], 1) for i in cut], 1))\n"
        "row(np.stack([np.percentile(s[:, i:i + 10], 95, axis=1) for i in cut], 1))\n";
    const auto rows = test::scipy(program);
    REQUIRE(frames % each != 0);  // the last column has fewer frames
    using Kind = Average::Kind;
    std::size_t at = 0;
    for (const Average& average :
         {Average{Kind::mean, each, 0}, Average{Kind::max, each, 0}, Average{Kind::percentile, each, 50},
          Average{Kind::percentile, each, 95}}) {
        p.average = average;
        const auto whole = run(p, samples);
        CHECK(difference(whole, rows.at(at++)) < 1e-13);
        CHECK(same_bits(run(p, samples, 1), whole));
        CHECK(same_bits(run(p, samples, 4), whole));
    }
}

TEST_CASE("magnitudes and decibels are those of any sample that the type holds, whatever its square") {
    const auto noise = noise_of(3000);
    for (const Index nfft : {64, 45})
        for (const double size : {1e-30, 1e-21, 1e-12, 1.0, 1e12, 1e21, 1e30}) {
            std::vector<float> samples(noise.size());
            std::transform(noise.begin(), noise.end(), samples.begin(),
                           [&](double v) { return static_cast<float>(v * size); });
            for (Quantity q : {Quantity::magnitude, Quantity::density, Quantity::spectrum, Quantity::power}) {
                Problem p = problem_for(3000, "hann", nfft, nfft, 32);
                p.in = SampleType::float32;
                p.quantity = q;
                const auto check = [&](double tolerance) {
                    INFO("nfft " << nfft << ", samples of " << size << ", quantity " << static_cast<int>(q));
                    p.arithmetic = SampleType::float64;
                    const auto exact = run(p, samples);
                    p.arithmetic = SampleType::float32;
                    CHECK(difference(run(p, samples), exact) < tolerance);
                };
                if (q == Quantity::magnitude) check(1e-6);
                p.decibels = Decibels{};
                check(1e-3);
                p.bands = linear_bins({nfft, 8000, false, 2000, 3000}).bands;  // some bins, as they are
                check(1e-3);
            }
        }
    std::vector<double> samples(noise.size());
    std::transform(noise.begin(), noise.end(), samples.begin(), [](double v) { return v * 1e-200; });
    Problem p = problem_for(3000, "hann", 64, 64, 64);
    p.quantity = Quantity::magnitude;
    const auto tiny = run(p, samples), usual = run(p, noise);
    for (std::size_t i = 0; i < usual.size(); ++i)
        REQUIRE(std::abs(tiny[i] * 1e200 - usual[i]) <= 1e-12 * (1 + usual[i]));
}

TEST_CASE("decibels are logarithms, with a reference, an offset and a floor") {
    for (Quantity q : {Quantity::density, Quantity::magnitude}) {
        Problem p = problem_for(3000, "hann", 64, 64, 64);
        p.quantity = q;
        auto samples = noise_of(3000);
        std::fill(samples.begin(), samples.begin() + 128, 0.0);
        const auto values = run(p, samples);
        const double factor = q == Quantity::magnitude ? 20 : 10;
        p.decibels = Decibels{1e-3, 12.5, -INFINITY};
        const auto decibels = run(p, samples);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] == 0)
                REQUIRE(decibels[i] == -INFINITY);
            else
                REQUIRE(std::abs(decibels[i] - (factor * std::log10(values[i] / 1e-3) + 12.5)) < 1e-11);
        p.decibels->floor = -10;
        const auto floored = run(p, samples);
        for (std::size_t i = 0; i < values.size(); ++i)
            REQUIRE(floored[i] == std::max(decibels[i], -10.0));
        samples[200] = NAN;
        const auto spoilt = run(p, samples);
        CHECK(std::isnan(spoilt[3]));
        CHECK(spoilt[0] == -10);
    }
}
