// Spectrograms on a GPU against those on the CPU, which are held against SciPy. Windows are device memory.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/device/copy.hpp"
#include "core/memory/memory.hpp"
#include "core/spectrum/long_average.hpp"
#include "core/spectrum/spectrum.hpp"
#include "core/window/window.hpp"
#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::spectrum;

namespace {

const device::Device* the_gpu() {
    return device::gpus().empty() ? nullptr : &device::gpus()[0];
}

#define NEEDS_GPU() \
    if (the_gpu() == nullptr) CONVOY_SKIP("no GPU: " + device::gpu_remark())

std::vector<double> noise_of(Index n) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
        x[static_cast<std::size_t>(i)] =
            static_cast<double>((i * 7919 + i % 1000 * i * 104729 + i / 7 * 31) % 65536 - 32768) / 32768;
    return x;
}

// The samples of a problem's shape, as they are stored.
std::vector<std::byte> stored(const Problem& p) {
    const auto values = noise_of(p.shape.samples());
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(p.in)));
    dispatch(p.in, [&](auto zero) {
        using T = decltype(zero);
        T* const to = reinterpret_cast<T*>(bytes.data());
        for (std::size_t i = 0; i < values.size(); ++i)
            to[i] = static_cast<T>(std::is_integral_v<T> ? std::round(values[i] * 30000) : values[i]);
    });
    return bytes;
}

Window window_over(std::byte* data, SampleType type, Span span, Index outer, Index inner) {
    return {data, type, span, outer, inner, span.count};
}

// Columns `span` of the whole result from the samples that the stage says it needs, by the CPU or the GPU.
std::vector<std::byte> columns(Stage& stage, const Problem& p, const std::vector<std::byte>& samples,
                               Span span, bool gpu, Index odd = 0) {
    const Span need = stage.needed(span);
    const Shape shape = stage.shape();
    const Index frame = p.shape.inner * bytes_of(p.in), shift = odd * bytes_of(p.in);
    std::vector<std::byte> part(static_cast<std::size_t>(p.shape.outer * need.count * frame + shift));
    for (Index o = 0; o < p.shape.outer; ++o)
        std::memcpy(part.data() + shift + o * need.count * frame,
                    samples.data() + (o * p.shape.frames + need.first) * frame,
                    static_cast<std::size_t>(need.count * frame));
    std::vector<std::byte> result(
        static_cast<std::size_t>(shape.outer * span.count * shape.inner * bytes_of(stage.type())));
    if (!gpu) {
        device::Stream none;
        stage.run(window_over(part.data() + shift, p.in, need, p.shape.outer, p.shape.inner),
                  window_over(result.data(), stage.type(), span, shape.outer, shape.inner),
                  Lanes::all(p.shape), none);
        return result;
    }
    memory::RingShape ring_shape;
    ring_shape.slots = 1;
    ring_shape.in_bytes = part.size();
    ring_shape.out_bytes = result.size();
    const auto ring = memory::catalog().at("pinned").make(*the_gpu(), ring_shape);
    std::memcpy(ring->slot(0).in, part.data(), part.size());
    ring->submit(
        0, part.size(), result.size(), [&](const std::byte* in, std::byte* out, device::Stream& stream) {
            stage.run(
                window_over(const_cast<std::byte*>(in) + shift, p.in, need, p.shape.outer, p.shape.inner),
                window_over(out, stage.type(), span, shape.outer, shape.inner), Lanes::all(p.shape), stream);
        });
    ring->wait(0);
    std::memcpy(result.data(), ring->slot(0).out, result.size());
    return result;
}

std::vector<std::byte> whole(Stage& stage, const Problem& p, bool gpu, Index odd = 0) {
    return columns(stage, p, stored(p), {0, stage.shape().frames}, gpu, odd);
}

double at(const std::vector<std::byte>& bytes, SampleType type, std::size_t i) {
    return dispatch(type, [&](auto zero) {
        return static_cast<double>(reinterpret_cast<const decltype(zero)*>(bytes.data())[i]);
    });
}

// The GPU's result is the CPU's in double, within the rounding of the arithmetic.
void check_equal(const Problem& p, Index odd = 0) {
    const auto ours = plan(p, *the_gpu());
    Problem exact = p;
    exact.arithmetic = SampleType::float64;
    const auto theirs = plan(exact, device::cpu());
    REQUIRE(ours->shape() == theirs->shape());
    const auto a = whole(*ours, p, true, odd), b = whole(*theirs, exact, false);
    const auto count = static_cast<std::size_t>(ours->shape().samples());
    double worst = 0, largest = 1e-300;
    for (std::size_t i = 0; i < count; ++i) {
        const double x = at(a, p.arithmetic, i), y = at(b, SampleType::float64, i);
        if (std::isinf(y) || std::isinf(x)) {
            CHECK(x == y);
            continue;
        }
        worst = std::max(worst, std::isnan(x) ? INFINITY : std::abs(x - y));
        largest = std::max(largest, std::abs(y));
    }
    // Small powers are small beside the errors of large ones: decibels of them are compared loosely.
    const double tolerance = p.arithmetic == SampleType::float64 ? 1e-11 : p.decibels ? 2e-3 : 4e-6;
    INFO("nfft " << p.nfft << ", hop " << p.hop << ", window " << p.window.size() << ", quantity "
                 << static_cast<int>(p.quantity) << ", " << name_of(p.arithmetic));
    CHECK(worst / largest < tolerance);
}

Problem problem_for(Shape shape, Index nfft, Index hop, Index length = 0) {
    Problem p;
    p.window = window::make("hann", length == 0 ? nfft : length, window::Symmetry::periodic);
    p.nfft = nfft;
    p.hop = hop;
    p.rate = 8000;
    p.shape = shape;
    return p;
}

}  // namespace

TEST_CASE("on the GPU: spectra of every length and quantity equal the CPU's", "[gpu]") {
    NEEDS_GPU();
    for (const Index nfft : {2, 3, 64, 75, 512, 1000, 1024, 1009, 2048, 4096})
        for (const Quantity q :
             {Quantity::density, Quantity::spectrum, Quantity::magnitude, Quantity::power, Quantity::complex})
            for (const SampleType type : {SampleType::float32, SampleType::float64}) {
                Problem p = problem_for({2, 9001, 1}, nfft, std::max<Index>(nfft / 3, 1));
                p.quantity = q;
                p.in = p.arithmetic = type;
                check_equal(p);
            }
    check_equal(problem_for({1, 60000, 1}, 40000, 7000));  // too long for shared memory
}

TEST_CASE("on the GPU: layouts, stored types, padding, detrending and short windows", "[gpu]") {
    NEEDS_GPU();
    for (const Index nfft : {300, 1024})
        for (const bool centered : {false, true})
            for (const Padding padding : {Padding::zero, Padding::reflect, Padding::edge, Padding::odd}) {
                if (!centered && padding != Padding::zero) continue;
                Problem p = problem_for({1, 4099, 5}, nfft, 100);
                p.centered = centered;
                p.padding = padding;
                check_equal(p);
                p.in = SampleType::int16;
                p.scaling.gain = {1e-4, 2e-4, 3e-4, 4e-4, 5e-4};
                p.scaling.offset = {0.5};
                p.shape = {5, 4099, 1};
                check_equal(p, 1);
                p.detrend = true;
                p.window.resize(200);
                check_equal(p);
            }
    Problem complex = problem_for({3, 2000, 2}, 100, 50);
    complex.complex = true;
    check_equal(complex);
    complex.quantity = Quantity::complex;
    check_equal(complex);
}

TEST_CASE("on the GPU: magnitudes and decibels of samples whose squares are beyond float32", "[gpu]") {
    NEEDS_GPU();
    for (const Index nfft : {1024, 1000, 256})
        for (const double size : {1e-30, 1e-21, 1e12, 1e30})
            for (const Quantity q : {Quantity::magnitude, Quantity::density, Quantity::power}) {
                Problem p = problem_for({2, 20000, 1}, nfft, nfft / 4);
                p.scaling = {{size}, {}};
                p.quantity = q;
                if (q == Quantity::magnitude) check_equal(p);
                p.decibels = Decibels{};
                check_equal(p);
            }
}

TEST_CASE("on the GPU: bands, averages and decibels", "[gpu]") {
    NEEDS_GPU();
    using Kind = Average::Kind;
    for (const Index nfft : {256, 1024})
        for (const Average& average : {Average{Kind::mean, 7, 0}, Average{Kind::max, 7, 0},
                                       Average{Kind::percentile, 7, 50}, Average{Kind::percentile, 7, 95}}) {
            Problem p = problem_for({2, 20000, 1}, nfft, 128);
            p.decibels = Decibels{1e-6, 3, -200};
            check_equal(p);
            p.average = average;
            check_equal(p);
            p.bands = mel_bands({nfft, 8000, false, {}, {}}, 20, Mel::slaney).bands;
            check_equal(p);
            p.decibels.reset();
            check_equal(p);
        }
}

TEST_CASE("on the GPU: chunks change no bit, a NaN stays in its frames, silence is zero", "[gpu]") {
    NEEDS_GPU();
    for (const Index nfft : {512, 1024, 2048, 1000}) {
        Problem p = problem_for({1, 30000, 1}, nfft, 256);
        const auto stage = plan(p, *the_gpu());
        auto samples = stored(p);
        float* const x = reinterpret_cast<float*>(samples.data());
        std::fill(x + 10000, x + 16000, 0.0f);
        x[20000] = NAN;
        const Index frames = stage->shape().frames, bins = stage->shape().outer;
        const auto all = columns(*stage, p, samples, {0, frames}, true);
        for (const Index chunk : {1, 10, 37}) {
            bool same = true;
            for (Index first = 0; first < frames; first += chunk) {
                const Span span{first, std::min(chunk, frames - first)};
                const auto some = columns(*stage, p, samples, span, true, first % 2);
                for (Index b = 0; b < bins; ++b)
                    same &=
                        std::memcmp(some.data() + b * span.count * 4, all.data() + (b * frames + first) * 4,
                                    static_cast<std::size_t>(span.count * 4)) == 0;
            }
            CHECK(same);
        }
        for (Index m = 0; m < frames; ++m) {
            const Index from = m * 256, to = from + nfft;
            for (Index b = 0; b < bins; ++b) {
                const double v = at(all, SampleType::float32, static_cast<std::size_t>(b * frames + m));
                REQUIRE(std::isnan(v) == (from <= 20000 && 20000 < to));
                if (from >= 10000 && to <= 16000) REQUIRE(v == 0);
            }
        }
    }
}

TEST_CASE("on the GPU: averages that are learnt chunk by chunk are the CPU's, in any memory and chunk",
          "[gpu]") {
    NEEDS_GPU();
    for (const auto kind : {Average::Kind::mean, Average::Kind::max})
        for (const Shape shape : {Shape{1, 60000, 2}, Shape{3, 40001, 1}})
            for (const SampleType type : {SampleType::float32, SampleType::float64}) {
                Problem p = problem_for(shape, 512, 128);
                p.in = p.arithmetic = type;
                p.average = Average{kind, 130, 0};  // 16640 samples a column: many chunks
                if (shape.outer == 3) p.decibels = Decibels{1e-6, 3, -200};
                const auto samples = stored(p);
                const auto learnt = [&](const device::Device& device, Index chunk) {
                    auto stage = plan_long_average(p, device);
                    const Index frame = shape.inner * bytes_of(type);
                    for (Index at = 0; at < shape.frames; at += chunk) {
                        const Span part{at, std::min(chunk, shape.frames - at)};
                        Window window = window_over(const_cast<std::byte*>(samples.data()) + at * frame, type,
                                                    part, shape.outer, shape.inner);
                        window.pitch = shape.frames;
                        stage->learn(window, part, Lanes::all(shape));
                    }
                    return stage;
                };
                const auto here = learnt(device::cpu(), 4096), there = learnt(*the_gpu(), 1000);
                const Index columns_all = there->shape().frames;
                CHECK(columns_all == (there->shape() == here->shape() ? here->shape().frames : -1));
                const auto expected = whole(*here, p, false);
                CHECK(whole(*there, p, true) == expected);
                const Span last{columns_all - 1, 1};  // a part of the columns
                CHECK(columns(*there, p, samples, last, true) == columns(*here, p, samples, last, false));
            }
}
