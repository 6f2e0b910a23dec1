// What the strategies of the CPU and of the GPU are asked alike: the jobs, and what must be true of their
// results.
#pragma once

#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/core/conv1d/judge.hpp"

namespace convoy::conv1d::judge {

inline constexpr Mode every_mode[] = {Mode::same, Mode::full, Mode::valid};
inline constexpr Padding every_padding[] = {Padding::zero, Padding::reflect, Padding::edge, Padding::odd};

inline Problem problem(Shape shape, Mode mode = Mode::same, Padding padding = Padding::zero,
                       Index decimate = 1) {
    Problem p;
    p.shape = shape;
    p.mode = mode;
    p.padding = padding;
    p.decimate = decimate;
    return p;
}

/// Calls f(strategy, stage) for each strategy that can do the problem on the device.
template <class F>
void each_strategy(const Problem& p, const device::Device& device, F&& f) {
    check(p);
    int done = 0;
    for (const Strategy* s : catalog()) {
        if (s->backend != device.backend || !s->unsupported(p, device).empty()) continue;
        const std::unique_ptr<Stage> stage = plan(p, *s, device);
        INFO(s->name << ": " << describe(p));
        f(*s, *stage);
        ++done;
    }
    REQUIRE(done > 0);
}

/// Calls f(job) for short signals of every length, mode and padding.
template <class F>
void each_length(F&& f) {
    for (const Index n : {1, 2, 7, 64, 301})
        for (const Index taps : {1, 2, 3, 8, 17, 64, 129, 400})
            for (const Mode mode : every_mode)
                for (const Padding padding : every_padding)
                    if (mode != Mode::valid || taps <= n)
                        f(make_job(problem({1, n, 1}, mode, padding), taps, static_cast<unsigned>(n)));
}

/// Calls f(job) for every layout, type of samples and of sums, and scaling; for complex samples last.
template <class F>
void each_layout(F&& f) {
    const SampleType types[] = {SampleType::int16, SampleType::int32, SampleType::float32,
                                SampleType::float64};
    for (const Shape shape : {Shape{1, 90, 1}, Shape{1, 90, 2}, Shape{5, 90, 1}, Shape{1, 40, 37},
                              Shape{3, 33, 8}, Shape{2, 25, 300}, Shape{300, 25, 1}})
        for (const SampleType in : types)
            for (const SampleType arithmetic : {SampleType::float32, SampleType::float64})
                for (int scaling = 0; scaling < 3; ++scaling) {
                    Problem p = problem(shape, Mode::same, Padding::odd);
                    p.in = in;
                    p.arithmetic = arithmetic;
                    if (scaling == 1) p.scaling.gain = {0x1p-15};
                    if (scaling == 2)
                        for (Index c = 0; c < shape.lanes(); ++c) {
                            p.scaling.gain.push_back(0.1 * static_cast<double>(c + 1));
                            p.scaling.offset.push_back(0.3 * static_cast<double>(c) - 20);
                        }
                    f(make_job(p, 13));
                }
    Problem p = problem({2, 50, 6}, Mode::same, Padding::reflect);
    p.complex = true;
    p.scaling.gain = {1, 2, 3, 4, 5, 6};  // of each channel, for its real and its imaginary part
    f(make_job(p, 9));
}

/// Whether the results of the last lane alone are those of that lane among all.
inline bool last_lane_is(const std::vector<std::byte>& alone, const Stage& stage,
                         const std::vector<std::byte>& all) {
    const Shape s = stage.shape();
    const Index bytes = bytes_of(stage.type());
    bool same = true;
    for (Index f = 0; f < s.frames; ++f)
        same =
            same && std::memcmp(alone.data() + f * bytes,
                                all.data() + (((s.outer - 1) * s.frames + f) * s.inner + s.inner - 1) * bytes,
                                static_cast<std::size_t>(bytes)) == 0;
    return same;
}

/// The job with NaN and Inf here and there in its first lane.
inline Job spoiled(Job job, Index infinite, const std::vector<Index>& nans) {
    for (const Index at : nans)
        job.set(0, at, 0, std::numeric_limits<double>::quiet_NaN());
    job.set(0, infinite, 0, std::numeric_limits<double>::infinity());
    return job;
}

/// Outputs of a spoiled job that are finite where they use what is not, or are not (or break the bound) where
/// they do not.
inline Index wrongly_spoiled(const Stage& stage, const Job& job, const std::vector<std::byte>& got) {
    const Expected e = expect(job.problem, job.lane(0, 0));
    Index wrong = 0;
    for (std::size_t f = 0; f < e.y.size(); ++f) {
        const double v = value(stage, got, 0, static_cast<Index>(f), 0);
        const bool bad = !std::isfinite(e.y[f]) || !std::isfinite(e.terms[f]);
        wrong += bad != !std::isfinite(v) || (!bad && std::abs(v - e.y[f]) > bound(job.problem) * e.terms[f]);
    }
    for (Index lane = 1; lane < job.problem.shape.inner; ++lane)
        for (Index f = 0; f < stage.shape().frames; ++f)
            wrong += !std::isfinite(value(stage, got, 0, f, lane));
    return wrong;
}

/// The job with zeros everywhere but in the samples of `burst`.
inline Job silent_but(Job job, Span burst) {
    for (Index f = 0; f < job.problem.shape.frames; ++f)
        if (f < burst.first || f >= burst.end()) job.set(0, f, 0, 0);
    return job;
}

/// Outputs that are not exactly zero though their windows are.
inline Index not_zero(const Stage& stage, const Job& job, const std::vector<std::byte>& got) {
    const Expected e = expect(job.problem, job.lane(0, 0));
    Index wrong = 0;
    for (std::size_t f = 0; f < e.y.size(); ++f)
        wrong += e.terms[f] == 0 && value(stage, got, 0, static_cast<Index>(f), 0) != 0;
    return wrong;
}

/// Checks that outputs which use no padding have the same bits with any; run(stage, job) gives all results.
template <class Run>
void check_padding_leaves_the_rest(const device::Device& device, const std::vector<Shape>& shapes,
                                   const std::vector<Index>& lengths, Run&& run) {
    for (const Shape& shape : shapes)
        for (const Index taps : lengths) {
            const Job job = make_job(problem(shape), taps);
            each_strategy(job.problem, device, [&](const Strategy& s, Stage& stage) {
                const std::vector<std::byte> with_zeros = run(stage, job);
                const Index edge = taps * shape.inner * bytes_of(stage.type());
                for (const Padding padding : every_padding) {
                    Problem p = job.problem;
                    p.padding = padding;
                    const std::vector<std::byte> other = run(*plan(p, s, device), job);
                    CHECK(
                        std::equal(with_zeros.begin() + edge, with_zeros.end() - edge, other.begin() + edge));
                }
            });
        }
}
}  // namespace convoy::conv1d::judge
