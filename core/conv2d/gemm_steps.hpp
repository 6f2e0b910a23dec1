// How the matrix product on Hopper's tensor cores goes through the terms of its outputs: tables made on the
// host, which the kernels only follow.
//
// Samples are packed into lines first: a line has `width` places, one for each of 128 neighbouring outputs of
// a row and for what their taps need beyond; a place holds the samples of 16 entries, in four units of 16
// bytes. Where an image has many channels, entries are channels, a line is a row of samples and serves every
// tap of the kernel's rows by shifts: tap t of output q uses place q + shift[t]. Where it has few, entries
// are terms in order, a line is a row of outputs, and each step has one tap.
#pragma once

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
        int first_tap;     // in shifts
        int begins, ends;  // a chain of sums
        int unused[2];
    };

    bool exact = true;  // float32 by upper and lower halves of factors, or TF32
    int rows = 2;       // of outputs in a block
    bool by_channels = false;
    int width = 0;
    int line_step = 1;  // lines from one row of outputs to the next
    Index reach = 0;    // lines beyond those of the last output
    /// Of a step; where there are fewer, more of no weight at the place of the first one.
    int taps = 1;
    int stages = 0;              // steps that are in shared memory at once
    std::vector<Entry> entries;  // [kind][16]
    std::vector<Step> steps;
    std::vector<int> shifts;
    /// [group][tile of filters][step][tap][upper, lower half][chunk][filter][4]
    std::vector<float> weights;
    Index tile_weights = 0;  // floats of one tile

    int parts() const { return exact ? 2 : 1; }
    Index kinds() const { return static_cast<Index>(entries.size()) / entries_each; }
    /// Lines that `count` rows of outputs need.
    Index lines(Index count) const { return (count - 1) * line_step + reach + 1; }
    std::size_t line_bytes() const;
    std::size_t weight_bytes() const;  // of a step
    std::size_t stage_bytes() const { return weight_bytes() + static_cast<std::size_t>(rows) * line_bytes(); }
};

/// The steps of a problem in float32 or TF32, stages in no more shared memory than `limit` bytes.
GemmSteps gemm_steps(const Problem& p, std::size_t limit);

/// A part of a window's outputs whose lines are packed at once.
struct GemmPiece {
    Index image, images, row, rows, column, columns;
};
/// Bytes of a piece's lines.
std::size_t packed_bytes(const GemmSteps& steps, Index groups, const GemmPiece& piece);
/// The first piece of `images` x `rows` x `columns` outputs, as large as `limit` bytes of lines allow:
/// several images, else tiles of columns, else rows of one such tile; a block of rows at least.
GemmPiece largest_piece(const GemmSteps& steps, Index groups, Index images, Index rows, Index columns,
                        std::size_t limit);

}  // namespace convoy::conv2d
