// Where things lie on the GPU: the cut of a run into tiles, of a filter into phases and chunks, and the
// places of threads. Plain arithmetic that kernels and host tests share.
//
// With decimation by D a filter falls into phases: y[n] = sum_p sum_q g[q D + p] x[(n + q) D + p + first], g
// being the taps backwards. Each phase is a filter of its own, without decimation, on every D-th sample.
#pragma once

#include "core/base/padding.hpp"
#include "core/base/signal.hpp"

namespace convoy::conv1d::gpu {

/// Threads of a block that does tiles.
constexpr int tile_threads = 128;

/// value = stored * gain + offset
struct LaneScale {
    double gain = 1, offset = 0;
};

/// The loudest sample of a run and its faintest four in a row that are not silent, as the bits of floats, the
/// latter less 1.
struct Range {
    unsigned loudest = 0, faintest = 0xffffffffu;
};

/// What kernels know of one run: where the windows are, and how outputs follow from samples. Passed by value.
struct Job {
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    SampleType type = SampleType::float32;  // of the samples
    Padding padding = Padding::zero;
    Index outer = 1, inner = 1;  // lanes of the windows
    Span in_span, out_span;
    Index in_pitch = 0, out_pitch = 0;
    Index frames = 0;  // of the whole signal
    Index decimate = 1;
    Index first = 0;  // extended frame of the first sample that output 0 uses
    Index taps = 1;
    const LaneScale* scales = nullptr;                            // nullptr: values are as stored
    bool one_scale = false;                                       // for all channels, else one a channel
    Index channel_outer = 0, channel_inner = 0, channel_row = 1;  // lane (o, i) is of channel
    Range* wide = nullptr;  // what kernels that look at all samples have seen; nullptr: they need not look
    int parts = 1;          // (channel_outer + o) * channel_row + (channel_inner + i) / parts

    CONVOY_HD constexpr Index frame_of(Index output) const { return output * decimate + first; }
    /// Extended frames that the outputs of the run use. Others are never read: they need not be in the
    /// window.
    CONVOY_HD constexpr Index reach_first() const { return frame_of(out_span.first); }
    CONVOY_HD constexpr Index reach_end() const { return frame_of(out_span.end() - 1) + taps; }
    CONVOY_HD constexpr Index channel(Index o, Index i) const {
        return (channel_outer + o) * channel_row + (channel_inner + i) / parts;
    }
    /// Samples from the window's start to frame f of lane (o, i); f may lie outside the window.
    CONVOY_HD constexpr Index sample_at(Index o, Index i, Index f) const {
        return (o * in_pitch + f - in_span.first) * inner + i;
    }
    CONVOY_HD constexpr Index output_at(Index o, Index i, Index n) const {
        return (o * out_pitch + n - out_span.first) * inner + i;
    }
    /// All of [f, end) is in the window: it can be copied without looking.
    CONVOY_HD constexpr bool plain(Index f, Index end) const {
        return f >= in_span.first && end <= in_span.end();
    }
};

CONVOY_HD constexpr Index ceil_div(Index a, Index b) {
    return (a + b - 1) / b;
}
CONVOY_HD constexpr Index round_up(Index a, Index step) {
    return ceil_div(a, step) * step;
}

CONVOY_HD constexpr Index min_of(Index a, Index b) {
    return a < b ? a : b;
}

/// Division of small numbers by one that is known before: exact for n < 2^17 and divisors up to 4096.
struct Divisor {
    std::uint32_t by = 1, inverse = 0;
    Divisor() = default;
    CONVOY_HD constexpr explicit Divisor(int d)
        : by(static_cast<std::uint32_t>(d)),
          inverse(d == 1 ? 0 : static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + by - 1) / by)) {}
    CONVOY_HD constexpr int operator()(int n) const {
        return by == 1 ? n
                       : static_cast<int>(
                             (static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)) * inverse) >> 32);
    }
};

/// The output of one thread where each thread has one: outputs of a row of the window in the order of memory,
/// blocks of `threads` of them. The one division of long numbers is the same for the whole block.
struct Place {
    Index output, inner;
};
CONVOY_HD constexpr Place place(const Job& job, Index block, int threads, int thread) {
    if (job.inner == 1) return {job.out_span.first + block * threads + thread, 0};
    const Index start = block * threads, frame = start / job.inner;
    const auto lane = static_cast<std::uint64_t>(start - frame * job.inner + thread);
    const auto inner = static_cast<std::uint64_t>(job.inner);
    if (lane >> 32 == 0 && inner >> 32 == 0) {
        const auto low = static_cast<std::uint32_t>(lane), by = static_cast<std::uint32_t>(inner);
        return {job.out_span.first + frame + low / by, low % by};
    }
    return {job.out_span.first + frame + static_cast<Index>(lane / inner), static_cast<Index>(lane % inner)};
}

/// Blocks [begin, end) of `outputs` outputs of planar rows that are all wanted and whose samples are all in
/// the window, with `spare` more on either side; `in` is the sample under output 0 of block 0 of the first
/// row, counted from the window's start.
struct PlainBlocks {
    Index begin, end, in;
};
CONVOY_HD constexpr PlainBlocks plain_blocks(const Job& job, int outputs, int spare = 0) {
    const Index start = job.reach_first() - job.in_span.first, step = outputs * job.decimate;
    const Index room = job.in_span.count - spare - start - (outputs - 1) * job.decimate - job.taps;
    const Index begin = start < spare ? ceil_div(spare - start, step) : 0;
    const Index end = room < 0 ? 0 : min_of(room / step + 1, job.out_span.count / outputs);
    return {begin < end ? begin : end, end, start};
}

/// The place of a thread where a tile is read or written: it keeps one lane, and takes frames `at`, `at +
/// step`, ... so that neighbours touch neighbouring memory in either layout.
struct Seat {
    int row, at, step;
    bool taken;  // threads that are left over have none
};
CONVOY_HD constexpr Seat seat(bool planar, int rows, int threads, int thread) {
    const int step = threads / rows;
    const int row = planar ? thread / step : thread % rows, at = planar ? thread % step : thread / rows;
    return {row, at, step, row < rows && at < step};
}

/// One rectangle of work: outputs [first, first + outputs) of lanes (outer, inner) and the rows - 1 after it,
/// along outer in planar windows (inner == 1), else along inner. Outputs beyond the run are computed and not
/// kept.
struct Tile {
    Index outer, inner;
    int rows;
    Index first;
};

/// The cut of a run into tiles of `rows` x `outputs`.
struct Tiling {
    int rows = 1, outputs = 1;
    Index along = 0, across = 0, bands = 0;
    CONVOY_HD constexpr Index tiles() const { return along * across * bands; }
    /// Tile numbers fit into 32 bits where a launch can have them at all: short divisions.
    CONVOY_HD static constexpr Index divide(Index a, Index b) {
        return static_cast<Index>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
    }
};
CONVOY_HD constexpr Tiling tiling(const Job& job, int rows, int outputs) {
    Tiling t;
    t.rows = rows;
    t.outputs = outputs;
    t.along = ceil_div(job.out_span.count, outputs);
    t.across = ceil_div(job.inner == 1 ? job.outer : job.inner, rows);
    t.bands = job.inner == 1 ? 1 : job.outer;
    return t;
}
/// Tile t. In interleaved windows those that share cache lines come one after another.
CONVOY_HD constexpr Tile tile_at(const Job& job, const Tiling& cut, Index t) {
    const bool planar = job.inner == 1;
    const Index fast = planar ? cut.along : cut.across, q = Tiling::divide(t, fast), r = t - q * fast;
    const Index band = planar ? 0 : Tiling::divide(q, cut.along);
    const Index along = planar ? r : q - band * cut.along;
    const Index lane = (planar ? q : r) * cut.rows, left = (planar ? job.outer : job.inner) - lane;
    return {planar ? lane : band, planar ? 0 : lane, static_cast<int>(left < cut.rows ? left : cut.rows),
            job.out_span.first + along * cut.outputs};
}

/// How the fast kernel for planar rows cuts each row into tiles. They begin up to vector - 1 outputs before
/// the run, where the samples under them lie on a 16-byte boundary (stream_row). Those in [begin, end) are
/// plain, wherever that boundary is: all their samples are in the window, all their outputs are wanted. The
/// first and the last of a row never are.
struct StreamTiles {
    Index all, begin, end;
};
/// `vector` samples make 16 bytes; tiles have `samples` and `outputs`.
CONVOY_HD constexpr StreamTiles stream_tiles(const Job& job, int vector, int samples, int outputs) {
    const Index start = job.reach_first() - job.in_span.first;  // of output 0 of the run, in the row
    const Index before = vector - 1 - start, room = job.in_span.count - samples - start;
    const Index all = ceil_div(job.out_span.count + vector - 1, outputs);
    const Index begin = before < 1 ? 1 : ceil_div(before, outputs);
    const Index end =
        room < 0 ? 0 : min_of(min_of(room / outputs + 1, job.out_span.count / outputs), all - 1);
    return {all, begin, begin < end ? end : begin};
}
/// Where tile 0 of row `outer` begins: its first sample and its first output, which may lie before the
/// windows, counted from the windows' starts. `base` is the address of the samples' window.
struct StreamRow {
    Index in, out;
};
CONVOY_HD constexpr StreamRow stream_row(const Job& job, std::uintptr_t base, int vector, Index outer) {
    const auto size = static_cast<std::uintptr_t>(16 / vector);
    const Index in = outer * job.in_pitch + job.reach_first() - job.in_span.first;
    // Unsigned, for `in` may lie before the window.
    const auto shift = static_cast<Index>((base / size + static_cast<std::uintptr_t>(in)) %
                                          static_cast<std::uintptr_t>(vector));
    return {in - shift, outer * job.out_pitch - shift};
}

/// Filters of 12 to 131 taps, that is of 3 to 32 quads of taps and up to 3 more, have code of their own for
/// sums of float, without a loop (straight_cuda.cuh).
constexpr int straight_first = 3, straight_last = 32;
constexpr bool straight(Index taps) {
    return taps / 4 >= straight_first && taps / 4 <= straight_last;
}
/// Outputs of a thread there: as many as keep the code within 32 KB, which the instruction cache holds; an
/// odd number of vectors of 4, for then loads have no bank conflicts.
constexpr int straight_outputs(int quads) {
    return quads <= 15 ? 28 : quads <= 22 ? 20 : 12;
}
/// Taps of a segment there: as few segments as the promise allows (see roundings()), of whole quads.
constexpr int straight_segment(int quads) {
    for (int n = 1;; ++n) {
        const int length = static_cast<int>(round_up(ceil_div(4 * quads + 3, n), 4)),
                  over = length + n + 1 - 8;
        if (over <= 0 || over * over <= 16 * 4 * quads) return length;
    }
}

/// How one block of threads does a tile. Threads are groups x rows x row_threads; a group takes every
/// groups-th phase, and the groups' sums are added in the end. The order of a sum (phases, steps, segment,
/// groups) follows from the filter alone, never from the window, so that any cut of the signal gives the same
/// bits.
struct Cut {
    int per_thread = 1;  // outputs of a thread
    int groups = 1;
    int phases = 1;   // of a chunk
    int steps = 1;    // taps of each phase in a chunk
    int segment = 1;  // taps whose products are summed before they join the total
    Index all_phases = 1, all_steps = 1;
    Index tap_pitch = 1;  // taps of one phase in the table, with what is loaded ahead
    int rows = 1, row_threads = 1, outputs = 1;
    int pitch = 1;          // samples from one row of a phase to the next in shared memory
    std::size_t bytes = 0;  // of shared memory
    CONVOY_HD constexpr Index taps_of(Index phase, Index taps, Index decimate) const {
        return phase < taps ? (taps - phase + decimate - 1) / decimate : 0;
    }
};

/// Sizes that follow from the filter: `vector` samples make 16 bytes, `body` taps one turn of the sum's loop.
Cut cut_of_filter(Index taps, Index decimate, int threads, int per_thread, int groups, int vector, int body);
/// Completes it for the lanes and outputs of a run; shared memory stays within `bytes` where rows can be
/// fewer.
Cut cut_for_run(Cut, const Job&, int threads, int vector, std::size_t bytes);

/// Roundings that a product may pass: in its segment, among the segments, those of its tap and sample.
/// |error| <= 4 u (2 + sqrt K) sum |h||x| holds for any data where they are no more than 4 (2 + sqrt K).
double roundings(Index taps, Index segment);
/// A length of segments for which that is so.
int longest_segment(Index taps);
/// The same for sums that are not cut otherwise: as few segments as can be, of equal lengths.
int equal_segment(Index taps);

}  // namespace convoy::conv1d::gpu
