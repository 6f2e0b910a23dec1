// The index maps of the CUDA strategies, walked on the CPU: what the kernels compute with them is right
// wherever the maps are, so that a machine without a GPU guards them too.
#include "core/conv1d/staged_maps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "core/conv1d/conv1d.hpp"
#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::conv1d;

namespace {

constexpr int threads = gpu::tile_threads;

gpu::Job job_of(Index outer, Index count, Index inner, Index taps = 5, Index decimate = 1,
                Index first_output = 7) {
    gpu::Job job;
    job.outer = outer;
    job.inner = inner;
    job.decimate = decimate;
    job.taps = taps;
    job.first = -(taps / 2);
    job.frames = 1000000;
    job.out_span = {first_output, count};
    job.out_pitch = count + 3;
    job.in_span = {std::max<Index>(job.reach_first(), 0), 0};
    job.in_span.count = job.reach_end() - job.in_span.first;
    job.in_pitch = job.in_span.count + 1;
    return job;
}

// What the threads of all strategies can be given: outputs of a thread, groups, samples in 16 bytes.
struct Core {
    int per_thread, vector;
};
constexpr Core cores[] = {{28, 4}, {12, 4}, {4, 4}, {14, 2}, {6, 2}, {2, 2}, {1, 4}, {4, 2}};

int body_of(const Core& c) {
    return c.per_thread == 1 ? 1 : c.per_thread + c.vector;
}

}  // namespace

TEST_CASE("division by a known number is exact") {
    for (const int by : {1, 2, 3, 7, 10, 255, 256, 1000, 4095, 4096}) {
        const gpu::Divisor divide(by);
        bool right = true;
        for (int n = 0; n < 1 << 17; ++n)
            right = right && divide(n) == n / by;
        CHECK(right);
    }
}

TEST_CASE("one thread an output covers each output once, in the order of memory") {
    for (const Index inner : {1, 2, 3, 16, 300, 100000}) {
        const gpu::Job job = job_of(2, 37, inner);
        Index next = 0;
        bool right = true;
        for (Index block = 0; block < gpu::ceil_div(37 * inner, threads); ++block)
            for (int t = 0; t < threads; ++t) {
                const gpu::Place at = gpu::place(job, block, threads, t);
                if (at.output >= job.out_span.end()) continue;
                right = right && job.output_at(0, at.inner, at.output) == next++;
            }
        CHECK(right);
        CHECK(next == 37 * inner);
    }
    // Past 2^32 lanes of one frame, and past 2^31 samples.
    const gpu::Job wide = job_of(1, 3, Index{5} << 32);
    CHECK(gpu::place(wide, (Index{5} << 32) / threads + 1, threads, 9).inner == threads + 9);
    CHECK(gpu::place(wide, (Index{5} << 32) / threads + 1, threads, 9).output == 8);
}

TEST_CASE("blocks of outputs that need no looking read the window only") {
    for (const Index decimate : {1, 3, 100})
        for (const Index taps : {1, 63, 2000})
            for (const Index first : {0, 7, 5000}) {
                gpu::Job job = job_of(2, 9000, 1, taps, decimate, first);
                job.in_span.count = std::min(job.in_span.count, Index{200000} - job.in_span.first);
                const int spare = taps % 2 == 0 ? 3 : 0;
                const gpu::PlainBlocks plain = gpu::plain_blocks(job, threads, spare);
                Index found = 0;
                for (Index b = 0; b < gpu::ceil_div(9000, threads); ++b) {
                    const Index n = first + b * threads, f = job.frame_of(n);
                    const bool there = n + threads <= job.out_span.end() &&
                                       job.plain(f - spare, f + (threads - 1) * decimate + taps + spare);
                    CHECK(there == (b >= plain.begin && b < plain.end));
                    if (there)
                        CHECK(job.sample_at(1, 0, f) == plain.in + job.in_pitch + b * threads * decimate);
                    found += there;
                }
                if (decimate == 1) CHECK(found > 0);
            }
}

TEST_CASE("tiles cover each output of each lane once") {
    for (const Core& core : cores)
        for (const auto& [outer, count, inner] : {std::array<Index, 3>{1, 1, 1},
                                                  {1, 5121, 1},
                                                  {7, 100, 1},
                                                  {300, 25, 1},
                                                  {1, 40, 37},
                                                  {2, 700, 300},
                                                  {3, 33, 2},
                                                  {1, 1000, 17}})
            for (const Index decimate : {1, 2, 4, 7, 40, 1500}) {
                const gpu::Job job = job_of(outer, count, inner, 63, decimate);
                const auto filter = gpu::cut_of_filter(63, decimate, threads, core.per_thread,
                                                       decimate > 16 ? 4 : 1, core.vector, body_of(core));
                const auto cut = gpu::cut_for_run(filter, job, threads, core.vector, 98304);
                const auto tiles = gpu::tiling(job, cut.rows, cut.outputs);
                std::vector<int> times(static_cast<std::size_t>(outer * count * inner));
                for (Index t = 0; t < tiles.tiles(); ++t) {
                    const gpu::Tile tile = gpu::tile_at(job, tiles, t);
                    for (int r = 0; r < tile.rows; ++r)
                        for (Index n = tile.first; n < std::min(tile.first + cut.outputs, job.out_span.end());
                             ++n) {
                            const Index o = tile.outer + (inner == 1 ? r : 0),
                                        i = tile.inner + (inner == 1 ? 0 : r);
                            ++times[static_cast<std::size_t>((o * count + n - job.out_span.first) * inner +
                                                             i)];
                        }
                }
                CHECK(std::set<int>(times.begin(), times.end()) == std::set<int>{1});
            }
}

TEST_CASE("places of threads in a tile cover it once") {
    for (const bool planar : {true, false})
        for (const int rows : {1, 2, 3, 7, 16, 64, threads})
            for (const int frames : {1, 20, 1000}) {
                std::vector<int> times(static_cast<std::size_t>(rows * frames));
                for (int t = 0; t < threads; ++t) {
                    const gpu::Seat me = gpu::seat(planar, rows, threads, t);
                    if (!me.taken) continue;
                    for (int i = me.at; i < frames; i += me.step)
                        ++times[static_cast<std::size_t>(me.row * frames + i)];
                }
                CHECK(std::set<int>(times.begin(), times.end()) == std::set<int>{1});
            }
}

TEST_CASE("phases and chunks use each tap once, and samples stay within their row") {
    for (const Core& core : cores)
        for (const Index taps : {1, 2, 63, 257, 1023, 5000, 70000})
            for (const Index decimate : {1, 2, 3, 16, 17, 100, 300, 100000}) {
                const auto cut = gpu::cut_of_filter(taps, decimate, threads, core.per_thread, 1, core.vector,
                                                    body_of(core));
                if (!gpu::straight(taps))
                    CHECK((cut.segment % body_of(core) == 0 || cut.segment * 2 == body_of(core)));
                CHECK((cut.segment % core.vector == 0 || body_of(core) == 1));  // each begins on 16 bytes
                CHECK(cut.tap_pitch >= cut.all_steps + core.vector);
                std::vector<int> times(static_cast<std::size_t>(taps));
                for (Index q0 = 0; q0 < cut.all_steps; q0 += cut.steps)
                    for (Index p0 = 0; p0 < cut.all_phases; p0 += cut.phases)
                        for (Index p = p0; p < std::min(p0 + cut.phases, cut.all_phases); ++p)
                            for (Index q = q0; q < std::min(q0 + cut.steps, cut.taps_of(p, taps, decimate));
                                 ++q)
                                ++times[static_cast<std::size_t>(q * decimate + p)];
                CHECK(std::set<int>(times.begin(), times.end()) == std::set<int>{1});
                for (const Index inner : {1, 2, 300}) {
                    const auto run = gpu::cut_for_run(cut, job_of(3, 9000, inner, taps, decimate), threads,
                                                      core.vector, 98304);
                    CHECK(run.pitch >=
                          run.outputs + run.steps - 1 + core.vector);  // the last load goes on to there
                    CHECK(run.pitch % core.vector == 0);
                    CHECK(run.bytes <= 231424);
                    CHECK(run.segment == cut.segment);  // the order of sums is the filter's
                    CHECK(run.steps == cut.steps);
                    CHECK(run.phases == cut.phases);
                }
            }
}

TEST_CASE("sums in segments keep the bound of 4 u (2 + sqrt K) for any data") {
    for (Index taps = 1; taps < 20000; taps += 1 + taps / 100)
        for (const Core& core : cores) {
            const auto cut =
                gpu::cut_of_filter(taps, 1, threads, core.per_thread, 1, core.vector, body_of(core));
            CHECK(gpu::roundings(taps, cut.segment) <= 4 * (2 + std::sqrt(static_cast<double>(taps))));
            for (const int segment : {gpu::longest_segment(taps), gpu::equal_segment(taps)})
                CHECK(gpu::roundings(taps, segment) <= 4 * (2 + std::sqrt(static_cast<double>(taps))));
        }
}

TEST_CASE("straight code keeps the promise with few segments, and fits the instruction cache") {
    for (Index taps = 1; taps < 300; ++taps) {
        if (!gpu::straight(taps)) continue;
        const int quads = static_cast<int>(taps / 4), outputs = gpu::straight_outputs(quads);
        const int segment = gpu::straight_segment(quads);
        CHECK(segment % 4 == 0);
        CHECK(gpu::roundings(taps, segment) <= 4 * (2 + std::sqrt(static_cast<double>(taps))));
        CHECK(gpu::ceil_div(taps, segment) <= 3);
        CHECK(outputs / 4 % 2 == 1);  // no bank conflicts
        CHECK(quads * 4 * outputs * 16 <= 28 * 1024);
        // The tile kernel, which does what the fast one leaves, sums in the same order.
        const auto cut = gpu::cut_of_filter(taps, 1, threads, 28, 1, 4, 32);
        CHECK(cut.segment == segment);
        CHECK(cut.steps >= taps);
    }
    CHECK(!gpu::straight(11));
    CHECK(gpu::straight(12));
    CHECK(gpu::straight(131));
    CHECK(!gpu::straight(132));
}

TEST_CASE("tiles of the fast kernel begin on 16 bytes, are plain where they say and cover each output once") {
    int plain = 0;
    for (const int vector : {4, 2})
        for (const std::uintptr_t odd : {0, 1, 2, 3})
            for (const Index taps : {1, 2, 63, 128})
                for (const Index first : {0, 7, 999000}) {
                    constexpr int outputs = 64;
                    gpu::Job job = job_of(3, 1000, 1, taps, 1, first);
                    job.in_span.count = std::min(job.in_span.count, job.frames - job.in_span.first);
                    const auto size = static_cast<Index>(16 / vector);
                    const std::uintptr_t base =
                        4096 + odd % static_cast<unsigned>(vector) * static_cast<unsigned>(size);
                    const int samples = static_cast<int>(gpu::round_up(outputs + taps - 1, vector));
                    const auto tiles = gpu::stream_tiles(job, vector, samples, outputs);
                    CHECK(tiles.begin >= 1);
                    CHECK(tiles.begin <= tiles.end);
                    if (tiles.begin < tiles.end) CHECK(tiles.end < tiles.all);
                    for (Index outer = 0; outer < job.outer; ++outer) {
                        const auto row = gpu::stream_row(job, base, vector, outer);
                        std::vector<int> times(1000);
                        for (Index t = 0; t < tiles.all; ++t) {
                            const Index in = row.in + t * outputs;  // from the window's start
                            CHECK((static_cast<Index>(base) + in * size) % 16 == 0);
                            const Index at = in - outer * job.in_pitch;  // in the row
                            const Index out = row.out + t * outputs - outer * job.out_pitch;
                            // Sample i of the tile is what output i uses first.
                            CHECK(at + job.in_span.first == job.frame_of(first + out));
                            if (t >= tiles.begin && t < tiles.end) {
                                CHECK((at >= 0 && at + samples <= job.in_span.count));
                                CHECK((out >= 0 && out + outputs <= 1000));
                                ++plain;
                            }
                            for (Index n = std::max<Index>(out, 0); n < std::min<Index>(out + outputs, 1000);
                                 ++n)
                                ++times[static_cast<std::size_t>(n)];
                        }
                        CHECK(std::set<int>(times.begin(), times.end()) == std::set<int>{1});
                    }
                }
    CHECK(plain > 1000);  // most of them
}

TEST_CASE("staged tiles copy pieces of 16 bytes that hold samples of the window, and have room for them") {
    for (const int size : {2, 4, 8})
        for (const int inner : {1, 2, 7, 20, 64, 65, 300})
            for (const int team : {32, 256})
                for (const Index taps : {1, 6, 63, 200}) {
                    const bool all = inner <= 20;
                    const int width = all ? inner : 32;
                    const bool even = inner * size % 16 == 0;
                    if (width > team) continue;
                    const gpu::Job job = job_of(2, 3000, inner, taps);
                    const gpu::StagedCut cut =
                        gpu::staged_cut(inner, width, team, 28, taps, even, size == 4, size, 4);
                    const gpu::Tiling tiles = gpu::tiling(job, width, cut.outputs);
                    CHECK(cut.outputs == team / width * 28);
                    CHECK(cut.frames >= cut.outputs + taps - 1);
                    CHECK(cut.row_bytes % 16 == 0);
                    Index plain = 0;
                    for (Index t = 0; t < tiles.tiles(); ++t) {
                        const gpu::Tile tile = gpu::tile_at(job, tiles, t);
                        const gpu::StagedRows rows = gpu::staged_rows(job, cut, tile, size);
                        CHECK(rows.first == job.sample_at(tile.outer, tile.inner, job.frame_of(tile.first)));
                        CHECK(rows.length == (all ? cut.frames * width : tile.rows));
                        if (!rows.plain) continue;
                        ++plain;
                        for (const int row : {0, cut.rows - 1}) {
                            const Index begin = (rows.first + row * rows.step) * size,
                                        end = begin + rows.length * size;
                            // What is copied lies in the lanes' part of the window, and fits.
                            const Index from = begin / 16 * 16, to = gpu::round_up(end, 16);
                            const Index lane = tile.outer * job.in_pitch * inner * size;
                            CHECK(from >= lane);
                            CHECK(to <= lane + job.in_span.count * inner * size);
                            CHECK(to - from <= cut.row_bytes);
                        }
                        CHECK(cut.raw_bytes >= cut.rows * cut.row_bytes);
                        CHECK((cut.settle ? cut.value_bytes : cut.raw_bytes) >=
                              (cut.frames + 16) * cut.pitch * 4);
                    }
                    if (cut.frames < 2000) CHECK(plain > 0);
                }
}

TEST_CASE("neighbouring threads load 16 bytes from different banks") {
    for (const int vectors : {1, 3, 7})  // of 16 bytes in a thread's outputs
        for (int quarter = 0; quarter < 4; ++quarter) {
            std::set<int> banks;  // of 16 bytes
            for (int lane = 0; lane < 8; ++lane)
                banks.insert((quarter * 8 + lane) * vectors % 8);
            CHECK(banks.size() == 8);
        }
}
