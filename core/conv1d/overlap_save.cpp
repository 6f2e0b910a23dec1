#include "core/conv1d/overlap_save.hpp"

#include <algorithm>
#include <numeric>

namespace convoy::conv1d::gpu {

std::vector<double> OverlapSave::taps_of(int number, const std::vector<double>& taps) const {
    const Index first = number * part, end = std::min(first + part, static_cast<Index>(taps.size()));
    return {taps.begin() + first, taps.begin() + end};
}

std::optional<OverlapSave> overlap_save(const Problem& p, int radix, PairTime time) {
    const Index m = static_cast<Index>(p.taps.size()), length = Index{radix} * radix * 16;
    const Index step = std::lcm(p.decimate, Index{segment});
    if (step > length) return std::nullopt;
    const Index fewest = ceil_div(m, length - step + 1);
    std::optional<OverlapSave> best;
    double least = 0;
    // More parts than at least needed leave more results; beyond half a block that gains no more.
    for (Index parts = fewest; parts <= std::max(fewest, ceil_div(m, length / 2)); ++parts) {
        OverlapSave o;
        o.radix = radix;
        o.length = length;
        o.parts = static_cast<int>(parts);
        o.part = ceil_div(m, parts);
        o.keep = static_cast<int>((length - o.part + 1) / step * step);
        o.pair = time.forward * static_cast<double>(parts) + time.back;
        if (o.keep == 0 || parts * o.part - m >= o.part) continue;
        const double each = o.pair / static_cast<double>(o.keep);
        if (best && each >= least) continue;
        best = o;
        least = each;
    }
    return best;
}

}  // namespace convoy::conv1d::gpu
