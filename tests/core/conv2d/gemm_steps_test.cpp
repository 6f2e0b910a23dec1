// The steps of the matrix product, followed on the CPU as the kernel follows them.
#include "core/conv2d/gemm_steps.hpp"

#include "tests/catch.hpp"
#include "tests/core/conv2d/judge.hpp"

using namespace convoy;
using namespace convoy::conv2d;
using namespace convoy::conv2d::judge;

namespace {

constexpr std::size_t limit = 222u << 10;

// One output in double, by the tables alone.
double output(const Job& job, const GemmSteps& g, Index image, Index k, Index p, Index q) {
    const Problem& problem = job.problem;
    const Index group = k / problem.group_filters(), one = k % problem.group_filters();
    const Index tiles = (problem.group_filters() + GemmSteps::tile_filters - 1) / GemmSteps::tile_filters;
    const Index tile = one / GemmSteps::tile_filters, row = one % GemmSteps::tile_filters;
    const Index place = q % GemmSteps::tile_columns;
    double sum = 0;
    for (std::size_t i = 0; i < g.steps.size(); ++i) {
        const GemmSteps::Step& step = g.steps[i];
        for (int tap = 0; tap < g.taps_of(i); ++tap) {
            const Index at = place + g.shift(step, tap);
            if (at >= g.width) throw std::logic_error("a tap beyond the line");
            for (int e = 0; e < GemmSteps::entries_each; ++e) {
                const auto& entry =
                    g.entries[static_cast<std::size_t>(step.kind * GemmSteps::entries_each + e)];
                // A NaN where the output uses nothing must not reach it, whatever the weight.
                if (entry.channel >= 0 &&
                    (step.down + entry.down >= problem.spread().rows ||
                     (at - place) * problem.stride.columns + entry.right >= problem.spread().columns))
                    throw std::logic_error("a sample that the output does not use");
                const double x =
                    entry.channel < 0
                        ? 0
                        : job.sample(
                              image * problem.channels + group * problem.group_channels() + entry.channel,
                              p * problem.stride.rows - problem.before().rows + step.down + entry.down,
                              (q - place + at) * problem.stride.columns - problem.before().columns +
                                  entry.right,
                              0);
                double w = 0;
                for (int part = 0; part < g.parts(); ++part)
                    w += g.weights[static_cast<std::size_t>(
                        (group * tiles + tile) * g.tile_weights + step.weights +
                        (((tap * g.parts() + part) * GemmSteps::chunks + e / 4) * GemmSteps::tile_filters +
                         row) *
                            4 +
                        e % 4)];
                sum += w * x;
            }
        }
    }
    return sum;
}

void check_steps(Problem p, double allowed) {
    const Job job = make_job(std::move(p));
    const GemmSteps g = gemm_steps(job.problem, limit);
    INFO(describe(job.problem));
    CHECK(g.stages >= 3);
    CHECK(static_cast<std::size_t>(g.stages) * g.stage_bytes() <= limit);
    const bool exact = job.problem.precision == Precision::float32;
    int terms = 0;
    CHECK(g.steps.size() % static_cast<std::size_t>(g.round()) == 0);
    for (std::size_t i = 0; i < g.steps.size(); ++i) {
        const GemmSteps::Step& step = g.steps[i];
        CHECK(g.taps_of(i) <= g.taps[0]);
        CHECK(step.kind < g.kinds());
        CHECK(step.down <= g.reach);
        CHECK((step.begins != 0) == (terms == 0));
        terms += g.taps_of(i) * GemmSteps::entries_each;
        if (step.ends != 0) terms = 0;
        CHECK((!exact || terms < 32));
    }
    CHECK(terms == 0);
    std::vector<double> got;
    const Pair out = job.problem.outputs();
    for (Index n = 0; n < job.problem.images; ++n)
        for (Index k = 0; k < job.problem.filters; ++k)
            for (Index i = 0; i < out.rows; ++i)
                for (Index j = 0; j < out.columns; ++j)
                    got.push_back(output(job, g, n, k, i, j));
    CHECK(worst(expect(job), got, allowed) == "");
}

Problem layers(Index channels, Index filters, Pair taps) {
    Problem p;
    p.channels = channels;
    p.filters = filters;
    p.extent = {5, 140};
    p.taps = taps;
    return p;
}

}  // namespace

TEST_CASE("the steps of the matrix product add up to the convolution") {
    for (const Precision precision : {Precision::float32, Precision::tf32})
        for (const Index channels : {1, 3, 8, 20})
            for (const Index filters : {1, 66})
                for (const Pair taps : {Pair{3, 3}, Pair{1, 1}, Pair{2, 9}, Pair{7, 7}}) {
                    Problem p = layers(channels, filters, taps);
                    p.precision = precision;
                    check_steps(p, precision == Precision::tf32 ? 0x1p-11 : 0x1p-22);
                }
    for (const Pair stride : {Pair{1, 2}, Pair{2, 3}})
        for (const Pair dilation : {Pair{1, 1}, Pair{2, 2}, Pair{1, 3}, Pair{1, 30}})
            for (const Index channels : {2, 6, 16}) {
                Problem p = layers(channels, 4, {2, 5});
                p.groups = 2;
                p.stride = stride;
                p.dilation = dilation;
                p.fit = Fit::given;
                p.pad = {1, 7};
                if (p.outputs().columns > 0) check_steps(p, 0x1p-22);
            }
}

TEST_CASE("a row with many taps is cut so that its weights fit in shared memory") {
    const Problem p = make_job(layers(16, 4, {1, 31})).problem;
    const GemmSteps g = gemm_steps(p, limit);
    CHECK(g.taps[0] < 31);
    CHECK(g.repeats[0] * g.taps[0] + g.repeats[1] * g.taps[1] == 31);
    CHECK(3 * g.stage_bytes() <= limit);
}

TEST_CASE("pieces of packed lines stay within what is there for them") {
    const Problem p = make_job(layers(32, 4, {5, 3})).problem;
    const GemmSteps g = gemm_steps(p, limit);
    const GemmPiece whole{0, 8, 0, 1000, 0, 5000};
    const std::size_t all = packed_bytes(g, p.groups, whole);
    for (std::size_t room = all; room > all / 100000; room /= 3) {
        const GemmPiece piece = next_piece(g, p.groups, whole, room, 1, 132);
        const bool least =
            piece.images == 1 && piece.rows <= g.rows && piece.columns <= GemmSteps::tile_columns;
        CHECK((packed_bytes(g, p.groups, piece) <= room || least));
        CHECK((piece.columns >= 5000 || piece.columns % GemmSteps::tile_columns == 0));
        CHECK((piece.images == 1 || (piece.rows == 1000 && piece.columns == 5000)));
    }
    CHECK(next_piece(g, p.groups, whole, all, 1, 132).images == 8);
    // Of 1, 2 and 3 images of 10 tiles each, 2 fill 20 places best.
    const GemmPiece small{0, 8, 0, 4, 0, 5 * GemmSteps::tile_columns};
    const std::size_t three = packed_bytes(g, p.groups, {0, 3, 0, 4, 0, small.columns});
    CHECK(next_piece(g, p.groups, small, three, 1, 20).images == 2);
}
