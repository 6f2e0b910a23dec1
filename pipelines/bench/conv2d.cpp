#include "pipelines/bench/conv2d.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/quantity.hpp"
#include "core/device/fma_rate_cpu.hpp"
#include "pipelines/bench/cudnn.hpp"
#include "pipelines/bench/fir.hpp"

namespace convoy::pipelines::bench {

namespace {

// Numbers in [-1, 1) that cost nothing: images are large.
std::vector<float> noise(Index count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::uint32_t state = 1;
    for (float& x : values) {
        state = state * 1664525u + 1013904223u;
        x = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    }
    return values;
}

conv2d::Problem problem_of(const Conv2dShape& s, const Conv2dBenchOptions& o) {
    conv2d::Problem p;
    p.images = s.images;
    p.channels = s.channels;
    p.extent = {s.rows, s.columns};
    p.filters = s.filters;
    p.taps = {s.tap_rows, s.tap_columns};
    p.fit = conv2d::Fit::given;
    p.pad = {s.padding, s.padding};
    p.stride = {s.stride, s.stride};
    p.dilation = {s.dilation, s.dilation};
    p.precision = o.precision;
    p.channels_last = o.channels_last;
    if (p.filters > 0 && p.terms() > 0)
        for (const float w : noise(p.filters * p.terms()))
            p.kernel.push_back(w);
    conv2d::check(p);
    return p;
}

// Images and results on the device, as one window each.
struct Place {
    Place(const conv2d::Problem& p, const device::Device& device)
        : in_shape(p.in_shape()),
          out_shape(p.out_shape()),
          in(device, static_cast<std::size_t>(in_shape.samples()) * sizeof(float)),
          out(device, static_cast<std::size_t>(out_shape.samples() * bytes_of(p.arithmetic()))),
          from{in.data(), p.in, {0, in_shape.frames}, in_shape.outer, in_shape.inner, in_shape.frames},
          to{out.data(),      p.arithmetic(),  {0, out_shape.frames},
             out_shape.outer, out_shape.inner, out_shape.frames} {
        const auto samples = noise(in_shape.samples());
        device::upload(in, samples.data(), in.size());
    }
    Shape in_shape, out_shape;
    device::Buffer in, out;
    Window from, to;
};

// Median seconds of a run; a GPU gets several between two waits, so that waiting does not count.
double measure(const Conv2dBenchOptions& o, const std::function<void()>& run) {
    const int runs = o.device.backend == device::Backend::cpu ? 1 : 20;
    return median_seconds(o.repeat,
                          [&] {
                              for (int i = 0; i < runs; ++i)
                                  run();
                              device::synchronize(o.device);
                          }) /
           runs;
}

double measure(const conv2d::Problem& p, const conv2d::Strategy& strategy, const Place& place,
               const Conv2dBenchOptions& o) {
    const auto stage = conv2d::plan(p, strategy, o.device);
    device::Stream stream;
    return measure(o, [&] { stage->run(place.from, place.to, Lanes::all(place.in_shape), stream); });
}

// What is known of a row before it is measured.
Conv2dRow row_of(const Conv2dShape& shape, const conv2d::Problem& p, const Place& place,
                 const Conv2dBench& bench) {
    Conv2dRow row;
    row.shape = shape;
    const double flop = 2 * static_cast<double>(p.terms()) * static_cast<double>(place.out_shape.samples());
    row.gflop = flop * 1e-9;
    row.bytes_floor_s =
        static_cast<double>(place.in.size() + place.out.size()) / (bench.copy_gbytes_per_s * 1e9);
    row.fma_floor_s = flop / (bench.fma_gflops * 1e9);
    return row;
}

void add_row(Conv2dRow row, const std::function<double()>& seconds, Conv2dBench& bench) {
    if (row.reason.empty()) {
        row.seconds = seconds();
        row.gflops = row.gflop / row.seconds;
        row.floor_share = std::max(row.bytes_floor_s, row.fma_floor_s) / row.seconds;
    }
    bench.rows.push_back(std::move(row));
}

void add_rows(const Conv2dShape& shape, const Conv2dBenchOptions& o, Conv2dBench& bench) {
    const conv2d::Problem p = problem_of(shape, o);
    const Place place(p, o.device);
    std::vector<const conv2d::Strategy*> strategies;
    for (const conv2d::Strategy* s : conv2d::catalog())
        if (s->backend == o.device.backend &&
            std::find(o.strategies.begin(), o.strategies.end(), s->name) != o.strategies.end())
            strategies.push_back(s);
    if (o.strategies.empty()) strategies.push_back(conv2d::choose("auto", p, o.device).strategy);
    for (const conv2d::Strategy* s : strategies) {
        Conv2dRow row = row_of(shape, p, place, bench);
        row.strategy = s->name;
        row.reason = s->unsupported(p, o.device);
        add_row(
            std::move(row), [&] { return measure(p, *s, place, o); }, bench);
    }
    if (o.device.backend == device::Backend::cpu) return;
    Conv2dRow row = row_of(shape, p, place, bench);
    row.strategy = "cuDNN";
    row.reason = Cudnn::missing(p);
    add_row(
        std::move(row),
        [&] {
            const Cudnn cudnn(p, o.device, place.in.data(), place.out.data());
            return measure(o, [&] { cudnn.run(); });
        },
        bench);
}

}  // namespace

Conv2dShape parse_conv2d_shape(const std::string& text) {
    std::vector<Index> numbers;
    for (const std::string& word : split(text, ','))
        numbers.push_back(parse_integer(word).value_or(-1));
    const bool right =
        numbers.size() >= 7 && numbers.size() <= 10 &&
        std::all_of(numbers.begin(), numbers.end(), [](Index n) { return n >= 0 && n < (Index{1} << 31); });
    if (!right)
        throw usage_error("'" + text + "' is no shape of a convolution",
                          "write N,C,H,W,K,R,S or N,C,H,W,K,R,S,stride,padding,dilation");
    const auto at = [&](std::size_t i, Index fallback) { return i < numbers.size() ? numbers[i] : fallback; };
    return {at(0, 1), at(1, 1), at(2, 1), at(3, 1), at(4, 1),
            at(5, 1), at(6, 1), at(7, 1), at(8, 0), at(9, 1)};
}

std::string to_text(const Conv2dShape& s) {
    std::string text;
    for (const Index n : {s.images, s.channels, s.rows, s.columns, s.filters, s.tap_rows, s.tap_columns,
                          s.stride, s.padding, s.dilation})
        text += (text.empty() ? "" : ",") + convoy::to_text(n);
    return text;
}

const std::vector<Conv2dShape>& usual_conv2d_shapes() {
    static const std::vector<Conv2dShape> shapes = {
        {1, 1, 1025, 16384, 1, 3, 3, 1, 1, 1},     {1, 1, 1025, 16384, 1, 15, 15, 1, 7, 1},
        {1, 1, 1025, 16384, 16, 7, 7, 1, 3, 1},    {1, 1, 513, 8192, 32, 11, 11, 1, 5, 1},
        {32, 1, 128, 1024, 64, 3, 3, 1, 1, 1},     {32, 64, 128, 512, 64, 3, 3, 1, 1, 1},
        {32, 64, 64, 256, 128, 3, 3, 1, 1, 1},     {64, 128, 32, 128, 256, 3, 3, 1, 1, 1},
        {16, 1, 128, 1024, 768, 16, 16, 10, 0, 1}, {32, 32, 128, 512, 32, 5, 5, 2, 2, 1},
        {16, 64, 128, 512, 64, 3, 3, 1, 2, 2},     {32, 3, 224, 224, 64, 7, 7, 2, 3, 1},
    };
    return shapes;
}

Conv2dBench bench_conv2d(const Conv2dBenchOptions& o) {
    Conv2dBench bench;
    if (o.device.backend == device::Backend::cpu) {
        bench.fma_gflops = device::fma_rate() * 1e-9 * std::max(1, o.threads);
        bench.copy_gbytes_per_s = device::copy_rate() * 1e-9;
    } else {
        // A filter's run knows both: the copy is of its samples, well beyond the caches.
        FirBenchOptions filter;
        filter.device = o.device;
        filter.strategies = {"naive"};
        filter.taps = {1};
        filter.samples = {Index{1} << 26};
        filter.repeat = 3;
        const FirBench figures = bench_fir(filter);
        bench.fma_gflops = figures.fma_gflops;
        bench.copy_gbytes_per_s = figures.copy_gbytes_per_s;
    }
    tbb::task_arena arena(std::max(1, o.threads));
    for (const Conv2dShape& shape : o.shapes)
        arena.execute([&] { add_rows(shape, o, bench); });
    return bench;
}

}  // namespace convoy::pipelines::bench
