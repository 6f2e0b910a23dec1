// How the matrix product on Hopper's tensor cores goes through the terms of its outputs: tables made on the
// host, which the kernels only follow.
//
// Samples are packed into lines first: a line has `width` places, one for each of 128 neighbouring outputs of
// a row and for what their taps need beyond; a place holds the samples of 16 entries, in four units of 16
// bytes. Where an image has many channels, entries are channels, a line is a row of samples and serves every
// tap of the kernel's rows by shifts: tap t of output q uses place q + shift(t). Where it has few, entries
// are runs of taps of a row of the kernel over a channel: a line is a row of outputs, and serves the taps of
// its runs by shifts in the same way.
#pragma once

#include <algorithm>
#include <vector>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d {

struct GemmSteps {
    static constexpr int tile_filters = 64, tile_columns = 128;  // of a product
    static constexpr int chunks = 4, entries_each = 4 * chunks;  // of a line
    static constexpr int longest_shift = 64;

    /// Where an entry's samples are, from those of an output's first tap: output q of a row uses column
    /// q * stride + right. Its channel is -1 where it only fills up: such samples count as zeros.
    struct Entry {
        int channel, down, right, unused;
    };
    /// What is multiplied between two looks at the barriers.
    struct Step {
        int kind;          // of lines
        int down;          // lines from the output's first one
        int weights;       // where its weights start in those of a tile, in floats
        int shift;         // of its first tap
        int begins, ends;  // a chain of sums
        int last_tap;      // that has weights
        int unused;
    };
    bool exact = true;  // float32 by upper and lower halves of factors, or TF32
    int rows = 2;       // of outputs in a block
    bool by_channels = false;
    int width = 0;
    int line_step = 1;  // lines from one row of outputs to the next
    Index reach = 0;    // lines beyond those of the last output
    /// Steps come in rounds: repeats[0] of them with taps[0] taps each, then repeats[1] with taps[1], which
    /// are fewer. Where a step has fewer still, those missing have no weight, and the place of its last one.
    int taps[2] = {1, 1}, repeats[2] = {1, 0};
    int round() const { return repeats[0] + repeats[1]; }
    int taps_of(std::size_t step) const {
        return taps[static_cast<int>(step % static_cast<std::size_t>(round())) < repeats[0] ? 0 : 1];
    }
    int tap_hop = 1;  // places from one tap of a step to the next
    int shift(const Step& step, int tap) const { return step.shift + std::min(tap, step.last_tap) * tap_hop; }
    int stages = 0;              // steps that are in shared memory at once
    std::vector<Entry> entries;  // [kind][16]
    std::vector<Step> steps;
    /// [group][tile of filters][step][tap][upper, lower half][chunk][filter][4]
    std::vector<float> weights;
    Index tile_weights = 0;  // floats of one tile

    int parts() const { return exact ? 2 : 1; }
    Index kinds() const { return static_cast<Index>(entries.size()) / entries_each; }
    /// Lines that `count` rows of outputs need.
    Index lines(Index count) const { return (count - 1) * line_step + reach + 1; }
    std::size_t line_bytes() const;
    std::size_t tap_bytes() const;  // of the weights of a tap
    std::size_t stage_bytes() const {
        return static_cast<std::size_t>(taps[0]) * tap_bytes() +
               static_cast<std::size_t>(rows) * line_bytes();
    }
};

/// The steps of a problem in float32 or TF32, stages in no more shared memory than `limit` bytes.
GemmSteps gemm_steps(const Problem& p, std::size_t limit);
/// Terms of an output in these steps, with those that only fill up.
Index gemm_terms(const Problem& p, std::size_t limit);

/// A part of a window's outputs whose lines are packed at once.
struct GemmPiece {
    Index image, images, row, rows, column, columns;
};
/// Bytes of a piece's lines.
std::size_t packed_bytes(const GemmSteps& steps, Index groups, const GemmPiece& piece);
/// The first piece of `images` x `rows` x `columns` outputs, with no more than `limit` bytes of lines:
/// several images, else tiles of columns, else rows of one such tile; a block of rows at least. Of the sizes
/// from half of the largest on it is the one whose `tiles` of an image fill a device that works on `at_once`
/// best.
GemmPiece next_piece(const GemmSteps& steps, Index groups, const GemmPiece& whole, std::size_t limit,
                     Index filter_tiles, Index at_once);
/// Tiles of a piece, each of 64 filters by a block of rows by 128 columns.
Index tiles_of(const GemmSteps& steps, Index groups, const GemmPiece& piece, Index filter_tiles);

}  // namespace convoy::conv2d
