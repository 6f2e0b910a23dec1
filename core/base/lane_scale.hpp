// Which scale of a signal's stored samples a lane has.
#pragma once

#include "core/base/rows.hpp"

namespace convoy {

/// The scale of one channel (for images, of one series): gains and offsets are none, one for all, or one
/// each.
inline LaneScale scale_of(const Scaling& scaling, Index channel) {
    const auto pick = [&](const std::vector<double>& each, double none) {
        return each.empty() ? none : each[each.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
    };
    return {pick(scaling.gain, 1), pick(scaling.offset, 0)};
}

/// That of the lane (outer, inner) of a window with `lanes` of a signal of `shape`, whose channels are
/// `parts` lanes each (2: complex).
inline LaneScale scale_of(const Scaling& scaling, const Shape& shape, Index parts, const Lanes& lanes,
                          Index outer, Index inner) {
    return scale_of(scaling, ((lanes.outer_first + outer) * shape.inner + lanes.inner_first + inner) / parts);
}

}  // namespace convoy
