// What the stream runs on each chunk: one operator along the frames, planned for one job. Filters,
// spectrograms and 2-D convolutions are stages; the stream chains them, works out their halos backwards from
// the output, and never looks inside.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy {

namespace device {
class Stream;
}

/// A planned operator. All sizes are known and all buffers allocated when it is made; `run` allocates
/// nothing.
class Stage {
  public:
    Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    virtual ~Stage() = default;

    /// Extents and type of the whole result (all lanes of the job it was planned for).
    virtual Shape shape() const = 0;
    virtual SampleType type() const = 0;

    /// Outputs come in blocks anchored at output frame 0: the stream asks only for spans that start at a
    /// multiple of block() and end at one, or at the end of the signal. 1 where every output is its own
    /// block.
    virtual Index block() const { return 1; }

    /// Input frames that output frames `out` use, within the signal: the hull, ends that padding folds back
    /// included.
    virtual Span needed(Span out) const = 0;

    /// The most frames that needed() gives for any span of `count` outputs; what the stream's buffers must
    /// hold.
    virtual Index needed_at_most(Index count) const = 0;

    /// The result may be computed in so many pieces of lanes, each on its own, so that memory does not grow
    /// with them: whole rows, or columns where there is one row. By default each row (or column) is one.
    virtual Index pieces() const {
        const Shape s = shape();
        return s.outer > 1 ? s.outer : s.inner;
    }
    /// Lanes of the result in `count` pieces from `first` on. They rise with `first` and leave nothing out.
    virtual Lanes lanes_of(Index first, Index count) const {
        const Shape s = shape();
        return s.outer > 1 ? Lanes{first, count, 0, s.inner} : Lanes{0, 1, first, count};
    }
    /// Input lanes that lanes `out` of the result, whole pieces, use: the hull.
    virtual Lanes used(Lanes out) const { return out; }

    /// Device memory is read once, in order, and written once: the stage may work in place over a link.
    virtual bool single_pass() const { return true; }

    /// Whether outputs depend on all of the input (its mean, its peak): then the whole input passes through
    /// learn() before the first run().
    virtual bool learns() const { return false; }
    /// Takes in frames `part` of a window of the input on the CPU. Every frame of every lane comes once, in
    /// order within a lane; sums go frame by frame, so that they do not depend on the windows.
    virtual void learn(const Window& in, Span part, Lanes lanes) { (void)in, (void)part, (void)lanes; }

    /// Computes output frames out.span from in (in.span contains needed(out.span)), of whole pieces. `lanes`
    /// says which lanes of the job's input the window holds. On a GPU it queues the work on `stream` and
    /// returns.
    virtual void run(const Window& in, const Window& out, Lanes lanes, device::Stream& stream) = 0;

    /// Facts for the report, as (key, value) in snake_case: blocks computed another way, block length,
    /// precision.
    using Facts = std::vector<std::pair<std::string, double>>;
    virtual Facts facts() const { return {}; }
};

}  // namespace convoy
