// Takes the speeds that the cost model of the CPU needs, from the code that they are speeds of.
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/conv1d/cpu_cost.hpp"
#include "core/conv1d/fft_guard.hpp"
#include "core/conv1d/sliding_bounds.hpp"
#include "core/fft/pair.hpp"

namespace convoy::conv1d::cpu_cost {

namespace {

/// The least of several runs of at least two milliseconds: others on the machine only ever add.
double seconds_of(const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [&](Index times) {
        const auto start = Clock::now();
        for (Index i = 0; i < times; ++i)
            work();
        return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(times);
    };
    const double once = seconds(1);
    const Index times = std::max<Index>(1, static_cast<Index>(2e-3 / std::max(once, 1e-9)));
    double least = once;
    for (int run = 0; run < 5; ++run)
        least = std::min(least, seconds(times));
    return least;
}

/// Samples that look like noise, the same every time.
template <class T>
std::vector<T> samples(Index count) {
    std::vector<T> x;
    std::uint32_t state = 1;
    for (Index i = 0; i < count; ++i) {
        state = state * 1664525 + 1013904223;
        x.push_back(static_cast<T>(static_cast<double>(state >> 8) * 0x1p-23 - 1));
    }
    return x;
}

/// Seconds an output of direct sums with so many taps, from stored samples of a type.
template <class T>
double direct(Index taps, SampleType arithmetic) {
    constexpr Index outputs = Index{1} << 16;
    Problem p;
    p.taps.assign(static_cast<std::size_t>(taps), 1.0 / static_cast<double>(taps));
    p.shape.frames = outputs + taps - 1;
    p.mode = Mode::valid;
    p.in = SampleTypeOf<T>::value;
    p.arithmetic = arithmetic;
    const std::unique_ptr<Stage> stage = plan(p, catalog().at("direct"), device::cpu());
    std::vector<T> x = samples<T>(p.shape.frames);
    std::vector<double> y(static_cast<std::size_t>(outputs));
    const Window in{reinterpret_cast<std::byte*>(x.data()), p.in, {0, p.shape.frames}, 1, 1, p.shape.frames};
    const Window out{reinterpret_cast<std::byte*>(y.data()), arithmetic, {0, outputs}, 1, 1, outputs};
    device::Stream stream;
    return seconds_of([&] { stage->run(in, out, Lanes{}, stream); }) / static_cast<double>(outputs);
}

std::vector<double> lowpass(Index taps) {
    std::vector<double> h;
    for (Index k = 0; k < taps; ++k) {
        const double t =
            (static_cast<double>(k) - static_cast<double>(taps - 1) / 2) / static_cast<double>(taps);
        h.push_back(t == 0 ? 1 : std::sin(20 * t) / (20 * t) * std::cos(3 * t));
    }
    return h;
}

/// Nanoseconds a sample of one look for bounds of either kind.
template <class Bounds>
double look_ns(const Bounds& of, Index taps) {
    constexpr Index outputs = Index{1} << 14;
    const std::vector<float> x = samples<float>(outputs + taps);
    std::vector<float> bounds(static_cast<std::size_t>(of.room(outputs)));
    return 1e9 / static_cast<double>(outputs + taps - 1) *
           seconds_of([&] { of.look(x.data(), outputs, bounds.data()); });
}

template <class T>
PerLength transforms() {
    PerLength ns{};
    for (int log2 = least_log2; log2 <= most_log2; ++log2) {
        const Index n = Index{1} << log2;
        const fft::PairConvolver<T> convolver(n);
        const device::Buffer taps = convolver.load(std::vector<double>(static_cast<std::size_t>(2 * n), 1.0));
        const device::Buffer scratch(device::cpu(),
                                     static_cast<std::size_t>(convolver.scratch()) * sizeof(T));
        const std::vector<float> x = samples<float>(2 * n);
        std::vector<float> y(static_cast<std::size_t>(2 * n));
        ns[static_cast<std::size_t>(log2 - least_log2)] =
            1e9 / static_cast<double>(2 * n) * seconds_of([&] {
                convolver.run(taps, x.data(), x.data() + n, y.data(), y.data() + n, n,
                              reinterpret_cast<T*>(scratch.data()));
            });
    }
    return ns;
}

}  // namespace

Calibration measure_calibration() {
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    Calibration c;
    const double few = direct<float>(255, SampleType::float32),
                 many = direct<float>(511, SampleType::float32);
    c.direct_flops = 2 * 256 / std::max(many - few, 1e-12);
    c.pass_ns = std::max(0.0, 1e9 * (few - 2 * 255 / c.direct_flops));
    c.gather_ns = std::max(
        0.0, 1e9 * (direct<std::int16_t>(1, SampleType::float32) - direct<float>(1, SampleType::float32)));
    constexpr std::size_t bytes = std::size_t{32} << 20;
    std::vector<char> from(bytes, 1), to(bytes);
    c.memory_bytes =
        2 * static_cast<double>(bytes) / seconds_of([&] { std::memcpy(to.data(), from.data(), bytes); });
    c.look_ns = look_ns(Guard<float>(lowpass(1001)), 1001);
    c.slide_ns = look_ns(SlidingBounds<float>(lowpass(127)), 127);
    c.transform32_ns = transforms<float>();
    c.transform64_ns = transforms<double>();
    return c;
}

}  // namespace convoy::conv1d::cpu_cost
