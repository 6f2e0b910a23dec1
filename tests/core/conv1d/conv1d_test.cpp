// Every 1-D strategy of the catalogue that runs on the CPU, against the formula written out.
#include "core/conv1d/conv1d.hpp"

#include <tbb/global_control.h>

#include "tests/core/conv1d/cases.hpp"

using namespace convoy;
using namespace convoy::conv1d;
using namespace convoy::conv1d::judge;

namespace {

template <class F>
void each(const Problem& p, F&& f) {
    each_strategy(p, device::cpu(), f);
}

void check_accuracy(const Job& job) {
    each(job.problem, [&](const Strategy&, Stage& stage) {
        CHECK(stage.type() == job.problem.arithmetic);
        const auto result = run_all(stage, job, Lanes::all(job.problem.shape));
        CHECK(worst(stage, job, result) == "");
    });
}

}  // namespace

TEST_CASE("every strategy keeps the bound over lengths, modes and paddings") {
    each_length(check_accuracy);
}

TEST_CASE("every strategy keeps the bound when decimating") {
    for (const Index n : {1, 30, 1000})
        for (const Index taps : {1, 6, 31, 150})
            for (const Index decimate : {2, 3, 4, 7, 40, 1500})
                for (const Mode mode : every_mode)
                    if (mode != Mode::valid || taps <= n)
                        check_accuracy(make_job(problem({1, n, 1}, mode, Padding::reflect, decimate), taps));
}

TEST_CASE("every strategy takes any layout, type and scaling, and filters real and imaginary part alike") {
    each_layout(check_accuracy);
}

TEST_CASE("every strategy keeps the bound with long filters on samples far from zero") {
    for (const Index taps : {256, 1023, 4096, 20000}) {
        Problem p = problem({1, 3000, 1}, Mode::same, Padding::edge);
        for (Index k = 0; k < taps; ++k)
            p.taps.push_back(1.0 / static_cast<double>(taps));
        check_accuracy(make_job(p, taps, 5, 1000.0));
    }
}

TEST_CASE("no samples and taps are bad enough to break the bound") {
    for (const Index taps : {20, 27, 31, 46, 63, 100, 129, 255, 600, 3000})
        for (const bool last : {false, true})
            for (const Index decimate : {1, 3}) {
                // Each of the small terms falls just short of half a unit in the last place of a sum begun
                // by 1.
                Problem p = problem({1, 200, 1}, Mode::same, Padding::edge, decimate);
                p.taps.assign(static_cast<std::size_t>(taps), 0x1.fffp-25);
                (last ? p.taps.back() : p.taps.front()) = 1;
                Job job = make_job(p, taps);
                for (Index f = 0; f < 200; ++f)
                    job.set(0, f, 0, 1);
                check_accuracy(job);
                // Equal terms: their errors have one sign.
                p.taps.assign(static_cast<std::size_t>(taps), 1.0 / static_cast<double>(taps));
                job.problem = p;
                for (Index f = 0; f < 200; ++f)
                    job.set(0, f, 0, 0.7);
                check_accuracy(job);
            }
}

TEST_CASE("chunks, threads and channel groups leave the bits as they are") {
    for (const Shape shape : {Shape{1, 30011, 1}, Shape{1, 5003, 3}, Shape{4, 5003, 1}, Shape{2, 1009, 20}})
        for (const Index taps : {1, 18, 63, 300})
            for (const Index decimate : {1, 4, 5}) {
                Problem p = problem(shape, taps == 63 ? Mode::valid : Mode::full, Padding::odd, decimate);
                if (shape.inner > 1) p.in = SampleType::int16;
                for (Index c = 0; shape.lanes() > 1 && c < shape.lanes(); ++c)
                    p.scaling.gain.push_back(0.37 + static_cast<double>(c));
                const Job job = make_job(p, taps);
                each(job.problem, [&](const Strategy& strategy, Stage& stage) {
                    const Lanes all = Lanes::all(shape);
                    const auto whole = run_all(stage, job, all);
                    for (const Index chunk : {1, 100, 1001, 7777})
                        if (stage.shape().frames / chunk < 2000)
                            CHECK(run_all(stage, job, all, chunk) == whole);
                    // Windows may hold more than is needed, ahead of the last block too.
                    CHECK(run_all(stage, job, all, 3000, true) == whole);
                    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
                    const auto alone = plan(job.problem, strategy, device::cpu());
                    CHECK(run_all(*alone, job, all, 2048) == whole);
                    // The last lane on its own, as a pass over a group of channels.
                    const Lanes last{shape.outer - 1, 1, shape.inner - 1, 1};
                    CHECK(last_lane_is(run_all(stage, job, last, 999), stage, whole));
                });
            }
}

TEST_CASE("outputs that use no padding are the same, to the bit, with any") {
    check_padding_leaves_the_rest(
        device::cpu(), {{1, 900, 1}, {1, 900, 3}}, {2, 31, 200},
        [](Stage& stage, const Job& job) { return run_all(stage, job, Lanes::all(job.problem.shape)); });
}

TEST_CASE("needed() is within needed_at_most()") {
    for (const Index n : {1, 10, 500})
        for (const Index taps : {1, 7, 40})
            for (const Index decimate : {1, 3})
                for (const Padding padding : every_padding) {
                    const Job job = make_job(problem({1, n, 1}, Mode::full, padding, decimate), taps);
                    each(job.problem, [&](const Strategy&, Stage& stage) {
                        const Index block = stage.block(), total = stage.shape().frames;
                        for (Index first = 0; first < total; first += block)
                            for (Index count = 1; count <= total - first; ++count)
                                if (const Span out{first, count}; count % block == 0 || out.end() == total) {
                                    const Span need = stage.needed(out);
                                    const bool fits = need.count <= stage.needed_at_most(count) &&
                                                      need.first >= 0 && need.end() <= n;
                                    if (!fits) CHECK(fits);
                                }
                    });
                }
}

TEST_CASE("NaN and Inf spoil the outputs that use them and no other") {
    for (const Index inner : {1, 3})
        for (const Index taps : {1, 5, 30, 33, 127, 300})
            for (const Index decimate : {1, 3})
                for (const Padding padding : {Padding::zero, Padding::odd}) {
                    const Problem p = problem({1, 2000, inner}, Mode::same, padding, decimate);
                    const Job job = spoiled(make_job(p, taps), 700, {0, 1301, 1999});
                    each(job.problem, [&](const Strategy&, Stage& stage) {
                        const auto got = run_all(stage, job, Lanes::all(p.shape), 512);
                        CHECK(wrongly_spoiled(stage, job, got) == 0);
                    });
                }
}

TEST_CASE("direct sums of terms that cancel in a burst leave the faint rest as exact as float32 can be") {
    const Index n = 5000;
    for (const Index taps : {31, 65, 300})
        for (const Index decimate : {1, 3}) {
            Job job = make_job(problem({1, n, 1}, Mode::same, Padding::zero, decimate), taps);
            for (Index f = 0; f < n; ++f)
                job.set(0, f, 0,
                        1e-4 * std::sin(0.7 * static_cast<double>(f)) +
                            (f / 16 == 125 ? 1e8 * std::cos(3.0 * static_cast<double>(f)) : 0));
            std::vector<double> x;
            for (Index f = 0; f < n; ++f)
                x.push_back(job.sample(0, f, 0));
            const Expected right = expect(job.problem, x);
            each(job.problem, [&](const Strategy& s, Stage& stage) {
                if (s.name == "fft") return;  // promises the bound, and no more
                const auto result = run_all(stage, job, Lanes::all(job.problem.shape), 64);
                double worst_share = 0;
                for (Index i = 0; i < stage.shape().frames; ++i) {
                    const double y = right.y[static_cast<std::size_t>(i)];
                    worst_share = std::max(worst_share, std::abs(value(stage, result, 0, i, 0) - y) /
                                                            (1e-6 + 1e-6 * std::abs(y)));
                }
                CHECK(worst_share < 1);
            });
        }
}

TEST_CASE("a window of zeros gives exactly zero beside a burst") {
    for (const Index taps : {3, 40, 129, 511}) {
        const Job job = silent_but(make_job(problem({1, 6000, 1}), taps), {2900, 100});
        each(job.problem, [&](const Strategy&, Stage& stage) {
            const auto got = run_all(stage, job, Lanes::all(job.problem.shape));
            CHECK(not_zero(stage, job, got) == 0);
            CHECK(worst(stage, job, got) == "");
        });
    }
}

TEST_CASE("a filter of one 1 shifts the signal, to the bit") {
    for (const Index taps : {1, 5, 16, 33, 64, 100})
        for (Index at = 0; at < taps; at += 1 + taps / 9) {
            Problem p = problem({1, 700, 1}, Mode::full);
            p.taps.assign(static_cast<std::size_t>(taps), 0);
            p.taps[static_cast<std::size_t>(at)] = 1;
            const Job job = make_job(p, taps);
            each(job.problem, [&](const Strategy& strategy, Stage& stage) {
                if (strategy.name == "fft") return;  // exact only within its bound
                const auto got = run_all(stage, job, Lanes::all(p.shape));
                Index wrong = 0;
                for (Index f = 0; f < 700; ++f)
                    wrong += value(stage, got, 0, f + at, 0) != job.sample(0, f, 0);
                CHECK(wrong == 0);
            });
        }
}
