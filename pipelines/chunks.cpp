#include "pipelines/chunks.hpp"

#include <algorithm>

#include "core/base/division.hpp"

namespace convoy::pipelines {

namespace {

// Whole pieces of a stage's result that hold the lanes.
Lanes whole_pieces(const Stage& stage, Lanes lanes) {
    const Shape shape = stage.shape();
    const Index pieces = stage.pieces(), rows = shape.outer > 1 ? shape.outer : shape.inner;
    if (pieces == rows || lanes == Lanes::all(shape)) return lanes;
    const auto start = [&](Index piece) {
        const Lanes l = stage.lanes_of(piece, 1);
        return shape.outer > 1 ? l.outer_first : l.inner_first;
    };
    // The first piece that starts behind `row`, or as many as there are.
    const auto behind = [&](Index row) {
        Index low = 0, high = pieces;
        while (low < high) {
            const Index middle = (low + high) / 2;
            if (start(middle) > row)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    };
    const Index first = shape.outer > 1 ? lanes.outer_first : lanes.inner_first;
    const Index count = shape.outer > 1 ? lanes.outer_count : lanes.inner_count;
    const Index piece = behind(first) - 1;
    return stage.lanes_of(piece, behind(first + count - 1) - piece);
}

}  // namespace

Span widened(Span span, const Stage& stage) {
    if (span.count == 0) return span;
    const Index block = stage.block();
    const Index first = span.first / block * block;
    return {first, std::min(round_up(span.end(), block), stage.shape().frames) - first};
}

Span Cuts::chunk(Index k) const {
    const Index first = computed.first + k * chunk_frames;
    return {first, std::min(chunk_frames, computed.end() - first)};
}

std::size_t Cuts::total_bytes() const {
    std::size_t total = static_cast<std::size_t>(slots) * (in_bytes + out_bytes);
    if (frames.empty()) return total;
    total += in_bytes;  // the halo that is carried from chunk to chunk
    for (std::size_t bytes : between_bytes)
        total += bytes;
    return total;
}

Geometry Cuts::geometry() const {
    return {chunk_frames, taken, 0};
}

Index samples_in(const Cuts& cuts, Span wanted, Index items) {
    Index samples = 0;
    for (const Lanes& group : cuts.groups) {
        const Index chunks = std::min(items, cuts.chunks());
        if (chunks <= 0) break;
        const Index first = std::max(wanted.first, cuts.computed.first);
        const Index end = std::min(wanted.end(), cuts.chunk(chunks - 1).end());
        samples += std::max<Index>(0, end - first) * group.count();
        items -= chunks;
    }
    return samples;
}

std::vector<Span> spans_for(const Chain& chain, Span out) {
    std::vector<Span> spans(chain.size());
    for (std::size_t i = chain.size(); i-- > 0;) {
        spans[i] = chain[i]->needed(out);
        if (i > 0) spans[i] = out = widened(spans[i], *chain[i - 1]);
    }
    return spans;
}

Span frames_passing(const Cuts& cuts, const Chain& chain, std::size_t stages) {
    Span all{0, 0};
    for (Index k = 0; k < cuts.chunks(); ++k) {
        const Span chunk = cuts.chunk(k);
        const Span span = stages < chain.size() ? spans_for(chain, chunk)[stages] : chunk;
        if (k > 0 && (span.first > all.end() || span.first < all.first)) return {0, 0};
        if (k == 0) all.first = span.first;
        all.count = std::max(all.end(), span.end()) - all.first;
    }
    return all;
}

std::vector<Lanes> lanes_for(const Chain& chain, Lanes group) {
    std::vector<Lanes> lanes(chain.size() + 1, group);
    for (std::size_t i = chain.size(); i-- > 0;) {
        lanes[i] = chain[i]->used(lanes[i + 1]);
        if (i > 0) lanes[i] = whole_pieces(*chain[i - 1], lanes[i]);
    }
    return lanes;
}

std::vector<Group> groups_of(const Cuts& cuts, const Chain& chain) {
    std::vector<Group> groups;
    std::vector<Index> ends(chain.size() + 1, 0);
    for (const Lanes& lanes : cuts.groups) {
        Group group{lanes_for(chain, lanes), {}};
        for (std::size_t i = 0; i < group.lanes.size(); ++i) {
            const Lanes& l = group.lanes[i];
            // Groups of columns have nothing in common.
            const bool again = !groups.empty() && groups.back().lanes[i].inner_first == l.inner_first;
            group.fresh.push_back(again ? ends[i] : l.outer_first);
            ends[i] = std::max(ends[i], l.outer_first + l.outer_count);
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

}  // namespace convoy::pipelines
