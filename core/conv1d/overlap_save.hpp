// How overlap-save on the GPU cuts a signal: pairs of neighbouring blocks of one lane go through one complex
// transform (core/fft/block_fft.hpp). Plain arithmetic that kernels and host tests share.
#pragma once

#include <optional>

#include "core/conv1d/conv1d.hpp"
#include "core/conv1d/cuda_maps.hpp"

namespace convoy::conv1d::gpu {

/// Results are kept, and mended, in runs of a warp's width; they are judged by the sums and peaks of segments
/// of as many samples, or of fewer under short filters.
constexpr int segment = 32;
constexpr int segment_for(int radix, Index taps) {
    return radix == 32 || taps >= 1200 ? segment : taps >= 512 ? 16 : 8;
}

/// A filter in transforms of one length. Long filters are cut into parts, whose spectra are multiplied each
/// with that of the samples under it, and added up.
struct OverlapSave {
    int radix = 16;  // of BlockFft: 16 for transforms of 4096, 32 for 16384
    Index length = 0;
    int keep = 0;  // results of a block at the full rate: a multiple of the decimation and of a segment
    int parts = 1;
    Index part = 0;   // taps of a part
    double pair = 0;  // modelled seconds of a pair of blocks

    /// Results of a pair at the full rate.
    Index results() const { return 2 * Index{keep}; }
    /// The part's taps, of all.
    std::vector<double> taps_of(int number, const std::vector<double>& taps) const;
    /// Samples between the first that a pair uses and the first under the part.
    CONVOY_HD static constexpr Index offset_of(int number, Index part, Index taps) {
        const Index end = (number + 1) * part;
        return end < taps ? taps - end : 0;
    }
};

/// Seconds of one pair, forwards and back, when a whole GPU like the H200 works on many.
struct PairTime {
    double forward, back;
};

/// The quickest way for transforms of this radix; none where the decimation leaves no results of a block.
std::optional<OverlapSave> overlap_save(const Problem&, int radix, PairTime);

/// Items of work: pairs of all lanes of a run, in the order in which blocks of threads take them.
/// Neighbouring lanes of interleaved samples share cache lines, and come one after another.
struct Pairs {
    Index begin = 0, along = 0;  // of a lane: the first, counted from the run's, and how many
    Index lanes = 0;             // outer times inner
    Index inner = 1;
    Index outputs = 0;  // of a pair, decimated
    Span wanted;        // outputs
    CONVOY_HD constexpr Index count() const { return along * lanes; }
};
/// Those with outputs of `wanted`, of which all are in the run.
CONVOY_HD constexpr Pairs pairs_of(const Job& job, Index outputs, Span wanted) {
    if (wanted.count <= 0) return {};
    const Index begin = (wanted.first - job.out_span.first) / outputs;
    const Index end = ceil_div(wanted.end() - job.out_span.first, outputs);
    return {begin, end - begin, job.outer * job.inner, job.inner, outputs, wanted};
}

/// Outputs of a run whose windows reach beyond the ends of the signal.
struct AtEnds {
    Span start, end;
};
CONVOY_HD constexpr AtEnds outputs_at_ends(const Job& job) {
    const Index first = job.out_span.first, last = job.out_span.end();
    const Index inside = job.first < 0 ? ceil_div(-job.first, job.decimate) : 0;
    const Index room = job.frames - job.taps - job.first;  // the last window that is inside starts there
    const Index beyond = room < 0 ? 0 : room / job.decimate + 1;
    const Index start = inside < last ? inside : last, end = beyond > first ? beyond : first;
    return {{first, start > first ? start - first : 0}, {end, last > end ? last - end : 0}};
}

/// a / b, neither negative: short where both are, for long divisions take a GPU a hundred instructions.
CONVOY_HD constexpr Index quotient(Index a, Index b) {
    if ((a | b) >> 32 == 0)
        return static_cast<Index>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
    return a / b;
}

/// Where an item is: its lane and its first output; its results [skipped, wanted) at the full rate are
/// wanted.
struct PairPlace {
    Index outer, inner, output;
    int skipped, wanted;
};
CONVOY_HD constexpr PairPlace place(const Job& job, const Pairs& pairs, Index item) {
    const Index group = quotient(item, pairs.inner == 1 ? pairs.along : pairs.inner);
    PairPlace at{};
    Index number = 0;
    if (pairs.inner == 1) {
        at.outer = group;
        number = item - group * pairs.along;
    } else {
        at.inner = item - group * pairs.inner;
        at.outer = quotient(group, pairs.along);
        number = group - at.outer * pairs.along;
    }
    at.output = job.out_span.first + (pairs.begin + number) * pairs.outputs;
    if (pairs.wanted.first > at.output)
        at.skipped = static_cast<int>((pairs.wanted.first - at.output) * job.decimate);
    const Index left = pairs.wanted.end() - at.output;
    at.wanted = static_cast<int>((min_of(left, pairs.outputs) - 1) * job.decimate + 1);
    return at;
}

}  // namespace convoy::conv1d::gpu
