// Many images, images too high and too many filters go through the stream in groups: memory stays bounded,
// the bits are the same, and each sample counts once.
#include <numeric>

#include "pipelines/stream.hpp"
#include "tests/catch.hpp"
#include "tests/core/conv2d/plane_cases.hpp"
#include "tests/pipelines/memory_files.hpp"

namespace convoy {

namespace {

using namespace conv2d;
using namespace conv2d::judge;
using pipelines::Chain;

std::unique_ptr<Stage> planned(const Problem& p) {
    check(p);
    return plan(p, *choose("auto", p, device::cpu()).strategy, device::cpu());
}

struct Result {
    std::vector<float> samples;
    pipelines::StreamReport report;
};

// `group`: pieces at a time; 0: chosen, within `memory`.
Result run(const Job& job, const Chain& chain, Index group, std::size_t memory) {
    test::MemoryReader<std::int16_t> reader(job.problem.in_shape(), [&] {
        std::vector<std::int16_t> samples(job.stored.size() / 2);
        std::memcpy(samples.data(), job.stored.data(), job.stored.size());
        return samples;
    }());
    const Shape out = chain.back()->shape();
    test::MemoryWriter<float> writer(out);
    pipelines::StreamOptions options;
    options.device = device::cpu();
    options.memory = memory::choose("host", options.device).mode;
    options.group = group;
    options.memory_limit = memory;
    if (group > 0) options.chunk_frames = out.frames;
    auto report = run_stream(reader, chain, {0, out.frames}, writer, options);
    return {writer.samples(), std::move(report)};
}

Index counted(const std::vector<stats::Level>& levels) {
    return std::accumulate(levels.begin(), levels.end(), Index{0},
                           [](Index sum, const stats::Level& l) { return sum + l.finite; });
}

constexpr std::size_t plenty = std::size_t{1} << 40;

}  // namespace

TEST_CASE("groups of images, bands and filters give the bits of all at once, and count samples once") {
    for (const PlaneCase& c : plane_cases()) {
        if (c.plain) continue;  // the reader has 16 bits
        Job job = plane_job(c, {1, 1});
        INFO(describe(job.problem));
        Chain chain;
        chain.push_back(planned(job.problem));
        const Index pieces = chain.back()->pieces();
        const Result whole = run(job, chain, pieces, plenty);
        CHECK(whole.report.passes == 1);
        for (const Index group : {Index{1}, Index{2}}) {
            const Result parts = run(job, chain, group, plenty);
            CHECK(parts.report.passes == (pieces + group - 1) / group);
            CHECK(parts.samples == whole.samples);
            CHECK(counted(parts.report.output) == counted(whole.report.output));
        }
        const Result tight = run(job, chain, 0, 200'000);
        if (job.stored.size() > 200'000) CHECK(tight.report.passes > 1);
        CHECK(tight.samples == whole.samples);
    }
}

TEST_CASE("floating-point samples that several groups read are counted once") {
    Problem p;
    p.extent = {270'000, 3};
    p.taps = {5, 3};
    p.filters = 2;
    p.kernel = numbers(30, 1);
    Chain chain;
    chain.push_back(planned(p));
    test::MemoryReader<float> reader(p.in_shape(), std::vector<float>(270'000 * 3, 0.5f));
    test::MemoryWriter<float> writer(chain.back()->shape());
    pipelines::StreamOptions options;
    options.device = device::cpu();
    options.memory = memory::choose("host", options.device).mode;
    options.group = 1;
    const auto report = run_stream(reader, chain, {0, 3}, writer, options);
    CHECK(report.passes > 2);
    CHECK(counted(report.input) == 270'000 * 3);
}

TEST_CASE("one convolution behind another takes whole pieces of the first") {
    const Problem first = [] {
        Problem p;
        p.images = 2;
        p.extent = {1'000, 4};
        p.filters = 800;
        p.taps = {3, 3};
        p.in = SampleType::int16;
        return p;
    }();
    Job job = make_job(first);
    Problem second;
    second.images = 2;
    second.channels = 800;
    second.extent = {1'000, 4};
    second.filters = second.groups = 400;
    second.taps = {3, 1};
    second.kernel = numbers(400 * 2 * 3, 9);
    Chain chain;
    chain.push_back(planned(job.problem));
    chain.push_back(planned(second));
    const Index pieces = chain.back()->pieces();
    CHECK(pieces > 2);
    const Result whole = run(job, chain, pieces, plenty);
    CHECK(run(job, chain, 1, plenty).samples == whole.samples);
}

TEST_CASE("memory of a convolution is bounded, whatever the shape") {
    for (const PlaneCase& c :
         {PlaneCase{10'000, 1, {512, 512}, 1, 1, false}, PlaneCase{10'000, 3, {512, 512}, 64, 1, false},
          PlaneCase{1, 1, {50'000'000, 600}, 1, 1, false}, PlaneCase{1, 1, {50'000'000, 600}, 16, 1, false},
          PlaneCase{1, 1, {1025, 1 << 20}, 10'000, 1, false},
          PlaneCase{100, 64, {1025, 1 << 20}, 512, 1, false},
          PlaneCase{3, 4096, {512, 5'000}, 4096, 4096, false},
          PlaneCase{1, 16, {10'000'000, 100}, 64, 1, true}}) {
        Problem p = plane_problem(c);
        p.kernel = numbers(p.filters * p.terms(), 1);
        INFO(describe(p));
        Chain chain;
        chain.push_back(planned(p));
        pipelines::CutRequest request;
        request.wanted = {0, chain.back()->shape().frames};
        request.chunk_bytes_most = 8u << 20;  // as jobs have it
        const auto cuts = pipelines::cut(chain, p.in_shape(), SampleType::float32, request);
        CHECK(cuts.total_bytes() <= request.memory_limit);
        CHECK(cuts.chunk_frames >= std::min<Index>(16, c.extent.columns));
        CHECK(cuts.groups.size() > 1);
    }
}

}  // namespace convoy
