#include "pipelines/chunks.hpp"

#include <algorithm>

#include "core/base/division.hpp"

namespace convoy::pipelines {

namespace {

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
    std::vector<Lanes> lanes{group};
    for (const auto& stage : chain)
        lanes.push_back(stage->lanes(lanes.back()));
    return lanes;
}

namespace {

// Works out how many rows (or columns) a group takes, and how many frames a chunk.
class Cutter {
  public:
    Cutter(const Chain& chain, const Shape& input, SampleType type, const CutRequest& request)
        : chain_(chain),
          last_(*chain.back()),
          input_(input),
          type_(type),
          request_(request),
          rows_(input.outer > 1),
          units_(rows_ ? input.outer : input.inner),
          ratio_(static_cast<double>(last_.shape().frames) /
                 static_cast<double>(std::max<Index>(1, input.frames))) {
        splittable_ = !request.one_pass &&
                      std::all_of(chain.begin(), chain.end(), [](const auto& s) { return s->splittable(); });
        if (rows_) step_ = std::min(request.row_alignment, units_);
        cuts_.slots = request.slots;
        cuts_.block = last_.block();
        cuts_.computed = widened(request.wanted, last_);
    }

    Cuts operator()() {
        taken_ = request_.group > 0 ? std::min(request_.group, units_) : first_taken();
        if (request_.chunk_frames > 0) {
            resize(request_.chunk_frames);
        } else {
            resize(frames_of(request_.chunk_bytes));
            lengthen();
        }
        if (request_.group == 0) fit_memory();  // else as another run had it
        cuts_.groups = grouped(input_, taken_);
        return std::move(cuts_);
    }

  private:
    // Rows of their own are read and written in pieces: a piece should be worth a system call.
    static constexpr Index piece_bytes = 256 << 10;

    Index first_taken() const {
        if (!splittable_ || !rows_) return units_;
        const Index row = input_.frames * input_.inner * bytes_of(type_);
        const Index piece = std::clamp(row, Index{1}, piece_bytes);
        const Index fit = std::max<Index>(1, static_cast<Index>(request_.chunk_bytes) / piece);
        return std::min(round_up(fit, step_), units_);
    }

    Lanes group() const { return taken_ == units_ ? Lanes::all(input_) : grouped(input_, taken_).front(); }

    void resize(Index frames) {
        const Index block = cuts_.block, all = round_up(std::max<Index>(cuts_.computed.count, 1), block);
        cuts_.chunk_frames = std::clamp(round_up(std::max<Index>(frames, 1), block), block, all);
        measure(chain_, input_, type_, group(), cuts_);
    }

    // Output frames of a chunk of so many input bytes.
    Index frames_of(std::size_t bytes) const {
        const Index frame_bytes = taken_ * (rows_ ? input_.inner : 1) * bytes_of(type_);
        const double frames = static_cast<double>(bytes) / static_cast<double>(frame_bytes);
        return static_cast<Index>(std::max(1.0, frames * ratio_));
    }

    void lengthen() {
        if (cuts_.frames[0] == 0) return;
        const Index most = frames_of(request_.chunk_bytes_most);
        const Lanes out = lanes_for(chain_, group()).back();
        Index frames = cuts_.chunk_frames;
        if (out.outer_count > 1)  // each row is a piece of its own in the file
            frames =
                std::max(frames, std::min(most, piece_bytes / (out.inner_count * bytes_of(last_.type()))));
        // A chunk should be longer than the halo that it carries; and of what lies between stages the halo is
        // computed again for each chunk.
        const auto halos = [&, halo = last_.needed_at_most(1)](Index n) {
            return static_cast<Index>(static_cast<double>(n * halo) * ratio_);
        };
        frames = std::max(frames, halos(2));
        if (chain_.size() > 1) frames = std::max(frames, std::min(most, halos(16)));
        if (frames > cuts_.chunk_frames) resize(frames);
    }

    void fit_memory() {
        const bool chosen = request_.chunk_frames == 0;
        while (cuts_.total_bytes() > request_.memory_limit) {
            if (chosen && cuts_.chunk_frames > cuts_.block &&
                (cuts_.chunk_frames > 4096 || !splittable_ || taken_ <= step_)) {
                resize(cuts_.chunk_frames / 2);
            } else if (splittable_ && taken_ > step_) {
                taken_ = std::max(step_, taken_ / 2 / step_ * step_);
                resize(chosen ? cuts_.chunk_frames : request_.chunk_frames);
            } else {
                break;
            }
        }
    }

    const Chain& chain_;
    const Stage& last_;
    const Shape& input_;
    SampleType type_;
    const CutRequest& request_;
    bool rows_, splittable_ = false;
    Index units_, step_ = 1, taken_ = 1;
    double ratio_;
    Cuts cuts_;
};

}  // namespace

Cuts cut(const Chain& chain, const Shape& input, SampleType type, const CutRequest& request) {
    return Cutter(chain, input, type, request)();
}

}  // namespace convoy::pipelines
