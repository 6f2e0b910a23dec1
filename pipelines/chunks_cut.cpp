// How long chunks are and how many pieces of the result a group takes, so that reading is worth its calls and
// memory is bounded.
#include <algorithm>

#include "core/base/division.hpp"
#include "pipelines/chunks.hpp"

namespace convoy::pipelines {

namespace {

// Frames that the windows must hold for chunks of `chunk` outputs, and the bytes for `group`, where they are
// more than those of another group.
void measure(const Chain& chain, const Shape& input, SampleType type, Lanes group, Cuts& cuts) {
    Index frames = std::min(cuts.chunk_frames, chain.back()->shape().frames);
    const auto lanes = lanes_for(chain, group);
    const auto grow = [&](std::size_t& bytes, std::size_t stage, SampleType t) {
        bytes = std::max(bytes, static_cast<std::size_t>(lanes[stage].count() * frames * bytes_of(t)));
    };
    grow(cuts.out_bytes, chain.size(), chain.back()->type());
    for (std::size_t i = chain.size(); i-- > 0;) {
        frames = chain[i]->needed_at_most(frames);
        const Index all = i == 0 ? input.frames : chain[i - 1]->shape().frames;
        if (i > 0) frames += 2 * (chain[i - 1]->block() - 1);
        frames = std::min(frames, all);
        cuts.frames[i] = frames;
        if (i == 0)
            grow(cuts.in_bytes, i, type);
        else
            grow(cuts.between_bytes[i - 1], i, chain[i - 1]->type());
    }
}

std::vector<Lanes> grouped(const Stage& stage, Index count) {
    std::vector<Lanes> groups;
    for (Index at = 0, all = stage.pieces(); at < all; at += count)
        groups.push_back(stage.lanes_of(at, std::min(count, all - at)));
    return groups;
}

// Works out how many pieces of the result a group takes, and how many frames a chunk.
class Cutter {
  public:
    Cutter(const Chain& chain, const Shape& input, SampleType type, const CutRequest& request)
        : chain_(chain),
          last_(*chain.back()),
          input_(input),
          type_(type),
          request_(request),
          pieces_(last_.pieces()),
          ratio_(static_cast<double>(last_.shape().frames) /
                 static_cast<double>(std::max<Index>(1, input.frames))) {
        splittable_ = !request.one_pass && pieces_ > 1;
        if (splittable_ && input.outer > 1) step_ = aligned_step();
        cuts_.slots = request.slots;
        cuts_.block = last_.block();
        cuts_.computed = widened(request.wanted, last_);
    }

    Cuts operator()() {
        taken_ = request_.group > 0 ? std::min(request_.group, pieces_) : first_taken();
        if (request_.chunk_frames > 0) {
            resize(request_.chunk_frames);
        } else {
            resize(frames_of(request_.chunk_bytes));
            lengthen();
        }
        if (request_.group == 0) fit_memory();  // else as another run had it
        cuts_.taken = taken_;
        cuts_.groups = grouped(last_, taken_);
        for (const Lanes& group : cuts_.groups)
            measure(chain_, input_, type_, group, cuts_);
        return std::move(cuts_);
    }

  private:
    // Rows of their own are read and written in pieces: a piece should be worth a system call.
    static constexpr Index row_bytes = 256 << 10;

    Lanes input_lanes(Index first, Index count) const {
        return lanes_for(chain_, last_.lanes_of(first, count)).front();
    }

    // Pieces after which the rows of the input that are used start where rows that belong together do.
    Index aligned_step() const {
        for (Index n = 1; n <= std::min(request_.row_alignment, pieces_ - 1); ++n)
            if (input_lanes(n, 1).outer_first % request_.row_alignment == 0) return n;
        return pieces_ <= request_.row_alignment ? pieces_ : 1;
    }

    // As many pieces as rows of the input make up a chunk: those that use the same rows go together.
    Index first_taken() const {
        if (!splittable_ || input_.outer == 1) return pieces_;
        const Index row = input_.frames * input_.inner * bytes_of(type_);
        const Index fit =
            std::max(static_cast<Index>(request_.chunk_bytes) / std::clamp(row, Index{1}, row_bytes),
                     input_lanes(0, 1).outer_count);
        Index low = 1, high = pieces_;
        while (low < high) {
            const Index middle = (low + high + 1) / 2;
            if (input_lanes(0, middle).outer_count <= fit)
                low = middle;
            else
                high = middle - 1;
        }
        return std::min(round_up(low, step_), pieces_);
    }

    void resize(Index frames) {
        const Index block = cuts_.block, all = round_up(std::max<Index>(cuts_.computed.count, 1), block);
        cuts_.chunk_frames = std::clamp(round_up(std::max<Index>(frames, 1), block), block, all);
        cuts_.frames.assign(chain_.size(), 0);
        cuts_.between_bytes.assign(chain_.size() - 1, 0);
        cuts_.in_bytes = cuts_.out_bytes = 0;
        // The largest group is none of the last ones; halos make the second larger than the first.
        for (const Index first : {Index{0}, taken_})
            if (first < pieces_)
                measure(chain_, input_, type_, last_.lanes_of(first, std::min(taken_, pieces_ - first)),
                        cuts_);
    }

    // Output frames of a chunk of so many input bytes.
    Index frames_of(std::size_t bytes) const {
        const Index frame_bytes = input_lanes(0, taken_).count() * bytes_of(type_);
        const double frames = static_cast<double>(bytes) / static_cast<double>(frame_bytes);
        return static_cast<Index>(std::max(1.0, frames * ratio_));
    }

    void lengthen() {
        if (cuts_.frames[0] == 0) return;
        const Index most = frames_of(request_.chunk_bytes_most);
        const Lanes out = last_.lanes_of(0, taken_);
        Index frames = cuts_.chunk_frames;
        if (out.outer_count > 1)  // each row is a piece of its own in the file
            frames = std::max(frames, std::min(most, row_bytes / (out.inner_count * bytes_of(last_.type()))));
        // A chunk should be longer than the halo that it carries; and of what lies between stages the halo is
        // computed again for each chunk.
        const auto halos = [&, halo = last_.needed_at_most(1)](Index n) {
            return static_cast<Index>(static_cast<double>(n * halo) * ratio_);
        };
        frames = std::max(frames, halos(2));
        if (chain_.size() > 1) frames = std::max(frames, std::min(most, halos(16)));
        if (frames > cuts_.chunk_frames) resize(frames);
    }

    // Groups become smaller before chunks become short, down to the pieces whose rows belong together; then
    // without regard for that.
    void fit_memory() {
        const bool chosen = request_.chunk_frames == 0;
        while (cuts_.total_bytes() > request_.memory_limit) {
            const bool fewer = splittable_ && taken_ > step_;
            if (chosen && cuts_.chunk_frames > cuts_.block && (cuts_.chunk_frames > 4096 || !fewer)) {
                resize(cuts_.chunk_frames / 2);
            } else if (fewer || (splittable_ && taken_ > 1)) {
                taken_ = fewer ? std::max(step_, taken_ / 2 / step_ * step_) : taken_ / 2;
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
    bool splittable_ = false;
    Index pieces_, step_ = 1, taken_ = 1;
    double ratio_;
    Cuts cuts_;
};

}  // namespace

Cuts cut(const Chain& chain, const Shape& input, SampleType type, const CutRequest& request) {
    return Cutter(chain, input, type, request)();
}

}  // namespace convoy::pipelines
