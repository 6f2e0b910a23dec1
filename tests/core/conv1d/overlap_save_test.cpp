// How overlap-save on the GPU cuts filters and signals.
#include "core/conv1d/overlap_save.hpp"

#include <numeric>
#include <set>

#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::conv1d;

namespace {

Problem problem(Index taps, Index decimate) {
    Problem p;
    p.taps.assign(static_cast<std::size_t>(taps), 1);
    p.decimate = decimate;
    p.shape = {1, 100000, 1};
    return p;
}

}  // namespace

TEST_CASE("overlap-save keeps only results that no sample from the other end reaches") {
    for (const int radix : {16, 32})
        for (const Index taps : {1, 2, 63, 127, 1023, 2047, 2049, 4000, 4097, 8193, 20000, 100003})
            for (const Index decimate : {1, 2, 3, 40, 127, 1000}) {
                const auto o = gpu::overlap_save(problem(taps, decimate), radix, {1, 1});
                const Index length = Index{radix} * radix * 16;
                if (!o) {
                    CHECK(std::lcm(decimate, Index{gpu::segment}) > length / 2);
                    continue;
                }
                INFO(radix << ", " << taps << " taps, decimate " << decimate);
                CHECK(o->length == length);
                CHECK(o->keep > 0);
                CHECK(o->keep % decimate == 0);
                CHECK(o->keep % gpu::segment == 0);
                CHECK(o->keep + o->part - 1 <= length);
                // The parts are the taps, in order, and each is under the samples that its offset says.
                Index all = 0;
                for (int part = 0; part < o->parts; ++part) {
                    const auto of = static_cast<Index>(o->taps_of(part, problem(taps, decimate).taps).size());
                    CHECK(of > 0);
                    CHECK(of <= o->part);
                    CHECK(gpu::OverlapSave::offset_of(part, o->part, taps) == taps - all - of);
                    all += of;
                }
                CHECK(all == taps);
            }
}

TEST_CASE("more parts than one are taken where they leave more of each transform") {
    CHECK(gpu::overlap_save(problem(127, 1), 16, {1, 1})->parts == 1);
    CHECK(gpu::overlap_save(problem(4000, 1), 16, {1, 1})->parts > 1);
    CHECK(gpu::overlap_save(problem(4000, 1), 32, {1, 1})->parts == 1);
}

TEST_CASE("items of work are all pairs of all lanes, once, in either layout") {
    for (const bool planar : {true, false})
        for (const Index count : {1, 100, 101, 1000})
            for (const Index decimate : {1, 3}) {
                gpu::Job job;
                job.outer = planar ? 5 : 2;
                job.inner = planar ? 1 : 7;
                job.out_span = {300, count};
                job.decimate = decimate;
                const gpu::Pairs pairs = gpu::pairs_of(job, 100, job.out_span);
                std::set<std::tuple<Index, Index, Index>> seen;
                Index wanted = 0;
                for (Index item = 0; item < pairs.count(); ++item) {
                    const gpu::PairPlace at = gpu::place(job, pairs, item);
                    CHECK(at.outer < job.outer);
                    CHECK(at.inner < job.inner);
                    CHECK((at.output - 300) % 100 == 0);
                    CHECK(at.output < 300 + count);
                    seen.insert({at.outer, at.inner, at.output});
                    wanted += (at.wanted - 1) / decimate + 1;
                }
                CHECK(static_cast<Index>(seen.size()) == pairs.count());
                CHECK(wanted == count * job.outer * job.inner);
            }
}

TEST_CASE("outputs whose windows reach beyond the ends are found, and their pairs lie as those of the run") {
    for (const Index taps : {1, 2, 9, 50, 400})
        for (const Index decimate : {1, 3})
            for (const Span run : {Span{0, 60}, Span{0, 20}, Span{20, 20}, Span{40, 20}}) {
                gpu::Job job;
                job.frames = 60 * decimate - 1;
                job.taps = taps;
                job.first = -(taps / 2);
                job.decimate = decimate;
                job.out_span = run;
                const gpu::AtEnds ends = gpu::outputs_at_ends(job);
                for (Index n = run.first; n < run.end(); ++n) {
                    const auto in = [&](Span s) { return n >= s.first && n < s.end(); };
                    CHECK(in(ends.start) == (job.frame_of(n) < 0));
                    CHECK(in(ends.end) == (job.frame_of(n) + taps > job.frames));
                }
                for (const Span wanted : {ends.start, ends.end, run}) {
                    const gpu::Pairs pairs = gpu::pairs_of(job, 10, wanted);
                    std::set<Index> found;
                    for (Index item = 0; item < pairs.count(); ++item) {
                        const gpu::PairPlace at = gpu::place(job, pairs, item);
                        CHECK((at.output - run.first) % 10 == 0);
                        for (int i = at.skipped; i < at.wanted; ++i)
                            if (i % decimate == 0) found.insert(at.output + i / decimate);
                    }
                    CHECK(static_cast<Index>(found.size()) == wanted.count);
                    CHECK((found.empty() ||
                           (*found.begin() == wanted.first && *found.rbegin() == wanted.end() - 1)));
                }
            }
}

TEST_CASE("divisions take the short way only where it is right") {
    for (const Index a : {Index{0}, Index{7}, Index{4294967295}, Index{4294967296}, Index{1} << 40})
        for (const Index b : {Index{1}, Index{3}, Index{4294967295}, Index{4294967297}})
            CHECK(gpu::quotient(a, b) == a / b);
}
