// From a signal to an image to a filtered image in one pass: the same bits as one step after the other on
// whole arrays.
#include <cmath>
#include <random>

#include "core/conv1d/conv1d.hpp"
#include "core/conv2d/conv2d.hpp"
#include "core/spectrum/spectrum.hpp"
#include "core/window/window.hpp"
#include "pipelines/stream.hpp"
#include "tests/catch.hpp"
#include "tests/pipelines/memory_files.hpp"

namespace convoy {

namespace {

using pipelines::Chain;

std::unique_ptr<Stage> filter(Shape shape) {
    conv1d::Problem p;
    for (Index k = 0; k < 31; ++k)
        p.taps.push_back(std::cos(0.3 * static_cast<double>(k)) / 31);
    p.shape = shape;
    conv1d::check(p);
    return conv1d::plan(p, *conv1d::choose("auto", p, device::cpu()).strategy, device::cpu());
}

std::unique_ptr<Stage> spectrogram(Shape shape) {
    spectrum::Problem p;
    p.window = window::make("hann", 128, window::Symmetry::periodic);
    p.nfft = 128;
    p.hop = 32;
    p.rate = 8000;
    p.shape = shape;
    return spectrum::plan(p, device::cpu());
}

std::unique_ptr<Stage> convolution(Shape shape, Index channels, Index filters, conv2d::Pair stride) {
    conv2d::Problem p;
    p.channels = channels;
    p.images = 1;
    p.extent = {shape.outer / channels, shape.frames};
    p.filters = filters;
    p.taps = {5, 7};
    p.stride = stride;
    for (Index i = 0; i < filters * p.terms(); ++i)
        p.kernel.push_back(std::sin(static_cast<double>(i)));
    if (filters == 1) {
        p.images = channels;
        p.channels = 1;
        p.kernel.resize(35);
    }
    conv2d::check(p);
    return conv2d::plan(p, *conv2d::choose("auto", p, device::cpu()).strategy, device::cpu());
}

std::vector<float> run(Shape shape, const std::vector<float>& samples, const Chain& chain, Span wanted,
                       Index chunk) {
    test::MemoryReader<float> reader(shape, samples);
    Shape out = chain.back()->shape();
    out.frames = wanted.count;
    test::MemoryWriter<float> writer(out);
    pipelines::StreamOptions options;
    options.device = device::cpu();
    options.memory = memory::choose("host", options.device).mode;
    options.chunk_frames = chunk;
    run_stream(reader, chain, wanted, writer, options);
    return writer.samples();
}

std::vector<float> alone(std::unique_ptr<Stage> stage, Shape shape, const std::vector<float>& samples) {
    Chain chain;
    chain.push_back(std::move(stage));
    const Index frames = chain.back()->shape().frames;
    return run(shape, samples, chain, {0, frames}, frames);
}

}  // namespace

TEST_CASE("filter, spectrogram and conv2d in one pass equal the steps on whole arrays") {
    const Shape signal = GENERATE(Shape{1, 9000, 3}, Shape{2, 5000, 1});
    const Index filters = GENERATE(1, 4);
    const conv2d::Pair stride = GENERATE(conv2d::Pair{1, 1}, conv2d::Pair{2, 3});
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<float> samples(static_cast<std::size_t>(signal.samples()));
    for (float& x : samples)
        x = normal(random);

    Chain chain;
    chain.push_back(filter(signal));
    const Shape filtered = chain.back()->shape();
    chain.push_back(spectrogram(filtered));
    const Shape image = chain.back()->shape();
    chain.push_back(convolution(image, signal.lanes(), filters, stride));
    const Index columns = chain.back()->shape().frames;

    const auto one = alone(filter(signal), signal, samples);
    const auto two = alone(spectrogram(filtered), filtered, one);
    const auto whole = alone(convolution(image, signal.lanes(), filters, stride), image, two);
    for (const Index chunk : {0, 1, 5, 64})
        CHECK(run(signal, samples, chain, {0, columns}, chunk) == whole);

    const Span part{columns / 3, columns / 4};
    const auto cut = run(signal, samples, chain, part, 6);
    const Index rows = chain.back()->shape().outer;
    for (Index r = 0; r < rows; ++r)
        CHECK(std::equal(cut.begin() + r * part.count, cut.begin() + (r + 1) * part.count,
                         whole.begin() + r * columns + part.first));
}

}  // namespace convoy
