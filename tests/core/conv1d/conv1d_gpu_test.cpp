// Every 1-D strategy of the catalogue that runs on a GPU, against the formula written out. Windows are device
// memory.
#include "core/conv1d/conv1d.hpp"
#include "core/device/copy.hpp"
#include "core/memory/memory.hpp"
#include "tests/core/conv1d/cases.hpp"

using namespace convoy;
using namespace convoy::conv1d;
using namespace convoy::conv1d::judge;

namespace {

const device::Device* the_gpu() {
    return device::gpus().empty() ? nullptr : &device::gpus()[0];
}

// Copies a window to the GPU and the result back. The result is filled with noise before the work, so that an
// output which is not written shows; `odd` samples keep both windows off the boundaries of vectors.
class Bench {
  public:
    explicit Bench(const device::Device& gpu) : gpu_(gpu) {
        memory::RingShape shape;
        shape.slots = 1;
        shape.in_bytes = shape.out_bytes = bytes;
        ring_ = memory::catalog().at("pinned").make(gpu, shape);
    }

    std::vector<std::byte> run(Stage& stage, const Job& job, Span out, const Lanes& lanes, Index odd) {
        const Span need = stage.needed(out);
        const Index size = bytes_of(job.problem.in), out_size = bytes_of(stage.type());
        const auto result = static_cast<std::size_t>(lanes.count() * out.count * out_size);
        const std::size_t in_bytes = static_cast<std::size_t>((odd + lanes.count() * need.count) * size);
        const std::size_t out_bytes = result + static_cast<std::size_t>(odd * out_size);
        if (in_bytes > bytes || out_bytes > bytes) throw std::runtime_error("a test is larger than its slot");
        const memory::Slot slot = ring_->slot(0);
        gather(job, need, lanes, slot.in + odd * size);
        ring_->submit(
            0, in_bytes, out_bytes, [&](const std::byte* in, std::byte* to, device::Stream& stream) {
                device::copy_bytes(gpu_, in, to, std::min(in_bytes, out_bytes), std::byte{0xff}, stream);
                const Window from{const_cast<std::byte*>(in) + odd * size,
                                  job.problem.in,
                                  need,
                                  lanes.outer_count,
                                  lanes.inner_count,
                                  need.count};
                const Window into{to + odd * out_size, stage.type(),      out,
                                  lanes.outer_count,   lanes.inner_count, out.count};
                stage.run(from, into, lanes, stream);
            });
        ring_->wait(0);
        const std::byte* first = slot.out + odd * out_size;
        return {first, first + result};
    }

    // The whole result of some lanes, in spans of `chunk` outputs.
    std::vector<std::byte> run_all(Stage& stage, const Job& job, Lanes lanes, Index chunk = 0,
                                   Index odd = 0) {
        return in_spans(stage, lanes, chunk, [&](Span span) { return run(stage, job, span, lanes, odd); });
    }

  private:
    static constexpr std::size_t bytes = std::size_t{32} << 20;
    device::Device gpu_;
    std::unique_ptr<memory::Ring> ring_;
};

Bench& bench() {
    static Bench one(*the_gpu());
    return one;
}

template <class F>
void each(const Problem& p, F&& f) {
    each_strategy(p, *the_gpu(), f);
}

void check_accuracy(const Job& job, Index odd = 0) {
    each(job.problem, [&](const Strategy&, Stage& stage) {
        CHECK(stage.type() == job.problem.arithmetic);
        const auto result = bench().run_all(stage, job, Lanes::all(job.problem.shape), 0, odd);
        CHECK(worst(stage, job, result) == "");
    });
}

}  // namespace

#define NEEDS_GPU() \
    if (the_gpu() == nullptr) CONVOY_SKIP("no GPU: " + device::gpu_remark())

TEST_CASE("on the GPU: small jobs of every kind", "[gpu][small]") {
    NEEDS_GPU();
    for (const Shape shape : {Shape{1, 6000, 1}, Shape{3, 40, 1}, Shape{1, 300, 3}, Shape{2, 60, 37}})
        for (const Index taps : {1, 4, 31, 130})
            for (const Index decimate : {1, 3, 40}) {
                Problem p = problem(shape, Mode::full, Padding::odd, decimate);
                check_accuracy(make_job(p, taps), 1);
                p.in = SampleType::int16;
                p.scaling.gain = {0.1};
                p.arithmetic = SampleType::float64;
                check_accuracy(make_job(p, taps), 1);
            }
}

TEST_CASE("on the GPU: lengths, modes and paddings", "[gpu]") {
    NEEDS_GPU();
    each_length([](const Job& job) { check_accuracy(job); });
}

TEST_CASE("on the GPU: outputs that use no padding are the same, to the bit, with any", "[gpu]") {
    NEEDS_GPU();
    check_padding_leaves_the_rest(*the_gpu(), {{1, 900, 1}, {1, 900, 3}, {1, 20000, 1}}, {2, 31, 200, 400},
                                  [](Stage& stage, const Job& job) {
                                      return bench().run_all(stage, job, Lanes::all(job.problem.shape));
                                  });
}

TEST_CASE("on the GPU: signals of several tiles, off the boundaries of vectors", "[gpu]") {
    NEEDS_GPU();
    for (const Index n : {5119, 5123, 20480, 33333})
        for (const Index taps : {1, 3, 13, 22, 25, 26, 27, 28, 63, 79, 127})
            for (const Index odd : {0, 1, 2, 3})
                check_accuracy(
                    make_job(problem({n < 6000 ? 3 : 1, n, 1}, Mode::same, Padding::reflect), taps), odd);
}

TEST_CASE("on the GPU: filters beyond a tile, and samples far from zero", "[gpu]") {
    NEEDS_GPU();
    for (const Index taps : {256, 1023, 1024, 1025, 4096, 9000}) {
        Problem p = problem({1, 7000, 1}, Mode::same, Padding::edge);
        check_accuracy(make_job(p, taps, 5, 1000.0));
        for (Index k = 0; k < taps; ++k)
            p.taps.push_back(1.0 / static_cast<double>(taps));
        check_accuracy(make_job(p, taps, 5, 1000.0));
        p.arithmetic = p.in = SampleType::float64;
        check_accuracy(make_job(p, taps, 5, 1000.0));
        p.taps.assign(p.taps.size(),
                      0x1.fp-25);  // small products that are lost one by one on a large first one
        p.taps[p.taps.size() - 1] = 1;
        p.arithmetic = p.in = SampleType::float32;
        Job job = make_job(p, taps);
        for (Index f = 0; f < 7000; ++f)
            job.set(0, f, 0, 1);
        check_accuracy(job);
    }
}

TEST_CASE("on the GPU: decimation", "[gpu]") {
    NEEDS_GPU();
    for (const Index n : {1, 30, 1000, 20000})
        for (const Index taps : {1, 6, 31, 150, 2000})
            for (const Index decimate : {2, 3, 4, 5, 7, 16, 17, 40, 100, 300, 1500})
                for (const Mode mode : every_mode)
                    if ((mode != Mode::valid || taps <= n) && (n < 5000 || mode == Mode::same))
                        check_accuracy(make_job(problem({1, n, 1}, mode, Padding::reflect, decimate), taps));
    for (const Index decimate : {2, 4, 10, 64, 300})
        for (const Shape shape :
             {Shape{1, 3000, 2}, Shape{1, 3000, 16}, Shape{3, 3000, 1}, Shape{1, 700, 65}})
            check_accuracy(make_job(problem(shape, Mode::same, Padding::odd, decimate), 99), 1);
}

TEST_CASE("on the GPU: any layout, type and scaling", "[gpu]") {
    NEEDS_GPU();
    each_layout([](const Job& job) { check_accuracy(job, 1); });
    check_accuracy(make_job(problem({1, 12000, 1}, Mode::same, Padding::odd), 13), 1);
    for (Index channels = 1; channels <= 300; channels += 1 + channels / 6) {
        check_accuracy(make_job(problem({1, 50, channels}), 9));
        check_accuracy(make_job(problem({channels, 50, 1}), 9));
    }
}

TEST_CASE("on the GPU: a gain that is a power of two goes into the taps and changes no bit", "[gpu]") {
    NEEDS_GPU();
    for (const Shape shape : {Shape{1, 9001, 1}, Shape{1, 2003, 3}, Shape{1, 901, 65}})
        for (const Index taps : {5, 63, 300}) {
            Problem p = problem(shape, Mode::same, Padding::odd);
            p.in = SampleType::int16;
            p.scaling.gain = {0x1p-15};
            const Job job = make_job(p, taps);
            p = job.problem;
            p.scaling.offset = {0};  // with an offset it stays with the samples
            each(job.problem, [&](const Strategy& strategy, Stage& stage) {
                if (strategy.name == "fft") return;
                const auto kept = plan(p, strategy, *the_gpu());
                const Lanes all = Lanes::all(shape);
                CHECK(bench().run_all(stage, job, all) == bench().run_all(*kept, job, all));
            });
        }
}

TEST_CASE("on the GPU: chunks, channel groups and alignment leave the bits as they are", "[gpu]") {
    NEEDS_GPU();
    for (const Shape shape : {Shape{1, 30011, 1}, Shape{1, 5003, 3}, Shape{4, 6003, 1}, Shape{2, 1009, 20}})
        for (const Index taps : {1, 18, 63, 300, 1025})
            for (const Index decimate : {1, 2, 5, 40}) {
                Problem p = problem(shape, Mode::full, Padding::odd, decimate);
                p.in = SampleType::int16;
                p.scaling.gain = {0.37};
                if (shape.inner == 1) p.in = SampleType::float32, p.scaling = {};
                const Job job = make_job(p, taps);
                each(job.problem, [&](const Strategy& strategy, Stage& stage) {
                    const Lanes all = Lanes::all(shape);
                    const auto whole = bench().run_all(stage, job, all);
                    Index odd = 0;
                    for (const Index chunk : {1, 100, 1001, 7777})
                        if (stage.shape().frames / chunk < 200)
                            CHECK(bench().run_all(stage, job, all, chunk, ++odd % 4) == whole);
                    const auto again = plan(job.problem, strategy, *the_gpu());
                    CHECK(bench().run_all(*again, job, all, 0, 3) == whole);
                    // The last lane on its own, as a pass over a group of channels.
                    const Lanes last{shape.outer - 1, 1, shape.inner - 1, 1};
                    CHECK(last_lane_is(bench().run_all(stage, job, last, 2999), stage, whole));
                });
            }
}

TEST_CASE("on the GPU: NaN and Inf spoil the outputs that use them and no other", "[gpu]") {
    NEEDS_GPU();
    for (const Index inner : {1, 3})
        for (const Index taps : {1, 5, 25, 30, 33, 63, 127, 300})
            for (const Index decimate : {1, 3, 40})
                for (const Padding padding : {Padding::zero, Padding::odd}) {
                    const Problem p = problem({1, 9000, inner}, Mode::same, padding, decimate);
                    const Job job = spoiled(make_job(p, taps), 700, {0, 5121, 8999});
                    each(job.problem, [&](const Strategy&, Stage& stage) {
                        const auto got = bench().run_all(stage, job, Lanes::all(p.shape), 4512);
                        CHECK(wrongly_spoiled(stage, job, got) == 0);
                    });
                }
}

TEST_CASE("on the GPU: a window of zeros gives exactly zero beside a burst", "[gpu]") {
    NEEDS_GPU();
    for (const Index taps : {3, 40, 129, 511}) {
        const Job job = silent_but(make_job(problem({1, 60000, 1}), taps), {2900, 100});
        each(job.problem, [&](const Strategy&, Stage& stage) {
            const auto got = bench().run_all(stage, job, Lanes::all(job.problem.shape));
            CHECK(not_zero(stage, job, got) == 0);
            CHECK(worst(stage, job, got) == "");
        });
    }
}

TEST_CASE("on the GPU: a burst costs the faint signal beside it no digits", "[gpu][small]") {
    NEEDS_GPU();
    for (const Shape shape : {Shape{1, 30000, 1}, Shape{2, 3000, 1}, Shape{1, 3000, 3}})
        for (const Index decimate : {1, 3})
            for (const Index at : {5, 1333, 2900}) {
                Job job = make_job(problem(shape, Mode::same, Padding::zero, decimate), 65);
                for (Index f = 0; f < shape.frames; ++f)
                    job.set(0, f, 0, job.sample(0, f, 0) * (f >= at && f < at + 40 ? 1e8 : 1e-4));
                each(job.problem, [&](const Strategy&, Stage& stage) {
                    const auto got = bench().run_all(stage, job, Lanes::all(shape), 1000, 1);
                    const Expected e = expect(job.problem, job.lane(0, 0));
                    Index wrong = 0;
                    for (std::size_t f = 0; f < e.y.size(); ++f)
                        wrong += !(std::abs(value(stage, got, 0, static_cast<Index>(f), 0) - e.y[f]) <=
                                   1e-8 + 1e-6 * std::abs(e.y[f]));
                    CHECK(wrong == 0);
                });
            }
}

TEST_CASE("on the GPU: constant memory holds 64 KB of taps, and tells who wants more", "[gpu]") {
    NEEDS_GPU();
    Problem p = problem({1, 100, 1});
    const Strategy& constant = *catalog().find_if(
        [](const Strategy& s) { return s.name == "constant" && s.backend == device::Backend::cuda; });
    p.taps.assign(16384, 1);
    CHECK(constant.unsupported(p, *the_gpu()) == "");
    check_accuracy(make_job(p, 16384));
    p.taps.assign(16385, 1);
    CHECK(constant.unsupported(p, *the_gpu()) ==
          "the filter has 16385 taps, and the 64 KB of constant memory hold 16384 of float32");
    p.arithmetic = SampleType::float64;
    p.taps.assign(8193, 1);
    CHECK(constant.unsupported(p, *the_gpu()) != "");
    // Two filters take turns in it.
    const Job a = make_job(problem({1, 500, 1}), 9, 1), b = make_job(problem({1, 500, 1}), 9, 2);
    const auto first = plan(a.problem, constant, *the_gpu()), second = plan(b.problem, constant, *the_gpu());
    for (int turn = 0; turn < 3; ++turn) {
        CHECK(worst(*first, a, bench().run_all(*first, a, Lanes::all(a.problem.shape))) == "");
        CHECK(worst(*second, b, bench().run_all(*second, b, Lanes::all(b.problem.shape))) == "");
    }
}
