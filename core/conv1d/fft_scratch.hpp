// Where the things lie that a pair of blocks needs while it is worked on, in one piece of memory a thread.
#pragma once

#include "core/conv1d/fft_prepared.hpp"

namespace convoy::conv1d {

/// Places, in S's, each at the beginning of a cache line; bounds of the guard come first.
template <class S>
struct FftScratch {
    static constexpr Index line = 64 / sizeof(S);

    FftScratch(const Prepared<S>& filter, const FftBlocks& blocks, Index inputs, bool decimated,
               bool in_parts) {
        const Index outputs = 2 * blocks.keep;
        place(filter.guard.room(outputs));
        sliding = place(filter.sliding.any() ? filter.sliding.room(outputs) : 0);
        transform = place(filter.exact.convolver.scratch() * static_cast<Index>(sizeof(double) / sizeof(S)));
        copy = place(decimated ? inputs : 0);
        finite = place(inputs);
        magnitudes = place(inputs);
        nonzero = place(filter.repair.room());
        results = place(decimated ? outputs : 0);
        sizes = place(outputs);
        least = place(outputs / together + 1);
        sums = place(in_parts ? outputs : 0);
    }

    Index end = 0, sliding, transform, copy, finite, magnitudes, nonzero, results, sizes, least, sums;

  private:
    Index place(Index size) {
        const Index at = end;
        end += (size + line - 1) / line * line;
        return at;
    }
};

}  // namespace convoy::conv1d
