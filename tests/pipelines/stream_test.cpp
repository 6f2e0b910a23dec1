// The stream gives the same bits however it is cut, within the memory that it is given.
#include "pipelines/stream.hpp"

#include <random>

#include "core/conv1d/conv1d.hpp"
#include "tests/catch.hpp"
#include "tests/pipelines/memory_files.hpp"

namespace convoy {

namespace {

using pipelines::Chain;

std::vector<float> noise(Index count) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> samples(static_cast<std::size_t>(count));
    for (float& x : samples)
        x = normal(random);
    return samples;
}

std::unique_ptr<Stage> filter(Shape shape, Index taps, Index decimate, Padding padding, conv1d::Mode mode) {
    conv1d::Problem p;
    for (Index k = 0; k < taps; ++k)
        p.taps.push_back(1.0 / static_cast<double>(k + 1));
    p.mode = mode;
    p.padding = padding;
    p.decimate = decimate;
    p.shape = shape;
    conv1d::check(p);
    return conv1d::plan(p, conv1d::catalog().at("reference"), device::cpu());
}

struct Result {
    std::vector<float> samples;
    pipelines::StreamReport report;
};

Result run(Shape shape, const Chain& chain, Span wanted, Index chunk, std::size_t memory) {
    test::MemoryReader<float> reader(shape, noise(shape.samples()));
    Shape out = chain.back()->shape();
    out.frames = wanted.count;
    test::MemoryWriter<float> writer(out);
    pipelines::StreamOptions options;
    options.device = device::cpu();
    options.memory = memory::choose("host", options.device).mode;
    options.chunk_frames = chunk;
    options.memory_limit = memory;
    options.hash = true;
    Result result{{}, run_stream(reader, chain, wanted, writer, options)};
    result.samples = writer.samples();
    return result;
}

constexpr std::size_t plenty = std::size_t{64} << 20;

}  // namespace

TEST_CASE("the result does not depend on the chunk or the groups") {
    const Shape shape = GENERATE(Shape{1, 1000, 3}, Shape{5, 777, 1}, Shape{1, 1, 2}, Shape{2, 300, 2});
    const Padding padding = GENERATE(Padding::zero, Padding::reflect, Padding::edge, Padding::odd);
    const auto mode = GENERATE(conv1d::Mode::same, conv1d::Mode::full);
    const Index decimate = GENERATE(1, 3);
    Chain chain;
    chain.push_back(filter(shape, 31, decimate, padding, mode));
    const Span all{0, chain.back()->shape().frames};
    const Result whole = run(shape, chain, all, all.count, plenty);
    for (const Index chunk : {1, 7, 31, 64, 500}) {
        const Result cut = run(shape, chain, all, chunk, plenty);
        CHECK(cut.samples == whole.samples);
        CHECK(cut.report.hash == whole.report.hash);
    }
    const Result grouped = run(shape, chain, all, 7, 1);  // as little memory as can be
    CHECK(grouped.samples == whole.samples);
    CHECK(grouped.report.hash == whole.report.hash);
    if (shape.lanes() > 2) CHECK(grouped.report.passes > 1);
}

TEST_CASE("a part is that part of the whole result") {
    const Shape shape{1, 900, 2};
    Chain chain;
    chain.push_back(filter(shape, 51, 1, Padding::reflect, conv1d::Mode::same));
    const Result whole = run(shape, chain, {0, 900}, 0, plenty);
    const Result part = run(shape, chain, {300, 400}, 64, plenty);
    CHECK(part.samples == std::vector<float>(whole.samples.begin() + 600, whole.samples.begin() + 1400));
}

TEST_CASE("two steps in one pass equal the steps one after the other") {
    const Shape shape{3, 2000, 1};
    Chain first;
    first.push_back(filter(shape, 40, 2, Padding::zero, conv1d::Mode::same));
    const Shape between = first.front()->shape();
    const Result once = run(shape, first, {0, between.frames}, 0, plenty);

    Chain second;
    second.push_back(filter(between, 25, 1, Padding::odd, conv1d::Mode::same));
    test::MemoryReader<float> reader(between, once.samples);
    test::MemoryWriter<float> writer(second.front()->shape());
    pipelines::StreamOptions options;
    options.device = device::cpu();
    options.memory = memory::choose("host", options.device).mode;
    run_stream(reader, second, {0, between.frames}, writer, options);

    first.push_back(filter(between, 25, 1, Padding::odd, conv1d::Mode::same));
    const Index chunk = GENERATE(0, 1, 13, 100);
    CHECK(run(shape, first, {0, between.frames}, chunk, plenty).samples == writer.samples());
}

TEST_CASE("each sample is read once in one pass") {
    const Shape shape{1, 10000, 1};
    Chain chain;
    chain.push_back(filter(shape, 101, 1, Padding::zero, conv1d::Mode::same));
    test::MemoryReader<float> reader(shape, noise(shape.samples()));
    test::MemoryWriter<float> writer(shape);
    pipelines::StreamOptions options;
    options.device = device::cpu();
    options.memory = memory::choose("host", options.device).mode;
    options.chunk_frames = 128;
    const auto report = run_stream(reader, chain, {0, 10000}, writer, options);
    CHECK(reader.frames_read() == 10000);
    CHECK(report.chunks == 79);
    CHECK(report.input.front().finite == 10000);
    CHECK(report.output.front().finite == 10000);
}

TEST_CASE("memory is bounded by the limit, whatever the signal") {
    for (const Shape shape :
         {Shape{1, Index{1} << 40, 2}, Shape{4096, Index{1} << 32, 1}, Shape{1, 1 << 20, 10000}}) {
        Chain chain;
        chain.push_back(filter(shape, 255, 1, Padding::zero, conv1d::Mode::same));
        pipelines::CutRequest request;
        request.wanted = {0, shape.frames};
        const auto cuts = pipelines::cut(chain, shape, SampleType::float32, request);
        CHECK(cuts.total_bytes() <= request.memory_limit);
        CHECK(cuts.chunk_frames > 255);
    }
}

}  // namespace convoy
