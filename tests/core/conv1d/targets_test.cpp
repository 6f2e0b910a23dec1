// The strategies as processors with narrower vectors run them.
#include "tests/catch.hpp"
#include "tests/core/conv1d/judge.hpp"
#include "tests/vector_targets.hpp"

using namespace convoy;
using namespace convoy::conv1d;
using namespace convoy::conv1d::judge;

namespace {

void check_each_target(const Job& job) {
    const device::Device cpu = device::cpu();
    test::each_vector_target([&] {
        for (const Strategy* s : catalog()) {
            if (s->backend != device::Backend::cpu || !s->unsupported(job.problem, cpu).empty()) continue;
            INFO(s->name << ": " << describe(job.problem));
            const std::unique_ptr<Stage> stage = plan(job.problem, *s, cpu);
            const auto whole = run_all(*stage, job, Lanes::all(job.problem.shape));
            CHECK(worst(*stage, job, whole) == "");
            CHECK(run_all(*stage, job, Lanes::all(job.problem.shape), 57) == whole);
        }
    });
}

Problem problem(Shape shape, Mode mode, Padding padding, Index decimate, SampleType type) {
    Problem p;
    p.shape = shape;
    p.mode = mode;
    p.padding = padding;
    p.decimate = decimate;
    p.in = p.arithmetic = type;
    return p;
}

}  // namespace

TEST_CASE("every vector target keeps the bound and the joins") {
    for (const Index taps : {1, 4, 23, 45, 64, 150, 700})
        for (const Index decimate : {1, 3})
            for (const SampleType type : {SampleType::float32, SampleType::float64}) {
                check_each_target(
                    make_job(problem({1, 777, 1}, Mode::full, Padding::odd, decimate, type), taps));
                check_each_target(
                    make_job(problem({1, 90, 5}, Mode::same, Padding::zero, decimate, type), taps));
            }
}

TEST_CASE("on every vector target the worst samples and taps stay within the bound") {
    for (const Index taps : {27, 31, 46, 63, 129, 600}) {
        Problem p = problem({1, 200, 1}, Mode::same, Padding::edge, 1, SampleType::float32);
        p.taps.assign(static_cast<std::size_t>(taps), 0x1.fffp-25);
        p.taps.back() = 1;
        Job job = make_job(p, taps);
        for (Index f = 0; f < 200; ++f)
            job.set(0, f, 0, 1);
        check_each_target(job);
    }
}
