// How overlap-save cuts a signal: the block length of the least modelled time.
#pragma once

#include "core/conv1d/conv1d.hpp"
#include "core/conv1d/fft_error.hpp"

namespace convoy::conv1d {

/// Blocks of the fft strategy for a problem on the CPU.
struct FftBlocks {
    Index length = 0;  // of a transform, a power of two; 0 where none will do
    Index part = 0;    // taps that one transform takes; more are cut into parts of this many
    Index keep = 0;    // results of a block at the full rate, a multiple of the decimation
    Index every = 1;   // of them, only each so many-th is transformed back; a part of the decimation
    // Products that direct sums may take before one more transform is faster.
    Index affordable32 = 0, affordable64 = 0;
    double transform = 0;  // modelled seconds of the transforms for 1e9 outputs, in one thread
    double look = 0;       // and of the guard
};
FftBlocks fft_blocks(const Problem& problem);

/// How large taps are: sqrt(sum h^2), and the largest magnitude in their spectrum.
struct TapsSize {
    double norm, gain;
};

/// The largest rounding error of a transform of length n in arithmetic of unit roundoff u, and back, for
/// samples and circular results of these peaks and energies (sums of squares over both blocks of a pair).
///
/// Roundings of different butterflies are as good as independent (Gentleman and Sande 1966), so that errors
/// add up as squares: each of the log2 n levels there adds u^2 times the mean square of x to every bin, which
/// the taps pass on by their norm, and each level back u^2 times that of y. Two things are not spread evenly.
/// The first levels there and the last back join a few samples only, so that their errors are in proportion
/// to peaks. And a line in the spectrum of x is alone in the last, shortest transforms there: its roundings
/// fall into the few bins that share them, where the taps may be at their largest while they stop the line
/// itself. With the weights below and a factor of 3, which stands for the largest of all 2 n results and not
/// the usual one, no error was seen beyond 0.8 of this: tests/core/conv1d/fft_error_test.cpp looks.
double fft_error(double u, TapsSize taps, Index n, double peak_x, double energy_x, double peak_y,
                 double energy_y);

/// What an output must be sure to sum up to be as exact as is promised for so many taps, beside noise of
/// variance 1 in blocks of n.
double needed_in_noise(Index taps, TapsSize size, Index n);

/// Whether outputs that are sure to sum up `bound` in noise of variance 1 are, by a margin for how noise
/// varies.
bool enough_for_noise(Index taps, TapsSize size, Index n, double bound);

/// Nanoseconds of a product in the sums that mend outputs.
double product_ns();

}  // namespace convoy::conv1d
