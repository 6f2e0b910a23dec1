// Every 2-D strategy of a GPU against the sums written out. Windows are device memory.
#include "core/memory/memory.hpp"
#include "tests/catch.hpp"
#include "tests/core/conv2d/judge.hpp"
#include "tests/core/conv2d/plane_cases.hpp"

using namespace convoy;
using namespace convoy::conv2d;
using namespace convoy::conv2d::judge;

namespace {

const device::Device* the_gpu() {
    return device::gpus().empty() ? nullptr : &device::gpus()[0];
}

#define NEEDS_GPU() \
    if (the_gpu() == nullptr) CONVOY_SKIP("no GPU: " + device::gpu_remark())

// A stage whose windows are copied to the GPU and back, so that it can be run as those of the CPU are.
class OnGpu : public Stage {
  public:
    explicit OnGpu(std::unique_ptr<Stage> stage) : stage_(std::move(stage)) {}
    Shape shape() const override { return stage_->shape(); }
    SampleType type() const override { return stage_->type(); }
    Span needed(Span out) const override { return stage_->needed(out); }
    Index needed_at_most(Index count) const override { return stage_->needed_at_most(count); }
    Index pieces() const override { return stage_->pieces(); }
    Lanes lanes_of(Index first, Index count) const override { return stage_->lanes_of(first, count); }
    Lanes used(Lanes out) const override { return stage_->used(out); }
    void run(const Window& in, const Window& out, Lanes lanes, device::Stream&) override {
        memory::RingShape shape;
        shape.slots = 1;
        shape.in_bytes = static_cast<std::size_t>(in.size_bytes());
        shape.out_bytes = static_cast<std::size_t>(out.size_bytes());
        const auto ring = memory::catalog().at("pinned").make(*the_gpu(), shape);
        std::memcpy(ring->slot(0).in, in.data, shape.in_bytes);
        ring->submit(0, shape.in_bytes, shape.out_bytes,
                     [&](const std::byte* from, std::byte* to, device::Stream& stream) {
                         Window there = in, result = out;
                         there.data = const_cast<std::byte*>(from);
                         result.data = to;
                         stage_->run(there, result, lanes, stream);
                     });
        ring->wait(0);
        // Only what belongs to the window: what lies between its rows is not the stage's.
        for (Index o = 0; o < out.outer; ++o)
            std::memcpy(out.data + o * out.row_bytes(), ring->slot(0).out + o * out.row_bytes(),
                        static_cast<std::size_t>(out.span.count * out.inner * bytes_of(out.type)));
    }

  private:
    std::unique_ptr<Stage> stage_;
};

void check_strategies(const Job& job) {
    check(job.problem);
    const Expected expected = expect(job);
    for (const Strategy* s : catalog()) {
        if (s->backend != device::Backend::cuda || !s->unsupported(job.problem, *the_gpu()).empty()) continue;
        INFO(s->name << ": " << describe(job.problem));
        OnGpu stage(plan(job.problem, *s, *the_gpu()));
        const auto whole = run_all(stage, job);
        CHECK(worst(expected, whole, bound(job.problem)) == "");
        for (const Index chunk : {7, 40}) {
            if (chunk >= stage.shape().frames || stage.shape().frames > 300) continue;
            const auto cut = run_all(stage, job, chunk);
            CHECK(std::memcmp(cut.data(), whole.data(), whole.size() * sizeof(double)) == 0);
        }
    }
}

Problem layers(Index images, Index channels, Pair extent, Index filters, Pair taps, Fit fit = Fit::same) {
    Problem p;
    p.images = images;
    p.channels = channels;
    p.extent = extent;
    p.filters = filters;
    p.taps = taps;
    p.fit = fit;
    return p;
}

}  // namespace

TEST_CASE("on a GPU: planes, whatever the extents") {
    NEEDS_GPU();
    for (const Pair extent : {Pair{1, 1}, Pair{9, 40}, Pair{70, 33}, Pair{3, 300}})
        for (const Pair taps : {Pair{1, 1}, Pair{3, 3}, Pair{4, 6}, Pair{15, 15}, Pair{1, 31}})
            for (const Fit fit : {Fit::same, Fit::full})
                check_strategies(make_job(layers(2, 1, extent, 1, taps, fit)));
}

TEST_CASE("on a GPU: strides, dilations, paddings, groups") {
    NEEDS_GPU();
    for (const Pair stride : {Pair{1, 1}, Pair{2, 1}, Pair{3, 4}, Pair{10, 10}})
        for (const Pair dilation : {Pair{1, 1}, Pair{2, 3}})
            for (const Index filters : {2, 6, 18}) {
                Problem p = layers(1, 4, {23, 61}, filters, {4, 3}, Fit::given);
                p.pad = {2, 5};
                p.stride = stride;
                p.dilation = dilation;
                p.groups = filters == 18 ? 2 : 1;
                p.bias = numbers(filters, 4);
                p.relu = filters == 6;
                check_strategies(make_job(p));
            }
    check_strategies(make_job(layers(1, 70, {5, 26}, 20, {3, 3})));
    check_strategies(make_job(layers(3, 16, {12, 8}, 64, {3, 3})));
}

TEST_CASE("on a GPU: stored types, float64, complex values") {
    NEEDS_GPU();
    for (const SampleType in : {SampleType::int16, SampleType::int32, SampleType::float64})
        for (const Precision precision : {Precision::float32, Precision::float64}) {
            Problem p = layers(1, 2, {9, 45}, 3, {3, 4});
            p.in = in;
            p.precision = precision;
            p.scaling.gain = numbers(18, 5);
            p.scaling.offset = numbers(18, 6);
            check_strategies(make_job(p));
        }
    Problem p = layers(2, 2, {10, 37}, 9, {3, 3});
    p.complex = true;
    check_strategies(make_job(p));
}

TEST_CASE("on a GPU: channels may come last") {
    NEEDS_GPU();
    for (const Index channels : {3, 4, 20, 36})
        for (const Pair stride : {Pair{1, 1}, Pair{2, 3}}) {
            Problem p = layers(2, channels, {9, 150}, 10, {3, 4});
            p.channels_last = true;
            p.stride = stride;
            check_strategies(make_job(p));
            if (channels == 20) continue;
            p.scaling.gain = numbers(2 * 9 * channels, 5);
            p.in = SampleType::int16;
            check_strategies(make_job(p));
        }
    Problem p = layers(1, 8, {9, 45}, 70, {3, 3});
    p.channels_last = true;
    p.groups = 2;
    check_strategies(make_job(p));
    p = layers(1, 4, {9, 45}, 6, {3, 4});
    p.channels_last = true;
    p.complex = true;
    check_strategies(make_job(p));
}

TEST_CASE("on a GPU: many channels, in slices and tiles that are not full") {
    NEEDS_GPU();
    for (const Pair extent : {Pair{5, 129}, Pair{7, 300}})
        for (const Index filters : {1, 64, 70})
            for (const Index channels : {8, 17, 40})
                check_strategies(make_job(layers(1, channels, extent, filters, {3, 3})));
    Problem p = layers(2, 24, {9, 140}, 33, {5, 5}, Fit::given);
    for (const Pair stride : {Pair{2, 2}, Pair{1, 3}})
        for (const Pair dilation : {Pair{1, 1}, Pair{2, 2}, Pair{3, 9}}) {
            p.pad = {2, 3};
            p.stride = stride;
            p.dilation = dilation;
            p.bias = numbers(33, 4);
            p.relu = dilation.rows == 2;
            check_strategies(make_job(p));
        }
    check_strategies(make_job(layers(1, 64, {6, 200}, 20, {1, 1})));
    check_strategies(make_job(layers(1, 16, {4, 200}, 20, {1, 31})));
    check_strategies(make_job(layers(1, 1, {40, 200}, 40, {11, 11})));
}

TEST_CASE("on a GPU: square kernels over one and three channels, down the rows") {
    NEEDS_GPU();
    for (const Index taps : {3, 5, 7, 9, 11, 13, 15})
        for (const Index filters : {1, 2, 9, 17}) {
            Problem p = layers(2, 1, {21, 150}, filters, {taps, taps});
            if (filters == 9) p.bias = numbers(filters, 4);
            p.relu = filters == 9;
            check_strategies(make_job(p, 1, filters == 2 ? 10 : 0));
            if (taps > 7) continue;
            p.channels = 3;
            p.fit = Fit::valid;
            for (const Index stride : {1, 2}) {
                p.stride = {stride, stride};
                check_strategies(make_job(p, 1, filters == 2 ? 10 : 0));
            }
            p.channels = 1;
            check_strategies(make_job(p));
        }
    // Groups with filters of their own, and a NaN.
    for (const Index filters : {4, 8}) {
        Job job = make_job(layers(2, 4, {20, 140}, filters, {5, 5}));
        job.problem.groups = 4;
        job.problem.kernel = numbers(filters * 25, 8);
        job.set(7, 133, 0, std::numeric_limits<double>::quiet_NaN());
        check_strategies(job);
    }
    // An image too high to be computed at once.
    const Job job = make_job(layers(1, 1, {270'000, 5}, 1, {3, 3}));
    OnGpu stage(plan(job.problem, catalog().at("small_channel"), *the_gpu()));
    CHECK(stage.pieces() > 1);
    const auto whole = run_all(stage, job);
    CHECK(worst(expect(job), whole, bound(job.problem)) == "");
    const auto cut = run_all(stage, job, 0, 1);
    CHECK(std::memcmp(cut.data(), whole.data(), whole.size() * sizeof(double)) == 0);
}

// Each way through the kernels once, small enough for compute-sanitizer.
TEST_CASE("on a GPU: one small problem of each kind", "[sanitize]") {
    NEEDS_GPU();
    for (const Index channels : {1, 2, 3, 8})
        for (const Index filters : {1, 9})
            for (const Index stride : {1, 2}) {
                const Index taps = channels == 3 ? 5 : 3;
                Problem p = layers(1, channels, {5, 140}, filters, {taps, taps}, Fit::given);
                p.pad = {1, 1};
                p.stride = {channels == 1 ? stride : 1, stride};
                p.channels_last = channels == 8 && filters == 9;
                Job job = make_job(p);
                const Expected expected = expect(job);
                const auto check_one = [&](const char* name, double allowed) {
                    const Strategy& s = catalog().at(name);
                    if (!s.unsupported(job.problem, *the_gpu()).empty()) return;
                    INFO(name << ": " << describe(job.problem));
                    OnGpu stage(plan(job.problem, s, *the_gpu()));
                    CHECK(worst(expected, run_all(stage, job), allowed) == "");
                };
                check_one("small_channel", bound(job.problem));
                check_one("implicit_gemm", bound(job.problem));
                job.problem.precision = Precision::tf32;
                check_one("implicit_gemm", 0x1p-10);
            }
}

TEST_CASE("on a GPU: the bits do not depend on which images, bands of rows or filters are computed at once") {
    NEEDS_GPU();
    for (const Pair stride : {Pair{1, 1}, Pair{3, 2}})
        for (const PlaneCase& c : plane_cases()) {
            Job job = plane_job(c, stride);
            check(job.problem);
            for (const Strategy* s : catalog()) {
                if (s->backend != device::Backend::cuda || !s->unsupported(job.problem, *the_gpu()).empty())
                    continue;
                INFO(s->name << ": " << describe(job.problem));
                OnGpu stage(plan(job.problem, *s, *the_gpu()));
                if (stride.rows == 1) CHECK(stage.pieces() > 1);
                const auto whole = run_all(stage, job);
                for (const Index pieces : {1, 3}) {
                    const auto cut = run_all(stage, job, 0, pieces);
                    CHECK(std::memcmp(cut.data(), whole.data(), whole.size() * sizeof(double)) == 0);
                }
            }
        }
}

TEST_CASE("on a GPU: many tiles, in several pieces and by blocks that stay") {
    NEEDS_GPU();
    // More lines than there is room for at once, and more tiles than a GPU works on at once.
    for (const Index channels : {1, 24}) {
        const Problem p = layers(channels == 1 ? 4 : 1, channels, {340, 1600}, 1, {3, 3});
        const Job job = make_job(p);
        const Expected expected = expect(job);
        for (const char* name : {"small_channel", "implicit_gemm"}) {
            const Strategy& s = catalog().at(name);
            if (!s.unsupported(job.problem, *the_gpu()).empty()) continue;
            INFO(name << ": " << describe(job.problem));
            OnGpu stage(plan(job.problem, s, *the_gpu()));
            const auto whole = run_all(stage, job);
            CHECK(worst(expected, whole, bound(job.problem)) == "");
            const auto cut = run_all(stage, job, 1000);
            CHECK(std::memcmp(cut.data(), whole.data(), whole.size() * sizeof(double)) == 0);
        }
    }
}

TEST_CASE("on a GPU: NaN stays where it is used, and sums keep the bound for samples that do not cancel") {
    NEEDS_GPU();
    for (const Index filters : {1, 9}) {
        Job job = make_job(layers(1, 2, {14, 90}, filters, {3, 5}));
        for (const Index row : {0, 7, 13, 20})
            for (const Index column : {0, 44, 89})
                job.set(row, column, 0, std::numeric_limits<double>::quiet_NaN());
        check_strategies(job);
    }
    for (const Index filters : {1, 8})
        check_strategies(make_job(layers(1, 3, {40, 60}, filters, {25, 25}), 1, 10));
    for (const Index channels : {1, 3, 8, 64, 256})
        for (const Pair taps : {Pair{7, 7}, Pair{3, 3}}) {
            Problem p = layers(1, channels, {9, 150}, 9, taps);
            for (Index i = 0; i < p.filters * p.terms(); ++i)
                p.kernel.push_back(1 + 0x1p-10 * static_cast<double>(i % 7) +
                                   0x1p-20 * static_cast<double>(i % 5));
            check_strategies(make_job(p, 1, 10));
            check_strategies(make_job(layers(1, channels, {9, 150}, 9, taps), 1, 10));
        }
    Job job = make_job(layers(1, 24, {14, 190}, 9, {3, 5}));
    for (const Index row : {0, 7, 13, 20, 320})
        for (const Index column : {0, 44, 89, 189}) {
            job.set(row, column, 0, std::numeric_limits<double>::quiet_NaN());
            job.set(row, column / 2, 0, std::numeric_limits<double>::infinity());
        }
    check_strategies(job);
    // Few channels: taps of a row share lines, some of them without a weight.
    Problem p = layers(2, 3, {30, 301}, 9, {7, 7});
    p.stride = {2, 2};
    for (const bool channels_last : {false, true}) {
        p.channels_last = channels_last;
        job = make_job(p);
        for (const Index row : {0, 11, 29})
            for (const Index column : {0, 44, 131, 300}) {
                job.set(row, column, channels_last ? 1 : 0, std::numeric_limits<double>::quiet_NaN());
                job.set(row, column / 2, 0, std::numeric_limits<double>::infinity());
            }
        check_strategies(job);
    }
}

TEST_CASE("on a GPU: tf32 and bf16 are as exact as their factors") {
    NEEDS_GPU();
    for (const Precision precision : {Precision::tf32, Precision::bf16})
        for (const Index channels : {3, 20}) {
            Problem p = layers(2, channels, {13, 150}, 70, channels == 3 ? Pair{7, 7} : Pair{3, 3});
            p.precision = precision;
            p.stride.columns = channels == 3 ? 2 : 1;
            for (const bool channels_last : {false, true})
                for (const Index filters : {9, 70}) {
                    p.channels_last = channels_last;
                    p.filters = filters;
                    const Job job = make_job(p);
                    OnGpu stage(plan(job.problem, catalog().at("implicit_gemm"), *the_gpu()));
                    const auto whole = run_all(stage, job);
                    CHECK(worst(expect(job), whole, precision == Precision::tf32 ? 0x1p-10 : 0x1p-7) == "");
                    const auto cut = run_all(stage, job, 7);
                    CHECK(std::memcmp(cut.data(), whole.data(), whole.size() * sizeof(double)) == 0);
                }
        }
}
