// What the taps and the cutting of their blocks decide about transforms, whatever the signal.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/conv1d/fft_blocks.hpp"
#include "core/conv1d/fft_guard.hpp"
#include "core/conv1d/fft_repair.hpp"
#include "core/conv1d/fft_transforms.hpp"
#include "core/conv1d/sliding_bounds.hpp"

namespace convoy::conv1d {

/// S is the type of the samples; float32 samples have transforms in float and in double.
template <class S>
struct Prepared {
    Prepared(const std::vector<double>& taps, const FftBlocks& blocks);

    Guard<S> guard;
    SlidingBounds<S> sliding;
    Repair<S> repair;
    Transforms<double> exact;
    std::optional<Transforms<float>> fast;
    TapsSize size{0, 0}, magnitudes_size{0, 0};  // of the taps, and of their magnitudes
    /// The bounds that cost the least on noise, mending included: those of the first look at a block.
    typename Bounds<S>::How first = Bounds<S>::exact;
    double look_ns = 0;  // modelled, an output: these bounds and the mending

  private:
    void load_part(const std::vector<double>& taps);
    void take_first(Index taps, const FftBlocks& blocks);
};

/// The files of a batch have their filter in common: the last ones are kept, unless they are very long.
template <class S>
std::shared_ptr<const Prepared<S>> prepared(const std::vector<double>& taps, const FftBlocks& blocks);

}  // namespace convoy::conv1d
