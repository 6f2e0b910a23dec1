// Long averages, learnt in one pass, are those of columns whose samples are all there at once.
#include "core/spectrum/long_average.hpp"

#include "tests/core/spectrum/judge.hpp"

using namespace convoy;
using namespace convoy::spectrum;
using namespace convoy::spectrum::judge;

namespace {

// What the stage gives after windows of so many frames, lanes [inner, inner + inner_count) at a time.
std::vector<double> learnt(const Problem& p, const std::vector<float>& samples, Index frames,
                           Index inner_count) {
    const auto stage = plan_long_average(p, device::cpu());
    CHECK(stage->learns());
    for (Index inner = 0; inner < p.shape.inner; inner += inner_count)
        for (Index at = 0; at < p.shape.frames; at += frames) {
            const Span span{at, std::min(frames, p.shape.frames - at)};
            const Index n = std::min(inner_count, p.shape.inner - inner);
            std::vector<float> part;
            for (Index o = 0; o < p.shape.outer; ++o)
                for (Index f = span.first; f < span.end(); ++f)
                    for (Index i = 0; i < n; ++i)
                        part.push_back(samples[static_cast<std::size_t>(
                            (o * p.shape.frames + f) * p.shape.inner + inner + i)]);
            const Window in{reinterpret_cast<std::byte*>(part.data()),
                            SampleType::float32,
                            span,
                            p.shape.outer,
                            n,
                            span.count};
            stage->learn(in, span, {0, p.shape.outer, inner, n});
        }
    const Shape shape = stage->shape();
    std::vector<float> result(static_cast<std::size_t>(shape.samples()));
    const Window out{reinterpret_cast<std::byte*>(result.data()),
                     SampleType::float32,
                     {0, shape.frames},
                     shape.outer,
                     shape.inner,
                     shape.frames};
    device::Stream stream;
    stage->run({}, out, Lanes::all(p.shape), stream);
    CHECK(stage->needed({0, shape.frames}).count <= stage->needed_at_most(shape.frames));
    return {result.begin(), result.end()};
}

}  // namespace

TEST_CASE("long averages in pieces are those with all samples in memory") {
    for (const Average::Kind kind : {Average::Kind::mean, Average::Kind::max})
        for (const Padding padding : {Padding::zero, Padding::reflect, Padding::odd, Padding::edge})
            for (const Shape shape : {Shape{1, 5000, 1}, Shape{2, 3100, 1}, Shape{1, 2900, 6}}) {
                Problem p = problem_for(shape.frames, "hann", 200, 256, 50);
                p.shape = shape;
                p.in = SampleType::float32;
                p.arithmetic = SampleType::float32;
                p.centered = padding != Padding::zero;
                p.padding = padding;
                p.average = Average{kind, 13, 0};
                if (padding == Padding::edge) p.decibels = Decibels{};
                std::vector<float> x = to_float(noise_of(shape.samples()));
                x[static_cast<std::size_t>(shape.samples() / 3)] = NAN;
                const std::vector<double> whole = run(p, x);
                for (const Index frames : {7, 333, 5000})
                    CHECK(same_bits(learnt(p, x, frames, shape.inner), whole));
                CHECK(same_bits(learnt(p, x, 900, 2), whole));
            }
}

TEST_CASE("averages are long where the samples of a column are many") {
    Problem p = problem_for(Index{1} << 28, "hann", 1024, 1024, 256);
    p.in = SampleType::int16;
    p.average = Average{Average::Kind::mean, 1000, 0};
    CHECK(!is_long_average(p));
    CHECK(!plan(p, device::cpu())->learns());
    p.average->frames = 675000;  // an hour at 48 kHz
    CHECK(is_long_average(p));
    CHECK(plan(p, device::cpu())->learns());
    p.average->kind = Average::Kind::percentile;
    CHECK(!is_long_average(p));
    CHECK_THAT(message_of(p), containing("at most 512 MiB are held"));
    p.average->frames = 100;
    p.shape = {1, Index{1} << 28, 100000};
    CHECK_THAT(message_of(p), containing("of samples, and at most 512 MiB are held"));
}
