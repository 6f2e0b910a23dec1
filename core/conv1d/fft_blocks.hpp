// How overlap-save cuts a signal: the block length of the least modelled time.
#pragma once

#include "core/conv1d/conv1d.hpp"

namespace convoy::conv1d {

/// Blocks of the fft strategy for a problem on the CPU.
struct FftBlocks {
    Index length;      // of a transform, a power of two
    Index part;        // taps that one transform takes; more are cut into parts of this many
    Index keep;        // results of a block at the full rate, a multiple of the decimation
    Index affordable;  // products that direct sums may take before a transform in double is faster
    double seconds;    // modelled, for 1e9 outputs in one thread
};
FftBlocks fft_blocks(const Problem& problem);

}  // namespace convoy::conv1d
