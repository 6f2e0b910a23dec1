// Results in pieces: the same bits whichever images, bands of rows and filters are computed at once.
#include "tests/catch.hpp"
#include "tests/core/conv2d/plane_cases.hpp"

using namespace convoy;
using namespace convoy::conv2d;
using namespace convoy::conv2d::judge;

TEST_CASE("the bits do not depend on which images, bands of rows or filters are computed at once") {
    for (const Pair stride : {Pair{1, 1}, Pair{3, 2}})
        for (const PlaneCase& c : plane_cases()) {
            const Job job = plane_job(c, stride);
            check(job.problem);
            const Expected expected = expect(job);
            for (const Strategy* s : catalog()) {
                if (s->backend != device::Backend::cpu || (s->name == "reference" && c.filters > 100))
                    continue;
                INFO(s->name << ": " << describe(job.problem));
                const auto stage = plan(job.problem, *s, device::cpu());
                if (stride.rows == 1) CHECK(stage->pieces() > 1);
                const auto whole = run_all(*stage, job);
                CHECK(worst(expected, whole, bound(job.problem)) == "");
                for (const Index pieces : {1, 3})
                    CHECK(run_all(*stage, job, 0, pieces) == whole);
            }
        }
}

TEST_CASE("pieces leave nothing out, and use rows of their own only") {
    for (const PlaneCase& c : plane_cases()) {
        const Job job = plane_job(c, {1, 1});
        const auto stage =
            plan(job.problem, *choose("auto", job.problem, device::cpu()).strategy, device::cpu());
        INFO(describe(job.problem));
        Index row = 0;
        for (Index i = 0; i < stage->pieces(); ++i) {
            const Lanes lanes = stage->lanes_of(i, 1), used = stage->used(lanes);
            CHECK((lanes.outer_first == row && lanes.outer_count > 0));
            row += lanes.outer_count;
            // An image's rows, or a band's with its halo; never more than a filter block's channels.
            CHECK(used.outer_count <= std::max<Index>(c.extent.rows * c.channels / c.groups,
                                                      c.channels_last ? c.extent.rows : 0));
            CHECK((used.outer_first >= 0 &&
                   used.outer_first + used.outer_count <= job.problem.in_shape().outer));
        }
        CHECK(row == stage->shape().outer);
    }
}
