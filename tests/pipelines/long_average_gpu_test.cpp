// A filter, and averages longer than a chunk behind it, on a GPU: what the CPU gives, and the same bits in
// every memory mode and chunk.
#include <cmath>
#include <random>

#include "core/conv1d/conv1d.hpp"
#include "core/spectrum/long_average.hpp"
#include "core/window/window.hpp"
#include "pipelines/chain_plan.hpp"
#include "tests/catch.hpp"
#include "tests/pipelines/memory_files.hpp"

namespace convoy {

namespace {

constexpr Shape signal{1, 300'000, 2};

std::vector<float> noise() {
    std::mt19937 random(8);
    std::normal_distribution<float> normal;
    std::vector<float> samples(static_cast<std::size_t>(signal.samples()));
    for (float& x : samples)
        x = normal(random);
    return samples;
}

std::vector<float> average(const std::vector<float>& samples, const device::Device& device,
                           const memory::Mode& mode, Index chunk, bool filtered) {
    test::MemoryReader<float> reader(signal, samples);
    pipelines::ChainPlan plan;
    plan.input = &reader;
    if (filtered) {
        conv1d::Problem f;
        for (Index k = 0; k < 63; ++k)
            f.taps.push_back(std::cos(0.2 * static_cast<double>(k)) / 63);
        f.shape = signal;
        conv1d::check(f);
        plan.chain.push_back(conv1d::plan(f, *conv1d::choose("auto", f, device).strategy, device));
    }
    spectrum::Problem p;
    p.window = window::make("hann", 256, window::Symmetry::periodic);
    p.nfft = 256;
    p.hop = 64;
    p.rate = 8000;
    p.shape = signal;
    p.average = spectrum::Average{spectrum::Average::Kind::mean, 1500, 0};  // 96000 samples a column
    plan.chain.push_back(spectrum::plan_long_average(p, device));
    const Shape out = plan.chain.back()->shape();
    test::MemoryWriter<float> writer(out);
    pipelines::StreamOptions options;
    options.device = device;
    options.memory = &mode;
    options.chunk_frames = chunk;
    options.chunk_bytes = 64 << 10;  // of the pass that learns
    learn(plan, options);
    run_stream(reader, plan.chain, {0, out.frames}, writer, options);
    return writer.samples();
}

}  // namespace

TEST_CASE("on a GPU: long averages are the CPU's, in every memory mode and chunk", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP("no GPU: " + device::gpu_remark());
    const device::Device& gpu = device::gpus()[0];
    const std::vector<float> samples = noise();
    const memory::Mode& host = memory::catalog().at("host");
    for (const bool filtered : {false, true}) {
        const auto expected = average(samples, device::cpu(), host, 0, filtered);
        CHECK(expected.size() == 2 * 129 * 4);
        std::vector<float> first;
        for (const memory::Mode* mode : memory::catalog()) {
            if (mode == &host || !mode->unsupported(gpu).empty()) continue;
            INFO(mode->name << (filtered ? ", behind a filter" : ""));
            for (const Index chunk : {0, 1, 3}) {
                const auto got = average(samples, gpu, *mode, chunk, filtered);
                if (first.empty()) first = got;
                CHECK(got == first);
            }
        }
        REQUIRE(first.size() == expected.size());
        double worst = 0;
        for (std::size_t i = 0; i < first.size(); ++i)
            worst = std::max(worst,
                             std::abs(static_cast<double>(first[i]) / static_cast<double>(expected[i]) - 1));
        // The same sums on the CPU of the same samples: the filter alone differs, by rounding.
        CHECK(worst <= (filtered ? 1e-3 : 0));
    }
}

TEST_CASE("long averages behind a filter depend on no chunk") {
    const std::vector<float> samples = noise();
    const memory::Mode& host = memory::catalog().at("host");
    const auto whole = average(samples, device::cpu(), host, 0, true);
    CHECK(whole.size() == 2 * 129 * 4);
    for (const Index chunk : {1, 3})
        CHECK(average(samples, device::cpu(), host, chunk, true) == whole);
}

}  // namespace convoy
