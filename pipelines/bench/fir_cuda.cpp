#include "pipelines/bench/fir_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "core/device/check.hpp"
#include "pipelines/bench/probes_cuda.hpp"
#include "pipelines/bench/timer_cuda.hpp"

namespace convoy::pipelines::bench {

namespace {

using conv1d::Problem;
using conv1d::Strategy;
using device::check;

// Noise of the type: random data, for the arithmetic of zeros draws less power and can run faster.
void fill(const device::Buffer& buffer, SampleType type) {
    constexpr std::size_t some = std::size_t{1} << 20;
    std::mt19937 random(1);
    std::normal_distribution<double> normal(0, 1);
    std::vector<std::byte> noise(some * static_cast<std::size_t>(bytes_of(type)));
    dispatch(type, [&](auto v) {
        for (std::size_t i = 0; i < some; ++i) {
            v = static_cast<decltype(v)>(std::clamp(normal(random), -4.0, 4.0) *
                                         (is_float(type) ? 1.0 : 8000.0));
            std::memcpy(noise.data() + i * sizeof v, &v, sizeof v);
        }
    });
    std::size_t done = std::min(noise.size(), buffer.size());
    device::upload(buffer, noise.data(), done);
    for (std::size_t more; done < buffer.size(); done += more) {
        more = std::min(done, buffer.size() - done);
        check(cudaMemcpy(buffer.data() + done, buffer.data(), more, cudaMemcpyDeviceToDevice),
              "filling a buffer");
    }
}

Problem problem_of(const FirBenchOptions& o, Index taps, Index samples, Index channels) {
    Problem p;
    p.shape = o.interleaved ? Shape{1, samples, channels} : Shape{channels, samples, 1};
    p.in = o.in;
    p.arithmetic = o.in == SampleType::float64 ? SampleType::float64 : SampleType::float32;
    p.decimate = o.decimate;
    std::mt19937 random(2);
    std::normal_distribution<double> normal(0, 1);
    for (Index k = 0; k < taps; ++k)
        p.taps.push_back(normal(random));
    conv1d::check(p);
    return p;
}

double fma_gflops(const FirBenchOptions& o, const Timer& timer) {
    const device::Buffer sink(o.device, 64);
    double operations = 0;
    const double seconds = timer.seconds([&] {
        operations = o.in == SampleType::float64 ? run_fma_double(o.device, sink.data(), timer.queue())
                                                 : run_fma(o.device, sink.data(), timer.queue());
    });
    return operations / seconds * 1e-9;
}

// One job's samples and outputs on the device, and how long copying as many bytes takes.
struct Place {
    Place(const Problem& p, const FirBenchOptions& o, const Timer& timer)
        : bytes(p.shape.samples() * bytes_of(p.in) + p.outputs() * p.shape.lanes() * bytes_of(p.arithmetic)),
          in(o.device, room(p.shape.samples() * bytes_of(p.in))),
          out(o.device, room(p.outputs() * p.shape.lanes() * bytes_of(p.arithmetic))) {
        fill(in, p.in);
        copy_s = timer.seconds([&] {
            check(cudaMemcpyAsync(out.data(), in.data(), static_cast<std::size_t>(bytes / 2),
                                  cudaMemcpyDeviceToDevice, timer.queue()),
                  "copying on the GPU");
        });
    }
    // With what data() may leave out.
    std::size_t room(Index wanted) const {
        return static_cast<std::size_t>(std::max(wanted, bytes / 2) + 64);
    }
    // The samples, so that the first one that output 0 uses would be on a boundary of 16 bytes: as in a
    // stream, where a window begins with it in all chunks but the first.
    std::byte* samples(const Problem& p) const {
        const Index before = static_cast<Index>(p.taps.size()) - 1 - p.offset(), some = 16 / bytes_of(p.in);
        return in.data() + (before % some + some) % some * p.shape.inner * bytes_of(p.in);
    }

    Index bytes;
    device::Buffer in, out;
    double copy_s = not_measured;
};

void measure(const Problem& p, const Strategy& strategy, const FirBenchOptions& o, const Timer& timer,
             const Place& place, const FirBench& bench, FirRow& row) {
    const std::unique_ptr<Stage> stage = conv1d::plan(p, strategy, o.device);
    const Window from{place.samples(p), p.in,          {0, p.shape.frames},
                      p.shape.outer,    p.shape.inner, p.shape.frames};
    const Window to{place.out.data(), stage->type(), {0, p.outputs()},
                    p.shape.outer,    p.shape.inner, p.outputs()};
    device::Stream stream(timer.queue());
    row.seconds = timer.seconds([&] { stage->run(from, to, Lanes::all(p.shape), stream); });
    const double outputs = static_cast<double>(p.outputs() * p.shape.lanes());
    const double flop = 2 * outputs * static_cast<double>(row.taps);
    row.msamples_per_s = outputs / row.seconds * 1e-6;
    row.gflops = flop / row.seconds * 1e-9;
    row.gbytes_per_s = static_cast<double>(place.bytes) / row.seconds * 1e-9;
    row.floor_s = std::max(place.copy_s, flop / (bench.fma_gflops * 1e9));
    row.floor_share = row.floor_s / row.seconds;
    row.fma_share = row.gflops / bench.fma_gflops;
}

}  // namespace

FirBench bench_fir_on_gpu(const FirBenchOptions& o) {
    device::use(o.device);
    const Timer timer(o.repeat);
    FirBench bench;
    bench.fma_gflops = fma_gflops(o, timer);
    for (const Index samples : o.samples)
        for (const Index channels : o.channels) {
            const Place place(problem_of(o, 1, samples, channels), o, timer);
            bench.copy_gbytes_per_s = static_cast<double>(place.bytes) / place.copy_s * 1e-9;
            for (const Index taps : o.taps)
                for (const Strategy* s : conv1d::catalog()) {
                    const bool named =
                        std::find(o.strategies.begin(), o.strategies.end(), s->name) != o.strategies.end();
                    if (s->backend != o.device.backend || (!o.strategies.empty() && !named)) continue;
                    const Problem p = problem_of(o, taps, samples, channels);
                    FirRow row;
                    row.strategy = s->name;
                    row.taps = taps;
                    row.samples = samples;
                    row.channels = channels;
                    row.in = o.in;
                    row.reason = s->unsupported(p, o.device);
                    row.taken = conv1d::choose("auto", p, o.device).strategy == s;
                    if (row.reason.empty()) measure(p, *s, o, timer, place, bench, row);
                    bench.rows.push_back(std::move(row));
                }
        }
    return bench;
}

}  // namespace convoy::pipelines::bench
