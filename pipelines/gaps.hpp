// A signal with gaps, filtered piece by piece (--gaps split).
#pragma once

#include <functional>
#include <vector>

#include "pipelines/chain_plan.hpp"

namespace convoy::pipelines {

/// How one piece is planned.
using PlanPiece = std::function<ChainPlan(Span input)>;

/// What lies between two gaps.
struct GapPiece {
    Span input;        // frames of the whole signal
    double late = 0;   // seconds that are missing before it
    Index offset = 0;  // of its output frames in the result
    Index outputs = 0;
};

/// The pieces, and what they make together: their results lie one behind another, and a time scale of its
/// own says when each sample is.
struct GapSplit {
    std::vector<GapPiece> pieces;
    Flow whole;
    PlanPiece plan_piece;
};

/// Cuts `recording` at its gaps; `last` becomes the plan of the last piece. Error where nothing is wanted of
/// any piece.
GapSplit cut_at_gaps(const io::Recording& recording, PlanPiece plan_piece, ChainPlan& last);

/// One piece after another into `writer`, each planned anew: `current` is the plan at work. The report is of
/// all pieces, its hash that of their hashes.
StreamReport run_pieces(const GapSplit& split, ChainPlan& current, io::Writer& writer,
                        const StreamOptions& options);

}  // namespace convoy::pipelines
