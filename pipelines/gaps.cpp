#include "pipelines/gaps.hpp"

#include "core/base/error.hpp"
#include "pipelines/digest.hpp"
#include "pipelines/views.hpp"

namespace convoy::pipelines {

namespace {

std::vector<GapPiece> between_gaps(const io::Recording& recording) {
    std::vector<GapPiece> pieces;
    Index first = 0;
    double late = 0;
    const auto add = [&](Index end) {
        if (end > first) pieces.push_back({{first, end - first}, late});
        first = end;
    };
    for (const auto& gap : recording.gaps) {
        add(gap.at);
        late += gap.seconds;
    }
    add(recording.shape.frames);
    return pieces;
}

}  // namespace

GapSplit cut_at_gaps(const io::Recording& recording, PlanPiece plan_piece, ChainPlan& last) {
    GapSplit split{between_gaps(recording), {}, std::move(plan_piece)};
    std::vector<double> times;
    Index outputs = 0, own_frames = 0;
    for (GapPiece& piece : split.pieces) {
        last = split.plan_piece(piece.input);
        piece.offset = outputs;
        piece.outputs = last.wanted.count;
        outputs += piece.outputs;
        own_frames += last.flow.shape.frames;
        const io::Axis& time = last.flow.axes[static_cast<std::size_t>(last.flow.time_axis)];
        const double start = recording.rate
                                 ? static_cast<double>(piece.input.first) / *recording.rate + piece.late
                                 : static_cast<double>(piece.input.first);
        for (Index m = 0; m < piece.outputs; ++m)
            times.push_back(start + time.first + static_cast<double>(last.wanted.first + m) * time.step);
    }
    if (outputs == 0)
        throw usage_error("the part that is asked for holds no output", "ask for a longer one",
                          last.flow.label);
    Flow& whole = split.whole = last.flow;
    whole.shape.frames = outputs;
    whole.axes[static_cast<std::size_t>(whole.time_axis)].values = std::move(times);
    whole.time_first = 0;
    if (own_frames != recording.shape.frames || outputs != own_frames) whole.own_axes = whole.signal;
    return split;
}

StreamReport run_pieces(const GapSplit& split, ChainPlan& current, io::Writer& writer,
                        const StreamOptions& options) {
    StreamReport sum;
    std::string hashes;
    for (const GapPiece& piece : split.pieces) {
        if (piece.outputs == 0) continue;
        current = split.plan_piece(piece.input);
        learn(current, options);
        const auto shifted = shifted_writer(writer, piece.offset);
        StreamReport done = run_stream(*current.input, current.chain, current.wanted, *shifted, options);
        hashes += done.hash;
        done.add(sum);
        sum = std::move(done);
    }
    if (options.hash) sum.hash = digest_text(digest(hashes.data(), hashes.size()));
    return sum;
}

}  // namespace convoy::pipelines
