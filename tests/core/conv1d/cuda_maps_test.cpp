// The index maps of the CUDA strategies, walked on the CPU: what the kernels compute with them is right
// wherever the maps are, so that a machine without a GPU guards them too.
#include "core/conv1d/cuda_maps.hpp"

#include <cmath>
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "core/conv1d/conv1d.hpp"
#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::conv1d;

namespace {

constexpr int threads = 256;

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
constexpr Core cores[] = {{20, 4}, {12, 4}, {4, 4}, {10, 2}, {6, 2}, {2, 2}, {1, 4}};

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
        for (const int rows : {1, 2, 3, 7, 16, 64, 256})
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
                CHECK(cut.segment % body_of(core) == 0);
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
    for (Index taps = 1; taps < 20000; taps += 1 + taps / 50)
        for (const Core& core : cores) {
            const auto cut =
                gpu::cut_of_filter(taps, 1, threads, core.per_thread, 1, core.vector, body_of(core));
            // Roundings that a product may pass: in its segment, of the segments, of tap and sample.
            const double roundings = static_cast<double>(std::min<Index>(cut.segment, taps)) +
                                     std::ceil(static_cast<double>(taps) / cut.segment) + 1;
            CHECK(roundings <= 4 * (2 + std::sqrt(static_cast<double>(taps))));
        }
}

TEST_CASE("tiles of the fast kernel begin on 16 bytes and cover each output once") {
    for (const int vector : {4, 2})
        for (const std::uintptr_t odd : {0, 1, 2, 3})
            for (const Index outer : {1, 3})
                for (const Index taps : {1, 2, 63, 128}) {
                    constexpr int outputs = 64;
                    const gpu::Job job = job_of(outer, 1000, 1, taps);
                    const unsigned size = 16 / static_cast<unsigned>(vector);
                    const std::uintptr_t base = 4096 + odd % static_cast<unsigned>(vector) * size;
                    const Index along = gpu::ceil_div(1000 + vector - 1, outputs);
                    std::vector<int> times(static_cast<std::size_t>(outer * 1000));
                    for (Index start = 0; start < 5; ++start) {  // as five blocks walk
                        auto tile = gpu::stream_tile(job, base, vector, outputs, along, 0, start);
                        while (tile.outer < outer) {
                            const Index sample = job.sample_at(tile.outer, 0, tile.first + job.first);
                            const auto address = static_cast<Index>(base) + sample * static_cast<Index>(size);
                            CHECK(address % 16 == 0);
                            for (Index n = std::max(tile.first, job.out_span.first);
                                 n < std::min(tile.first + outputs, job.out_span.end()); ++n)
                                ++times[static_cast<std::size_t>(tile.outer * 1000 + n - job.out_span.first)];
                            tile = gpu::stream_tile(job, base, vector, outputs, along, tile.outer,
                                                    tile.along + 5);
                        }
                    }
                    CHECK(std::set<int>(times.begin(), times.end()) == std::set<int>{1});
                }
}

TEST_CASE("neighbouring threads load 16 bytes from different banks") {
    for (const int vectors : {1, 3, 5})  // of 16 bytes in a thread's outputs
        for (int quarter = 0; quarter < 4; ++quarter) {
            std::set<int> banks;  // of 16 bytes
            for (int lane = 0; lane < 8; ++lane)
                banks.insert((quarter * 8 + lane) * vectors % 8);
            CHECK(banks.size() == 8);
        }
}
