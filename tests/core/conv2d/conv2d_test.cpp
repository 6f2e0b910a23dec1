// Every 2-D strategy of the CPU against the sums written out, and those against SciPy.
#include "core/conv2d/conv2d.hpp"

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/core/conv2d/judge.hpp"
#include "tests/scipy.hpp"
#include "tests/vector_targets.hpp"

using namespace convoy;
using namespace convoy::conv2d;
using namespace convoy::conv2d::judge;

namespace {

Problem planes(Index images, Pair extent, Pair taps, Fit fit = Fit::same) {
    Problem p;
    p.images = images;
    p.extent = extent;
    p.taps = taps;
    p.fit = fit;
    return p;
}

Problem layers(Index images, Index channels, Pair extent, Index filters, Pair taps, Fit fit = Fit::same) {
    Problem p = planes(images, extent, taps, fit);
    p.channels = channels;
    p.filters = filters;
    return p;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void check_strategies(const Job& job) {
    check(job.problem);
    const device::Device cpu = device::cpu();
    const Expected expected = expect(job);
    for (const Strategy* s : catalog()) {
        if (s->backend != device::Backend::cpu || !s->unsupported(job.problem, cpu).empty()) continue;
        INFO(s->name << ": " << describe(job.problem));
        const auto stage = plan(job.problem, *s, cpu);
        CHECK(stage->shape() == job.problem.out_shape());
        CHECK(stage->lanes_of(0, stage->pieces()) == Lanes::all(stage->shape()));
        CHECK(stage->used(Lanes::all(stage->shape())) == Lanes::all(job.problem.in_shape()));
        CHECK(stage->type() == job.problem.arithmetic());
        const auto whole = run_all(*stage, job);
        CHECK(worst(expected, whole, bound(job.problem)) == "");
        for (const Index chunk : {1, 7, 30})
            if (chunk < stage->shape().frames) CHECK(same_bits(run_all(*stage, job, chunk), whole));
        if (stage->pieces() > 1) CHECK(same_bits(run_all(*stage, job, 0, 1), whole));
    }
}

// Extents that are smaller than a kernel, than a strip, and longer than a patch.
const Pair extents[] = {{1, 1}, {3, 2}, {9, 40}, {70, 33}, {2, 600}};

}  // namespace

TEST_CASE("planes with one kernel each, whatever the extents") {
    for (const Pair extent : extents)
        for (const Pair taps :
             {Pair{1, 1}, Pair{2, 2}, Pair{3, 3}, Pair{4, 6}, Pair{1, 31}, Pair{15, 15}, Pair{7, 1}})
            for (const Fit fit : {Fit::same, Fit::full, Fit::valid}) {
                const Problem p = planes(2, extent, taps, fit);
                if (p.outputs().rows > 0 && p.outputs().columns > 0) check_strategies(make_job(p));
            }
}

TEST_CASE("strides, dilations and paddings") {
    for (const Pair stride : {Pair{1, 2}, Pair{2, 1}, Pair{3, 4}, Pair{2, 2}, Pair{10, 10}})
        for (const Pair dilation : {Pair{1, 1}, Pair{2, 3}, Pair{3, 2}, Pair{4, 4}})
            for (const Pair taps : {Pair{3, 3}, Pair{4, 5}, Pair{1, 1}})
                for (const Pair pad : {Pair{0, 0}, Pair{1, 2}, Pair{20, 30}}) {
                    Problem p = layers(1, 2, {23, 61}, 5, taps, Fit::given);
                    p.pad = pad;
                    p.stride = stride;
                    p.dilation = dilation;
                    check_strategies(make_job(p));
                }
}

TEST_CASE("channels, filters and groups") {
    for (const Index groups : {1, 2, 6})
        for (const Index filters : {6, 12, 30}) {
            Problem p = layers(2, 6, {11, 29}, filters, {3, 5});
            p.groups = groups;
            p.bias = numbers(filters, 3);
            p.relu = groups != 2;
            check_strategies(make_job(p));
        }
    for (const Index filters : {1, 2, 3, 4, 5, 7, 8, 9})
        check_strategies(make_job(layers(1, 3, {8, 50}, filters, {3, 3})));
    check_strategies(make_job(layers(1, 70, {5, 26}, 4, {3, 3})));
    check_strategies(make_job(layers(3, 1, {125, 8}, 16, {3, 3})));
}

TEST_CASE("stored integers are scaled, and float64 is float64") {
    for (const SampleType in :
         {SampleType::int16, SampleType::int32, SampleType::float32, SampleType::float64})
        for (const Precision precision : {Precision::float32, Precision::float64}) {
            Problem p = layers(1, 2, {9, 45}, 3, {3, 4});
            p.in = in;
            p.precision = precision;
            p.stride = {1, 2};
            p.scaling.gain = numbers(18, 5);
            p.scaling.offset = numbers(18, 6);
            check_strategies(make_job(p));
            p.scaling.gain = {0.25};
            p.scaling.offset.clear();
            check_strategies(make_job(p));
        }
}

TEST_CASE("complex images are convolved part by part") {
    for (const Pair stride : {Pair{1, 1}, Pair{2, 3}}) {
        Problem p = layers(2, 2, {10, 37}, 3, {3, 3});
        p.complex = true;
        p.stride = stride;
        check_strategies(make_job(p));
    }
}

TEST_CASE("channels may come last") {
    for (const Index groups : {1, 2})
        for (const Pair stride : {Pair{1, 1}, Pair{2, 3}})
            for (const bool complex : {false, true}) {
                Problem p = layers(2, 4, {11, 45}, 6, {3, 4});
                p.channels_last = true;
                p.groups = groups;
                p.stride = stride;
                p.complex = complex;
                p.in = complex ? SampleType::float32 : SampleType::int16;
                if (!complex) p.scaling.gain = numbers(2 * 11 * 4, 5);
                check_strategies(make_job(p));
            }
}

TEST_CASE("correlation leaves the kernel as it is") {
    Problem p = planes(1, {20, 30}, {4, 6});
    p.correlate = true;
    check_strategies(make_job(p));
}

TEST_CASE("sums keep the bound for samples that do not cancel") {
    for (const Pair taps : {Pair{11, 11}, Pair{1, 1000}, Pair{40, 40}}) {
        Problem p = planes(1, {45, 1010}, taps, Fit::valid);
        p.extent = {taps.rows + 4, taps.columns + 40};
        for (Index i = 0; i < p.terms(); ++i)
            p.kernel.push_back(1 + 0x1p-10 * static_cast<double>(i % 7));
        check_strategies(make_job(p, 1, 10));
    }
    check_strategies(make_job(layers(1, 128, {6, 30}, 5, {3, 3}), 1, 10));
}

TEST_CASE("NaN spoils the outputs that use it and no other; windows of zeros give zeros") {
    for (const Index filters : {1, 2, 3, 5})
        for (const Pair stride : {Pair{1, 1}, Pair{2, 3}}) {
            Problem p = layers(1, 2, {14, 90}, filters, {3, 5});
            p.stride = stride;
            p.relu = filters == 2;
            Job job = make_job(p);
            for (const Index row : {0, 7, 13, 20})
                for (const Index column : {0, 44, 89})
                    job.set(row, column, 0, std::numeric_limits<double>::quiet_NaN());
            check_strategies(job);
            for (Index row = 0; row < 28; ++row)
                for (Index column = 10; column < 40; ++column)
                    job.set(row, column, 0, 0);
            check_strategies(job);
        }
}

TEST_CASE("every vector target gives sums within the bound") {
    test::each_vector_target([] {
        check_strategies(make_job(planes(1, {20, 200}, {5, 7})));
        check_strategies(make_job(layers(1, 3, {9, 130}, 7, {3, 3})));
        Problem p = layers(1, 3, {9, 33}, 6, {3, 3});
        p.precision = Precision::float64;
        p.in = SampleType::float64;
        p.stride = {2, 2};
        check_strategies(make_job(p));
    });
}

namespace {

// Samples and coefficients that C++ and Python make alike.
double whole_number(Index i) {
    return static_cast<double>((i * 7919 + i * i * 104729 + i / 7 * 31) % 2048 - 1024) / 64;
}

void check_scipy(Problem p, const std::string& sides) {
    p.in = SampleType::float64;
    p.precision = Precision::float64;
    p.kernel.clear();
    for (Index i = 0; i < p.filters * p.terms(); ++i)
        p.kernel.push_back(whole_number(i + 5000));
    check(p);
    Job job = make_job(p);
    const Shape shape = p.in_shape();
    for (Index i = 0; i < shape.samples(); ++i)
        job.set(i / shape.frames, i % shape.frames, 0, whole_number(i));
    const auto n = [](Index i) { return std::to_string(i); };
    const auto rows = test::scipy(
        "def make(i): return ((i * 7919 + i * i * 104729 + i // 7 * 31) % 2048 - 1024) / 64\n"
        "x = make(np.arange(" +
        n(shape.samples()) + ", dtype=np.int64)).reshape(" + n(p.images) + "," + n(p.channels) + "," +
        n(p.extent.rows) + "," + n(p.extent.columns) +
        ")\n"
        "w = make(np.arange(" +
        n(p.filters * p.terms()) + ", dtype=np.int64) + 5000).reshape(" + n(p.filters) + "," +
        n(p.group_channels()) + "," + n(p.taps.rows) + "," + n(p.taps.columns) +
        ")\n"
        "spread = np.zeros(w.shape[:2] + (" +
        n(p.spread().rows) + "," + n(p.spread().columns) +
        "))\n"
        "spread[:, :, ::" +
        n(p.dilation.rows) + ", ::" + n(p.dilation.columns) +
        "] = w\n"
        "f = signal." +
        (p.correlate ? "correlate2d" : "convolve2d") + "\n" + "pad = " +
        (p.fit == Fit::given ? "((" + n(p.pad.rows) + ",)*2, (" + n(p.pad.columns) + ",)*2)" : "0") +
        "\n"
        "for image in x:\n"
        "    for k in range(" +
        n(p.filters) +
        "):\n"
        "        first = k // " +
        n(p.group_filters()) + " * " + n(p.group_channels()) +
        "\n"
        "        y = sum(f(np.pad(image[first + c], pad), spread[k, c], mode='" +
        sides + "') for c in range(" + n(p.group_channels()) +
        "))\n"
        "        row(y[::" +
        n(p.stride.rows) + ", ::" + n(p.stride.columns) + "].ravel())\n");
    std::vector<double> judged;
    for (const auto& row : rows)
        judged.insert(judged.end(), row.begin(), row.end());
    const Expected expected = expect(job);
    INFO(describe(p));
    CHECK(worst({judged, expected.terms}, expected.y, 1e-15) == "");
    check_strategies(job);
}

}  // namespace

TEST_CASE("the sums written out are SciPy's") {
    check_scipy(planes(2, {9, 13}, {4, 6}), "same");
    check_scipy(planes(1, {9, 13}, {3, 5}, Fit::full), "full");
    check_scipy(planes(1, {9, 13}, {2, 5}, Fit::valid), "valid");
    Problem p = planes(1, {9, 13}, {4, 6});
    p.correlate = true;
    check_scipy(p, "same");
    p.stride = {3, 2};
    p.dilation = {2, 3};
    p.fit = Fit::full;
    check_scipy(p, "full");
    Problem deep = layers(2, 4, {10, 12}, 6, {3, 2}, Fit::given);
    deep.groups = 2;
    deep.pad = {1, 2};
    deep.stride = {3, 4};
    deep.dilation = {2, 3};
    check_scipy(deep, "valid");
}

TEST_CASE("a request that makes no sense is one clear line") {
    const auto message = [](auto&& change) {
        Problem p = layers(1, 4, {10, 12}, 6, {3, 3});
        p.kernel = numbers(p.filters * p.terms(), 1);
        change(p);
        try {
            check(p);
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string("no error");
    };
    CHECK(message([](Problem&) {}) == "no error");
    CHECK_THAT(message([](Problem& p) { p.groups = 3; }),
               containing("3 groups do not divide the image's 4 channels"));
    CHECK_THAT(message([](Problem& p) { p.groups = 4; }),
               containing("4 groups do not divide the kernel's 6 filters"));
    CHECK_THAT(message([](Problem& p) { p.groups = 2; }),
               containing("the kernel has 4 channels, and each of 2 groups"));
    CHECK_THAT(message([](Problem& p) { p.groups = 0; }), containing("must be 1 or more"));
    CHECK_THAT(message([](Problem& p) { p.stride = {0, 1}; }), containing("the stride 0 x 1"));
    CHECK_THAT(message([](Problem& p) { p.dilation = {1, 0}; }), containing("the dilation 1 x 0"));
    CHECK_THAT(message([](Problem& p) {
                   p.fit = Fit::given, p.pad = {-1, 0};
               }),
               containing("the padding -1 x 0"));
    CHECK_THAT(message([](Problem& p) {
                   p.fit = Fit::valid, p.dilation = {5, 1};
               }),
               containing("the output would be empty"));
    CHECK_THAT(message([](Problem& p) { p.kernel.clear(); }), containing("the kernel is empty"));
    CHECK_THAT(message([](Problem& p) { p.kernel[3] = INFINITY; }), containing("coefficient 3"));
    CHECK_THAT(message([](Problem& p) { p.bias = {1, 2}; }), containing("2 biases for 6 filters"));
    CHECK_THAT(message([](Problem& p) { p.complex = true, p.relu = true; }), containing("complex"));
    const Problem p = make_job(planes(1, {10, 12}, {3, 3})).problem;
    CHECK_THROWS_WITH(choose("winograd", p, device::cpu()),
                      containing("choose auto or one of reference, direct, gemm"));
}

TEST_CASE("auto takes direct for wide images and gemm for narrow ones") {
    const auto taken = [](Problem p) { return choose("auto", p, device::cpu()).strategy->name; };
    CHECK(taken(planes(1, {1025, 16384}, {15, 15})) == "direct");
    CHECK(taken(layers(1, 1, {1025, 16384}, 16, {11, 11})) == "direct");
    CHECK(taken(layers(32, 512, {125, 8}, 512, {3, 3})) == "gemm");
}
