// How the operators of this folder go over samples: which lane a sample is of, its scaling, and blocks of
// frames in parallel.
#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>

#include "core/arith/arith.hpp"
#include "core/base/lane_scale.hpp"

namespace convoy::arith {

/// Number of a window's lane among all lanes of the job.
inline std::size_t lane_of(const Input& input, const Lanes& lanes, Index outer, Index inner) {
    return static_cast<std::size_t>((lanes.outer_first + outer) * input.shape.inner + lanes.inner_first +
                                    inner);
}

/// What turns a stored sample of that lane into its value.
inline LaneScale scale_of(const Input& input, const Lanes& lanes, Index outer, Index inner) {
    return convoy::scale_of(input.scaling, input.shape, input.parts(), lanes, outer, inner);
}

/// Calls f with zeros of the types of both windows' samples; results are float or double.
template <class F>
void dispatch_both(const Window& in, const Window& out, const F& f) {
    dispatch(in.type, [&](auto stored) {
        if (out.type == SampleType::float32)
            f(stored, float{});
        else
            f(stored, double{});
    });
}

/// Calls work(outer, frames) for blocks of the window's frames that together are all of them, in parallel.
template <class Work>
void for_blocks(const Window& out, const Work& work) {
    constexpr Index samples = 1 << 14;  // of a block
    const Index frames = std::max<Index>(1, samples / std::max<Index>(1, out.inner));
    const Index blocks = (out.span.count + frames - 1) / frames;
    tbb::parallel_for(Index{0}, out.outer * blocks, [&](Index at) {
        const Index first = out.span.first + at % blocks * frames;
        work(at / blocks, Span{first, std::min(frames, out.span.end() - first)});
    });
}

}  // namespace convoy::arith
