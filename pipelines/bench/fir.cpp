#include "pipelines/bench/fir.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <random>

#include "core/device/fma_rate_cpu.hpp"
#include "pipelines/bench/fir_cuda.hpp"

namespace convoy::pipelines::bench {

namespace {

// Noise, as the bytes of samples of a type.
std::vector<std::byte> noise(Index count, SampleType type) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * bytes_of(type)));
    dispatch(type, [&](auto zero) {
        using T = decltype(zero);
        std::minstd_rand random(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        T* samples = reinterpret_cast<T*>(bytes.data());
        const double scale = std::is_integral_v<T> ? 30000 : 1;
        for (Index i = 0; i < count; ++i)
            samples[i] = static_cast<T>(scale * uniform(random));
    });
    return bytes;
}

conv1d::Problem problem_of(const FirBenchOptions& o, Index taps, Index samples, Index channels) {
    conv1d::Problem p;
    std::minstd_rand random(2);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (Index k = 0; k < taps; ++k)
        p.taps.push_back(uniform(random) / static_cast<double>(taps));
    p.shape = o.interleaved ? Shape{1, samples, channels} : Shape{channels, samples, 1};
    p.in = o.in;
    p.decimate = o.decimate;
    p.arithmetic = o.in == SampleType::float64 ? SampleType::float64 : SampleType::float32;
    return p;
}

// Median seconds of one strategy on one problem.
double measure(const conv1d::Problem& p, const conv1d::Strategy& strategy, const FirBenchOptions& o) {
    const auto stage = conv1d::plan(p, strategy, o.device);
    const Shape out = stage->shape();
    const auto samples = noise(p.shape.samples(), p.in);
    const device::Buffer in(o.device, samples.size());
    const device::Buffer result(o.device, static_cast<std::size_t>(out.samples() * bytes_of(p.arithmetic)));
    device::upload(in, samples.data(), samples.size());
    const Window from{in.data(), p.in, {0, p.shape.frames}, p.shape.outer, p.shape.inner, p.shape.frames};
    const Window to{result.data(), p.arithmetic, {0, out.frames}, out.outer, out.inner, out.frames};
    device::Stream stream;
    return median_seconds(o.repeat, [&] {
        stage->run(from, to, Lanes::all(p.shape), stream);
        device::synchronize(o.device);
    });
}

FirRow row_of(const conv1d::Problem& p, const conv1d::Strategy& strategy, const FirBenchOptions& o,
              const FirBench& bench) {
    FirRow row;
    row.strategy = strategy.name;
    row.taps = static_cast<Index>(p.taps.size());
    row.samples = p.shape.frames;
    row.channels = p.shape.lanes();
    row.in = p.in;
    row.reason = strategy.unsupported(p, o.device);
    if (!row.reason.empty()) return row;
    row.taken = conv1d::choose("auto", p, o.device).strategy == &strategy;
    row.seconds = measure(p, strategy, o);
    const auto outputs = static_cast<double>(p.outputs() * p.shape.lanes());
    const double flop = 2 * static_cast<double>(row.taps) * outputs;
    const double bytes = static_cast<double>(p.shape.samples() * bytes_of(p.in)) +
                         outputs * static_cast<double>(bytes_of(p.arithmetic));
    row.msamples_per_s = outputs / row.seconds * 1e-6;
    row.gflops = flop / row.seconds * 1e-9;
    row.gbytes_per_s = bytes / row.seconds * 1e-9;
    row.floor_s = std::max(bytes / (bench.copy_gbytes_per_s * 1e9), flop / (bench.fma_gflops * 1e9));
    row.floor_share = row.floor_s / row.seconds;
    row.fma_share = row.gflops / bench.fma_gflops;
    return row;
}

}  // namespace

FirBench bench_fir(const FirBenchOptions& o) {
    if (o.device.backend != device::Backend::cpu) return bench_fir_on_gpu(o);
    FirBench bench;
    tbb::task_arena arena(std::max(1, o.threads));
    bench.fma_gflops = device::fma_rate() * 1e-9 * o.threads;
    bench.copy_gbytes_per_s = device::copy_rate() * 1e-9;
    for (const Index taps : o.taps)
        for (const Index samples : o.samples)
            for (const Index channels : o.channels) {
                const conv1d::Problem p = problem_of(o, taps, samples, channels);
                conv1d::check(p);
                for (const conv1d::Strategy* s : conv1d::catalog()) {
                    if (s->backend != o.device.backend) continue;
                    const bool named =
                        std::find(o.strategies.begin(), o.strategies.end(), s->name) != o.strategies.end();
                    if (o.strategies.empty() ? s->name == "reference" : !named) continue;
                    arena.execute([&] { bench.rows.push_back(row_of(p, *s, o, bench)); });
                }
            }
    return bench;
}

}  // namespace convoy::pipelines::bench
