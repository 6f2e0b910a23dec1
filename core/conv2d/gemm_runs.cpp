#include "core/conv2d/gemm_runs.hpp"

#include <algorithm>
#include <numeric>

#include "core/conv2d/gemm_steps.hpp"

namespace convoy::conv2d {

std::vector<Phase> phases_of(const Problem& p) {
    std::vector<Phase> phases;
    for (Index s = 0; s < p.taps.columns; ++s) {
        const int column = static_cast<int>(s * p.dilation.columns),
                  stride = static_cast<int>(p.stride.columns);
        auto at = std::find_if(phases.begin(), phases.end(),
                               [&](const Phase& phase) { return phase.right == column % stride; });
        if (at == phases.end()) at = phases.insert(at, {column % stride, column / stride, {}});
        at->taps.push_back(static_cast<int>(s));
    }
    return phases;
}

int tap_hop(const Problem& p) {
    return static_cast<int>(p.dilation.columns / std::gcd(p.dilation.columns, p.stride.columns));
}

std::vector<Kind> kinds_of(const Problem& p, const std::vector<Phase>& phases, int longest) {
    std::vector<Run> runs;
    for (const Phase& phase : phases)
        for (int t = 0, all = static_cast<int>(phase.taps.size()); t < all; t += longest)
            for (int c = 0; c < p.group_channels(); ++c)
                for (int r = 0; r < p.taps.rows; ++r)
                    runs.push_back({&phase, t, t, std::min(t + longest, all), c, r});
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run& a, const Run& b) { return a.end - a.own > b.end - b.own; });
    std::vector<Kind> kinds;
    for (Run& run : runs) {
        if (kinds.empty() || kinds.back().runs.size() == GemmSteps::entries_each ||
            run.end < kinds.back().taps)
            kinds.push_back({run.end - run.own, {}});
        // A shorter one begins earlier: so it uses no samples but those of its row of the kernel.
        run.first = run.end - kinds.back().taps;
        kinds.back().runs.push_back(run);
    }
    return kinds;
}

}  // namespace convoy::conv2d
