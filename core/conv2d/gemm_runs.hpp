// How taps share samples in the lines of gemm_steps.hpp.
#pragma once

#include <vector>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d {

/// Taps of a row of the kernel whose columns are a whole number of strides apart: tap taps[i] of output q of
/// a row uses column (q + shift + i * tap_hop(p)) * stride + right.
struct Phase {
    int right, shift;
    std::vector<int> taps;
};
std::vector<Phase> phases_of(const Problem& p);
int tap_hop(const Problem& p);

/// Taps [first, end) of a phase in a row of the kernel over a channel, of which those from `own` on are
/// meant.
struct Run {
    const Phase* phase;
    int first, own, end;
    int channel, row;
    int tap(int i) const { return phase->taps[static_cast<std::size_t>(first + i)]; }
};
/// Runs of as many taps, which share a line: no more than it has entries.
struct Kind {
    int taps;
    std::vector<Run> runs;
};
/// All taps of the kernel over a group's channels as runs of at most `longest`, kinds of most taps first.
std::vector<Kind> kinds_of(const Problem& p, const std::vector<Phase>& phases, int longest);

}  // namespace convoy::conv2d
