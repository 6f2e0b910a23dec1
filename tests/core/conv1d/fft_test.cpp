// What the fft strategy promises beyond the other tests of the list: as good as direct sums beside whatever
// else is in a block, zeros exactly zero, NaN and Inf local, the same bits however the signal is cut.
#include <tbb/global_control.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "core/conv1d/cpu_cost.hpp"
#include "tests/catch.hpp"
#include "tests/core/conv1d/judge.hpp"

using namespace convoy;
using namespace convoy::conv1d;
using namespace convoy::conv1d::judge;

namespace {

using Samples = std::vector<double>;

Samples noise(Index count, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Samples x(static_cast<std::size_t>(count));
    for (double& v : x)
        v = normal(random);
    return x;
}

Samples lowpass(Index taps, double cutoff) {
    Samples h;
    for (Index k = 0; k < taps; ++k) {
        const double t = static_cast<double>(k) - static_cast<double>(taps - 1) / 2;
        const double sinc = t == 0 ? 2 * cutoff : std::sin(2 * M_PI * cutoff * t) / (M_PI * t);
        h.push_back(sinc * (0.54 - 0.46 * std::cos(2 * M_PI * static_cast<double>(k) /
                                                   static_cast<double>(taps - 1))));
    }
    return h;
}

struct Named {
    const char* name;
    Samples values;
};

std::vector<Named> filters() {
    std::vector<Named> all{{"low-pass", lowpass(101, 0.1)},      {"half-band", lowpass(63, 0.25)},
                           {"boxcar", Samples(500, 0.002)},      {"noise", noise(1000, 7)},
                           {"wide range", noise(200, 8)},        {"difference", Samples(301, 0)},
                           {"alternating", lowpass(1000, 0.001)}};
    for (std::size_t k = 0; k < 1000; k += 2)
        all[6].values[k] *= -1;
    for (std::size_t k = 0; k < 200; ++k)
        all[4].values[k] *= std::pow(10, -8 * static_cast<double>(k) / 200);
    all[5].values.front() = 1;
    all[5].values.back() = -1;
    return all;
}

/// Signals that float32 transforms are bad at.
std::vector<Named> signals(Index n) {
    std::vector<Named> all{{"far from zero", noise(n)},
                           {"burst beside silence", Samples(n, 0)},
                           {"burst beside noise", noise(n)},
                           {"clicks", Samples(n, 0)},
                           {"comb", Samples(n, 0)},
                           {"wide range", noise(n)},
                           {"rising", noise(n)},
                           {"tiny", noise(n)},
                           {"level beside noise", noise(n)}};
    const Samples loud = noise(n, 5);
    for (Index i = 0; i < n; ++i) {
        all[0].values[i] += 1000;
        if (i > n / 3 && i < n / 3 + 200) all[1].values[i] = loud[i];
        all[2].values[i] *= i > n / 2 && i < n / 2 + 300 ? 1 : 1e-6;
        if (i % 1777 == 5) all[3].values[i] = loud[i];
        if (i % 2 == 0) all[4].values[i] = loud[i];
        all[5].values[i] *= std::pow(10, 4 * loud[i]);
        all[6].values[i] *= std::exp2(static_cast<double>(i) * 60 / static_cast<double>(n) - 60);
        all[7].values[i] *= 1e-30;
        all[8].values[i] += i < n / 2 ? 300 : 0;
    }
    return all;
}

Problem problem(Index frames, Samples taps, SampleType type = SampleType::float32, Index decimate = 1) {
    Problem p;
    p.taps = std::move(taps);
    p.shape = {1, frames, 1};
    p.in = p.arithmetic = type;
    p.decimate = decimate;
    return p;
}

Job job_of(Problem p, const Samples& x) {
    Job job{std::move(p), {}};
    job.stored.resize(x.size() * static_cast<std::size_t>(bytes_of(job.problem.in)));
    for (Index f = 0; f < static_cast<Index>(x.size()); ++f)
        job.set(0, f, 0, x[f]);
    return job;
}

std::unique_ptr<Stage> fft(const Problem& p) {
    check(p);
    return plan(p, catalog().at("fft"), device::cpu());
}

double fact(const Stage& stage, std::string_view key) {
    for (const auto& [name, v] : stage.facts())
        if (name == key) return v;
    FAIL("no fact " << key);
    return 0;
}

const Lanes one = Lanes{};

}  // namespace

TEST_CASE("every output of transforms keeps the bound, whatever is beside it") {
    constexpr Index n = 6000;
    for (const Named& filter : filters())
        for (const Named& signal : signals(n))
            for (const SampleType type : {SampleType::float32, SampleType::float64})
                for (const Index decimate : {1, 3, 8}) {
                    INFO(filter.name << ", " << signal.name << ", " << name_of(type) << ", decimate "
                                     << decimate);
                    const Job job = job_of(problem(n, filter.values, type, decimate), signal.values);
                    const auto stage = fft(job.problem);
                    CHECK(worst(*stage, job, run_all(*stage, job, one)) == "");
                }
}

TEST_CASE("every output of long filters keeps the bound") {
    for (const Index taps : {4095, 20000, 65535}) {
        const Index n = 3 * taps;
        for (const Named& signal : signals(n)) {
            INFO(taps << " taps, " << signal.name);
            const Job job = job_of(problem(n, lowpass(taps, 0.02)), signal.values);
            const auto stage = fft(job.problem);
            const auto result = run_all(*stage, job, one);
            const Samples x = job.lane(0, 0);
            for (Index i = 0; i < n; i += n / 50) {
                long double sum = 0, terms = 0;
                for (Index k = 0; k < taps; ++k)
                    if (const Index at = i + (taps - 1) / 2 - k; at >= 0 && at < n) {
                        const long double term = static_cast<long double>(job.problem.taps[k]) * x[at];
                        sum += term;
                        terms += std::abs(term);
                    }
                CHECK(std::abs(value(*stage, result, 0, i, 0) - static_cast<double>(sum)) <=
                      bound(job.problem) * static_cast<double>(terms));
            }
        }
    }
}

TEST_CASE("taps beyond the longest transform are cut into parts") {
    constexpr Index taps = 1'100'000, n = 400'000;
    Samples h(taps, 0), x(n, 0);
    const std::vector<Index> at_h{0, 5, 549'999, 550'000, 777'777, taps - 1}, at_x{0, 1000, 200'000, n - 1};
    for (const Index k : at_h)
        h[k] = 1 + static_cast<double>(k) / taps;
    for (const Index i : at_x)
        x[i] = 2 - static_cast<double>(i) / n;
    Problem p = problem(n, h);
    p.mode = Mode::full;
    const Job job = job_of(p, x);
    const auto stage = fft(p);
    const auto result = run_all(*stage, job, one);
    Samples want(static_cast<std::size_t>(n + taps - 1), 0);
    for (const Index k : at_h)
        for (const Index i : at_x)
            want[k + i] += static_cast<double>(static_cast<float>(x[i])) * h[k];
    double off = 0;
    Index not_zero = 0;
    for (Index i = 0; i < n + taps - 1; ++i) {
        const double got = value(*stage, result, 0, i, 0);
        off = std::max(off, std::abs(got - want[i]));
        not_zero += want[i] == 0 && got != 0;
    }
    CHECK(off <= bound(p) * 1.0);
    CHECK(not_zero == 0);
}

TEST_CASE("ordinary samples go through float32, and what cannot is counted") {
    const Index n = 200'000;
    const auto facts = [&](const Samples& x, Index taps) {
        const Job job = job_of(problem(n, lowpass(taps, 0.05)), x);
        auto stage = fft(job.problem);
        run_all(*stage, job, one);
        return stage;
    };
    for (const Index taps : {255, 1001, 10001}) {
        const auto stage = facts(noise(n), taps);
        CHECK(fact(*stage, "blocks_total") > 0);
        CHECK(fact(*stage, "blocks_float64") == 0);
    }
    Samples faint = noise(n);
    for (Index i = 0; i < n; ++i)
        if (i % 40'000 > 300) faint[i] *= 1e-5;
    const auto mixed = facts(faint, 1001);
    CHECK(fact(*mixed, "blocks_float64") > 0);
    CHECK(fact(*mixed, "blocks_float64") < fact(*mixed, "blocks_total"));
    Samples click(static_cast<std::size_t>(n), 0);
    click[100'000] = 1;
    const auto lone = facts(click, 1001);
    CHECK(fact(*lone, "blocks_float64") + fact(*lone, "blocks_direct") > 0);
    CHECK(fact(*lone, "blocks_float64") <= 4);
}

TEST_CASE("NaN and Inf spoil the outputs that use them, and the others keep the bound") {
    constexpr Index n = 20'000;
    const double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    for (const SampleType type : {SampleType::float32, SampleType::float64})
        for (const Index decimate : {1, 4}) {
            Samples x = noise(n);
            const std::vector<Index> bad{0, 3000, 3001, 9999, n - 1};
            Samples clean = x;
            for (const Index i : bad) {
                x[i] = i == 3000 ? inf : i == 9999 ? -inf : nan;
                clean[i] = 0;
            }
            const Problem p = problem(n, lowpass(301, 0.05), type, decimate);
            const Job job = job_of(p, x), without = job_of(p, clean);
            const auto stage = fft(p);
            const auto result = run_all(*stage, job, one);
            const Expected want = expect(p, without.lane(0, 0));
            Index wrong = 0, infinite = 0;
            for (Index i = 0; i < stage->shape().frames; ++i) {
                const double got = value(*stage, result, 0, i, 0);
                const bool used = std::any_of(bad.begin(), bad.end(),
                                              [&](Index b) { return std::abs(b - i * decimate) <= 150; });
                if (used)
                    wrong += std::isfinite(got);
                else
                    wrong += !(std::abs(got - want.y[i]) <= bound(p) * want.terms[i]);
                infinite += std::isinf(got);
            }
            CHECK(wrong == 0);
            CHECK(infinite > 0);
        }
}

TEST_CASE("any whole blocks, in any order, with any threads, give the same bits") {
    constexpr Index n = 150'000;
    Samples x = signals(n)[2].values;
    x[77'000] = std::numeric_limits<double>::quiet_NaN();
    for (const Index taps : {100, 1001, 9000})
        for (const Index decimate : {1, 7, 12}) {
            Problem p = problem(n, lowpass(taps, 0.03), SampleType::float32, decimate);
            p.padding = Padding::reflect;
            const Job job = job_of(p, x);
            const auto stage = fft(p);
            const auto whole = run_all(*stage, job, one);
            const Index outputs = stage->shape().frames,
                        blocks = (outputs + stage->block() - 1) / stage->block();
            std::mt19937 random(4);
            const tbb::global_control alone(tbb::global_control::max_allowed_parallelism, 1);
            const auto other = fft(p);
            for (int again = 0; again < 12; ++again) {
                const Index first = static_cast<Index>(random() % static_cast<unsigned>(blocks));
                const Index last =
                    first + 1 + static_cast<Index>(random() % static_cast<unsigned>(blocks - first));
                const Span span{first * stage->block(),
                                std::min(last * stage->block(), outputs) - first * stage->block()};
                const auto part = run_span(again % 2 ? *other : *stage, job, span, one, again % 3 == 0);
                CHECK(std::memcmp(part.data(), whole.data() + span.first * 4, part.size()) == 0);
            }
        }
}

TEST_CASE("auto takes sums for short filters, transforms for long ones, and tells what it thought") {
    const device::Device cpu = device::cpu();
    const auto taken = [&](Index taps) {
        return choose("auto", problem(1'000'000, lowpass(taps, 0.1)), cpu);
    };
    CHECK(taken(9).strategy->name == "direct");
    CHECK(taken(31).strategy->name == "direct");
    CHECK(taken(1001).strategy->name == "fft");
    CHECK(taken(65535).strategy->name == "fft");
    const std::vector<Modelled> rows = modelled(problem(1000, lowpass(1001, 0.1)), cpu);
    for (const Modelled& row : rows) {
        CHECK(row.cannot == "");
        CHECK(row.seconds.has_value() == (row.strategy->name != "reference"));
        CHECK((row.transform_length >= 2048) == (row.strategy->name == "fft"));
    }
    // No block keeps one output in a hundred million.
    Problem sparse = problem(1000, lowpass(1001, 0.1));
    sparse.decimate = 100'000'000;
    CHECK(choose("auto", sparse, cpu).strategy->name == "direct");
    CHECK_THROWS_WITH(choose("fft", sparse, cpu), containing("decimating by 100000000"));
}

TEST_CASE("a calibration decides what auto takes, and this machine's can be measured") {
    const cpu_cost::Calibration shipped = cpu_cost::calibration();
    cpu_cost::Calibration slow = shipped;
    for (double& ns : slow.transform32_ns)
        ns *= 100;
    cpu_cost::set_calibration(slow);
    CHECK(choose("auto", problem(1'000'000, lowpass(1001, 0.1)), device::cpu()).strategy->name == "direct");
    const cpu_cost::Calibration measured = cpu_cost::measure_calibration();
    cpu_cost::set_calibration(shipped);
    CHECK(measured.direct_flops > 1e8);
    CHECK(measured.memory_bytes > 1e8);
    CHECK(measured.look_ns > 0);
    CHECK(measured.slide_ns > measured.look_ns);
    CHECK(measured.pass_ns >= 0);
    for (const auto* table : {&measured.transform32_ns, &measured.transform64_ns})
        for (const double ns : *table)
            CHECK((ns > 0.01 && ns < 1e4));
}
