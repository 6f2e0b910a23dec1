// How the outputs of a window are cut where their lines are packed into memory first.
#include <algorithm>

#include "core/base/division.hpp"
#include "core/conv2d/gemm_steps.hpp"

namespace convoy::conv2d {

std::size_t packed_bytes(const GemmSteps& g, Index groups, const GemmPiece& piece) {
    const Index lines = piece.images * groups * g.kinds() * g.lines(piece.rows) *
                        ceil_div(piece.columns, GemmSteps::tile_columns);
    return static_cast<std::size_t>(lines) * g.line_bytes();
}

Index tiles_of(const GemmSteps& g, Index groups, const GemmPiece& piece, Index filter_tiles) {
    return filter_tiles * groups * piece.images * ceil_div(piece.rows, g.rows) *
           ceil_div(piece.columns, GemmSteps::tile_columns);
}

GemmPiece next_piece(const GemmSteps& g, Index groups, const GemmPiece& whole, std::size_t limit,
                     Index filter_tiles, Index at_once) {
    GemmPiece piece = whole;
    const auto times = [&] { return static_cast<Index>(limit / packed_bytes(g, groups, piece)); };
    // The best multiple of what the piece is now, `unit` of them in `all`.
    const auto filled = [&](Index all) {
        const Index most = std::min(all, times()), tiles = tiles_of(g, groups, piece, filter_tiles);
        if (most == all) return all;
        Index best = most;
        const auto share = [&](Index n) {
            return static_cast<double>(n * tiles) /
                   static_cast<double>(ceil_div(n * tiles, at_once) * at_once);
        };
        for (Index n = most; n > most / 2; --n)
            if (share(n) > share(best) + 0.01) best = n;
        return best;
    };
    piece.images = 1;
    if (times() > 0) {
        piece.images = filled(whole.images);
        return piece;
    }
    piece.columns = std::min<Index>(whole.columns, GemmSteps::tile_columns);
    if (times() > 0) {
        piece.columns *= filled(ceil_div(whole.columns, piece.columns));
        piece.columns = std::min(piece.columns, whole.columns);
    }
    while (times() == 0 && piece.rows > g.rows)
        piece.rows = std::max<Index>(piece.rows / 2 / g.rows * g.rows, g.rows);
    return piece;
}

}  // namespace convoy::conv2d
