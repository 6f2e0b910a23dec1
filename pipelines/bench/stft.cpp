#include "pipelines/bench/stft.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <random>

#include "core/device/fma_rate_cpu.hpp"
#include "core/window/window.hpp"
#include "pipelines/bench/ceilings.hpp"

namespace convoy::pipelines::bench {

namespace {

spectrum::Problem problem_of(const StftBenchOptions& o, Index nfft) {
    spectrum::Problem p;
    p.window = window::make("hann", nfft, window::Symmetry::periodic);
    p.nfft = nfft;
    p.hop = std::max<Index>(nfft / o.hop_divisor, 1);
    p.rate = 48000;
    p.quantity = o.quantity;
    p.shape = {o.channels, o.samples, 1};
    return p;
}

StftRow row_of(const spectrum::Problem& p, const StftBenchOptions& o, const StftBench& bench) {
    const auto stage = spectrum::plan(p, o.device);
    const Shape out = stage->shape();
    std::vector<float> samples(static_cast<std::size_t>(p.shape.samples()));
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : samples)
        x = uniform(random);
    const std::size_t in_bytes = samples.size() * sizeof(float);
    const std::size_t out_bytes = static_cast<std::size_t>(out.samples()) * sizeof(float);
    const device::Buffer in(o.device, in_bytes), result(o.device, out_bytes);
    device::upload(in, samples.data(), in_bytes);
    const Window from{in.data(), p.in, {0, p.shape.frames}, p.shape.outer, 1, p.shape.frames};
    const Window to{result.data(), p.arithmetic, {0, out.frames}, out.outer, out.inner, out.frames};
    device::Stream stream;

    StftRow row;
    row.nfft = p.nfft;
    row.hop = p.hop;
    row.samples = p.shape.frames;
    row.channels = p.channels();
    row.frames = p.transforms() * p.channels();
    // A GPU gets several between two waits, so that waiting does not count.
    const int runs = o.device.backend == device::Backend::cpu ? 1 : 20;
    row.seconds = median_seconds(o.repeat,
                                 [&] {
                                     for (int i = 0; i < runs; ++i)
                                         stage->run(from, to, Lanes::all(p.shape), stream);
                                     device::synchronize(o.device);
                                 }) /
                  runs;
    const double bytes = static_cast<double>(in_bytes) + static_cast<double>(out_bytes);
    row.msamples_per_s = static_cast<double>(p.shape.samples()) / row.seconds * 1e-6;
    row.mframes_per_s = static_cast<double>(row.frames) / row.seconds * 1e-6;
    row.gbytes_per_s = bytes / row.seconds * 1e-9;
    row.floor_s = bytes / (bench.copy_gbytes_per_s * 1e9);
    row.floor_share = row.floor_s / row.seconds;
    return row;
}

double copy_rate_of(const StftBenchOptions& o) {
    if (o.device.backend == device::Backend::cpu) return device::copy_rate() * 1e-9;
    CeilingOptions options;
    options.device = o.device;
    return value_of(gpu_ceilings(options), "device_copy");
}

}  // namespace

StftBench bench_stft(const StftBenchOptions& o) {
    StftBench bench;
    bench.copy_gbytes_per_s = copy_rate_of(o);
    tbb::task_arena arena(std::max(1, o.threads));
    for (const Index nfft : o.nfft) {
        const spectrum::Problem p = problem_of(o, nfft);
        arena.execute([&] { bench.rows.push_back(row_of(p, o, bench)); });
    }
    return bench;
}

}  // namespace convoy::pipelines::bench
