#include "pipelines/chunks.hpp"

#include <algorithm>

namespace convoy::pipelines {

namespace {

Index round_up(Index value, Index multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

Span widened(Span span, const Stage& stage) {
    if (span.count == 0) return span;
    const Index block = stage.block();
    const Index first = span.first / block * block;
    return {first, std::min(round_up(span.end(), block), stage.shape().frames) - first};
}

// Frames that the windows must hold for chunks of `chunk` outputs, and the bytes for `group`.
void measure(const Chain& chain, const Shape& input, SampleType type, Lanes group, Cuts& cuts) {
    cuts.frames.assign(chain.size(), 0);
    cuts.between_bytes.clear();
    Index frames = std::min(cuts.chunk_frames, chain.back()->shape().frames);
    const auto lanes = lanes_for(chain, group);
    cuts.out_bytes = static_cast<std::size_t>(lanes.back().count() * frames * bytes_of(chain.back()->type()));
    for (std::size_t i = chain.size(); i-- > 0;) {
        frames = chain[i]->needed_at_most(frames);
        const Index all = i == 0 ? input.frames : chain[i - 1]->shape().frames;
        if (i > 0) frames += 2 * (chain[i - 1]->block() - 1);
        frames = std::min(frames, all);
        cuts.frames[i] = frames;
        const SampleType t = i == 0 ? type : chain[i - 1]->type();
        const auto bytes = static_cast<std::size_t>(lanes[i].count() * frames * bytes_of(t));
        if (i == 0)
            cuts.in_bytes = bytes;
        else
            cuts.between_bytes.push_back(bytes);
    }
    std::reverse(cuts.between_bytes.begin(), cuts.between_bytes.end());
}

// Rows (or columns, where there is one row) of lanes in groups of `count`.
std::vector<Lanes> grouped(const Shape& input, Index count) {
    std::vector<Lanes> groups;
    const bool rows = input.outer > 1;
    const Index all = rows ? input.outer : input.inner;
    for (Index at = 0; at < all; at += count) {
        const Index n = std::min(count, all - at);
        groups.push_back(rows ? Lanes{at, n, 0, input.inner} : Lanes{0, 1, at, n});
    }
    return groups;
}

}  // namespace

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
    const bool rows = groups.size() > 1 ? groups[1].outer_first > 0 : groups[0].outer_count > 1;
    return {chunk_frames, rows ? groups[0].outer_count : groups[0].inner_count, 0};
}

Index samples_in(const Cuts& cuts, const Chain& chain, Span wanted, Index items) {
    Index samples = 0;
    for (const Lanes& group : cuts.groups) {
        const Index chunks = std::min(items, cuts.chunks());
        if (chunks <= 0) break;
        const Index first = std::max(wanted.first, cuts.computed.first);
        const Index end = std::min(wanted.end(), cuts.chunk(chunks - 1).end());
        samples += std::max<Index>(0, end - first) * lanes_for(chain, group).back().count();
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

std::vector<Lanes> lanes_for(const Chain& chain, Lanes group) {
    std::vector<Lanes> lanes{group};
    for (const auto& stage : chain)
        lanes.push_back(stage->lanes(lanes.back()));
    return lanes;
}

Cuts cut(const Chain& chain, const Shape& input, SampleType type, const CutRequest& request) {
    const Stage& last = *chain.back();
    Cuts cuts;
    cuts.slots = request.slots;
    cuts.block = last.block();
    cuts.computed = widened(request.wanted, last);

    const bool splittable = !request.one_pass && std::all_of(chain.begin(), chain.end(),
                                                             [](const auto& s) { return s->splittable(); });
    // Rows of their own are read and written in pieces: a piece should be worth a system call (256 KiB).
    constexpr Index piece_bytes = 256 << 10;
    const Index sample = bytes_of(type);
    const bool rows = input.outer > 1;
    const Index units = rows ? input.outer : input.inner;
    const Index unit_lanes = rows ? input.inner : 1;
    const Index step = rows ? std::min(request.row_alignment, units) : 1;
    Index taken = units;
    if (splittable && rows) {
        const auto fit = static_cast<Index>(request.chunk_bytes) / std::max<Index>(1, piece_bytes);
        if (taken > fit) taken = std::clamp(round_up(fit, step), Index{1}, units);
    }

    const auto resize = [&](Index frames) {
        const Index all = round_up(std::max<Index>(cuts.computed.count, 1), cuts.block);
        cuts.chunk_frames = std::clamp(round_up(std::max<Index>(frames, 1), cuts.block), cuts.block, all);
        const Lanes group = taken == units ? Lanes::all(input) : grouped(input, taken).front();
        measure(chain, input, type, group, cuts);
    };
    const double ratio =
        static_cast<double>(last.shape().frames) / static_cast<double>(std::max<Index>(1, input.frames));
    const auto chosen = [&] {
        const double in_frames =
            static_cast<double>(request.chunk_bytes) / static_cast<double>(taken * unit_lanes * sample);
        return static_cast<Index>(std::max(1.0, in_frames * ratio));
    };
    const bool free_choice = request.chunk_frames == 0;
    if (request.group > 0) {  // as another run had it
        taken = std::min(request.group, units);
        resize(request.chunk_frames);
        cuts.groups = grouped(input, taken);
        return cuts;
    }
    resize(free_choice ? chosen() : request.chunk_frames);
    // A chunk should be longer than the halo that it carries, where memory allows.
    if (free_choice && cuts.frames[0] > 0) {
        const Index halo = last.needed_at_most(1);
        const auto longer = static_cast<Index>(2 * static_cast<double>(halo) * ratio);
        if (cuts.chunk_frames < longer) resize(longer);
    }
    while (cuts.total_bytes() > request.memory_limit) {
        if (free_choice && cuts.chunk_frames > cuts.block &&
            (cuts.chunk_frames > 4096 || !splittable || taken <= step))
            resize(cuts.chunk_frames / 2);
        else if (splittable && taken > step)
            taken = std::max(step, taken / 2 / step * step),
            resize(free_choice ? cuts.chunk_frames : request.chunk_frames);
        else
            break;
    }
    cuts.groups = grouped(input, taken);
    return cuts;
}

}  // namespace convoy::pipelines
