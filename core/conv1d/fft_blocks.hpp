// How overlap-save cuts a signal: the block length of the least modelled time.
#pragma once

#include "core/conv1d/conv1d.hpp"

namespace convoy::conv1d {

/// Blocks of the fft strategy for a problem on the CPU.
struct FftBlocks {
    Index length = 0;  // of a transform, a power of two; 0 where none will do
    Index part = 0;    // taps that one transform takes; more are cut into parts of this many
    Index keep = 0;    // results of a block at the full rate, a multiple of the decimation
    // Products that direct sums may take before one more transform is faster.
    Index affordable32 = 0, affordable64 = 0;
    double transform = 0;  // modelled seconds of the transforms for 1e9 outputs, in one thread
    double look = 0;       // and of the guard
};
FftBlocks fft_blocks(const Problem& problem);

/// The largest rounding error of a transform of length n in arithmetic of unit roundoff u, and back, for taps
/// of this norm, samples and circular results of these peaks and energies (sums of squares over both blocks
/// of a pair).
double fft_error(double u, double taps_norm, Index n, double peak_x, double energy_x, double peak_y,
                 double energy_y);

/// Whether outputs of noise of variance 1 that are sure to sum up `bound` are as exact as is promised, in
/// blocks of n, by a margin for how noise varies.
bool enough_for_noise(Index taps, Index n, double norm, double bound);

}  // namespace convoy::conv1d
