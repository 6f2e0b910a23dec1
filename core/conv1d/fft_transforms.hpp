// The transforms of one filter in one arithmetic: long filters in parts.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/conv1d/fft_blocks.hpp"
#include "core/fft/pair.hpp"

namespace convoy::conv1d {

/// Loaded spectra of the taps and of their magnitudes, one for each part that the taps are cut into.
template <class T>
struct Transforms {
    using Parts = std::vector<device::Buffer>;

    Transforms(Index count, const FftBlocks& blocks)
        : taps_count(count), part(blocks.part), keep(blocks.keep), convolver(blocks.length, blocks.every) {}

    /// Results of a pair of blocks, one block after the other, from the samples of both: all of them (every
    /// 1), or 0, every, 2 every, ... of each (every as in FftBlocks). The circular results of parts add up:
    /// so do, at most, their sizes. `sums` has room for the results of a part, z for convolver.scratch().
    template <class S>
    fft::Size<T> run(const Parts& parts, const S* x, S* y, Index every, S* sums, T* z) const {
        fft::Size<T> all{0, 0};
        const Index kept = keep / every;
        for (Index p = 0; p < static_cast<Index>(parts.size()); ++p) {
            const S* from = x + std::max<Index>(0, taps_count - (p + 1) * part);
            S* const to = p == 0 ? y : sums;
            const fft::Size<T> size =
                every == 1 ? convolver.run(parts[p], from, from + keep, to, to + kept, kept, z)
                           : convolver.run_every(parts[p], from, from + keep, to, to + kept, kept, z);
            all.peak += size.peak;
            all.energy += size.energy * static_cast<T>(parts.size());
            if (p > 0) std::transform(to, to + 2 * kept, y, y, std::plus<>());
        }
        return all;
    }

    Index taps_count, part, keep;
    fft::PairConvolver<T> convolver;
    Parts taps, magnitudes;
};

}  // namespace convoy::conv1d
