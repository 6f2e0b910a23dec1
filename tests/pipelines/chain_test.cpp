// Steps in one pass through the stream, cut in chunks with halos, against the same steps on whole signals.
#include <cmath>
#include <cstring>

#include "pipelines/chunks.hpp"
#include "pipelines/step.hpp"
#include "pipelines/stream.hpp"
#include "tests/catch.hpp"
#include "tests/pipelines/memory_files.hpp"

using namespace convoy;
using namespace convoy::pipelines;

namespace {

std::vector<float> noise(Index n) {
    std::vector<float> x(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
        x[static_cast<std::size_t>(i)] =
            static_cast<float>((i * 7919 + i % 1000 * i * 104729 + i / 7 * 31) % 65536 - 32768) / 32768.0f;
    return x;
}

Flow flow_for(Shape shape) {
    Flow f;
    f.label = "memory";
    f.dims = {shape.outer, shape.frames, shape.inner};
    f.time_axis = 1;
    f.shape = shape;
    f.rate = 8000;
    f.axes = {{"channel", "", 0, 1, {}}, {"time", "s", 0, 1.0 / 8000, {}}, {"part", "", 0, 1, {}}};
    return f;
}

using Words = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<Stage> stage_of(std::string_view name, const Words& words, Flow& flow) {
    const Step& step = step::catalog().at(name);
    Params params({step.params.begin(), step.params.end()});
    for (const auto& [key, value] : words)
        params.set(key, value);
    Execution execution;
    execution.device = device::cpu();
    return std::move(step.plan(params, flow, execution).stage);
}

std::vector<float> streamed(const Chain& chain, Shape shape, const std::vector<float>& samples, Index chunk,
                            Span wanted) {
    test::MemoryReader<float> reader(shape, samples);
    Shape out = chain.back()->shape();
    out.frames = wanted.count;
    test::MemoryWriter<float> writer(out);
    StreamOptions options;
    options.device = device::cpu();
    options.memory = &memory::catalog().at("host");
    options.chunk_frames = chunk;
    run_stream(reader, chain, wanted, writer, options);
    return writer.samples();
}

}  // namespace

TEST_CASE("filter, decimate and spectrogram in one pass equal the steps one after the other") {
    for (const Shape shape : {Shape{1, 30000, 1}, Shape{3, 20001, 1}, Shape{1, 20001, 5}})
        for (const Words& how : {Words{{"nfft", "256"}, {"hop", "50"}, {"db", ""}, {"db-floor", "-150"}},
                                 Words{{"nfft", "100"}, {"center", ""}, {"padding", "odd"}},
                                 Words{{"nfft", "256"}, {"average", "100ms"}, {"frequency-scale", "log"}}}) {
            const auto samples = noise(shape.samples());
            const Words band{{"lowpass", "1000"}, {"numtaps", "301"}, {"decimate", "3"}};
            Flow flow = flow_for(shape);
            Chain filter, spectrogram, both;
            filter.push_back(stage_of("filter", band, flow));
            const Shape between = flow.shape;
            spectrogram.push_back(stage_of("spectrogram", how, flow));
            const Index frames = flow.shape.frames;
            const auto filtered = streamed(filter, shape, samples, 0, {0, between.frames});
            const auto expected = streamed(spectrogram, between, filtered, 0, {0, frames});

            Flow again = flow_for(shape);
            both.push_back(stage_of("filter", band, again));
            both.push_back(stage_of("spectrogram", how, again));
            for (const Index chunk : {0, 1, 7}) {
                const auto got = streamed(both, shape, samples, chunk, {0, frames});
                REQUIRE(got.size() == expected.size());
                CHECK(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0);
            }
            const Span part{frames / 3, frames / 2};
            const auto got = streamed(both, shape, samples, 5, part);
            const Index rows = both.back()->shape().outer;
            for (Index r = 0; r < rows; ++r)
                REQUIRE(std::memcmp(got.data() + r * part.count, expected.data() + r * frames + part.first,
                                    static_cast<std::size_t>(part.count) * sizeof(float)) == 0);
        }
}
