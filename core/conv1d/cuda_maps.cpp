// Sizes of tiles and chunks on the GPU.
#include "core/conv1d/cuda_maps.hpp"

#include <algorithm>
#include <cmath>

namespace convoy::conv1d::gpu {

namespace {

constexpr Index tile_samples = 16384;  // of all phases in shared memory, filter history apart
constexpr Index chunk_taps = 256;      // of all phases: what a tile reads again for each chunk stays small
constexpr Index segment_limit = 2048;
constexpr int most_rows = 16;  // lanes of a tile of interleaved samples: whole sectors of 64 bytes of float

std::size_t shared_bytes(const Cut& c, int rows, int pitch, int vector) {
    const std::size_t samples = static_cast<std::size_t>(rows) * c.phases * pitch;
    const std::size_t taps = static_cast<std::size_t>(c.phases) * (c.steps + 2 * vector);
    const std::size_t sums = static_cast<std::size_t>(c.groups) * rows * (c.outputs + vector);
    return std::max(samples + taps, sums) * 16 / vector;
}

bool promised(Index taps, Index segment) {
    return roundings(taps, segment) <= 4 * (2 + std::sqrt(static_cast<double>(taps)));
}

}  // namespace

int longest_segment(Index taps) {
    return static_cast<int>(
        std::clamp(3.5 * std::sqrt(static_cast<double>(taps)), 1.0, double{segment_limit}));
}

int equal_segment(Index taps) {
    const int least = longest_segment(taps);
    for (Index n = ceil_div(taps, segment_limit);; ++n) {
        const Index length = ceil_div(taps, n);
        if (length <= least) return least;
        if (promised(taps, length)) return static_cast<int>(length);
    }
}

double roundings(Index taps, Index segment) {
    return static_cast<double>(std::min(segment, taps) + ceil_div(taps, segment) + 1);
}

Cut cut_of_filter(Index taps, Index decimate, int threads, int per_thread, int groups, int vector, int body) {
    Cut c;
    c.per_thread = per_thread;
    c.groups = groups;
    c.all_phases = std::min(decimate, taps);
    c.all_steps = ceil_div(taps, decimate);
    c.tap_pitch = round_up(c.all_steps, vector) + vector;
    const Index outputs = threads / groups * per_thread;
    c.phases = static_cast<int>(std::clamp<Index>(tile_samples / outputs, 1, c.all_phases));
    const Index most = std::min<Index>(longest_segment(taps), 4096 / c.phases);
    Index turns = std::max<Index>(most / body, 1);
    // Of one phase the promise may allow a turn more, which saves sums of segments.
    if (c.all_phases == 1 && promised(taps, (turns + 1) * body)) ++turns;
    c.segment = static_cast<int>(turns * body);
    if (!promised(taps, c.segment) && body % 2 == 0) c.segment = body / 2;
    if (c.all_phases == 1 && vector == 4 && body == 32 && straight(taps))
        c.segment = straight_segment(static_cast<int>(taps / 4));
    const Index whole = std::max(c.segment, body);
    const Index chunk = std::max<Index>(chunk_taps / c.phases / whole, 1) * whole;
    c.steps = static_cast<int>(std::min(chunk, round_up(c.all_steps, vector)));
    return c;
}

Cut cut_for_run(Cut c, const Job& job, int threads, int vector, std::size_t bytes) {
    const int team = threads / c.groups;
    const bool planar = job.inner == 1;
    const Index lanes = planar ? job.outer : job.inner;
    const Index wanted = ceil_div(job.out_span.count, c.per_thread);  // threads that a row can use
    Index rows = planar ? std::min<Index>(lanes, std::max<Index>(team / wanted, 1))
                        : std::min<Index>(lanes, std::min(most_rows, std::max(team / 4, 1)));
    rows = ceil_div(lanes, ceil_div(lanes, rows));  // all tiles alike
    for (;; rows = (rows + 1) / 2) {
        c.rows = static_cast<int>(rows);
        c.row_threads = team / c.rows;
        c.outputs = c.row_threads * c.per_thread;
        // An odd number of vectors from row to row spreads the rows over the banks.
        c.pitch = static_cast<int>(round_up(c.outputs + c.steps + vector, 2 * vector)) + vector;
        c.bytes = shared_bytes(c, c.rows, c.pitch, vector);
        if (c.bytes <= bytes || rows == 1) return c;
    }
}

}  // namespace convoy::conv1d::gpu
