#include "core/conv2d/gemm_steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/base/division.hpp"
#include "core/conv2d/gemm_runs.hpp"

namespace convoy::conv2d {

namespace {

constexpr std::size_t unit_bytes = 16;
constexpr int most_stages = 4, fewest_stages = 3;
constexpr Index shortest_chain = 32;  // terms: shorter ones cost more in adding up
constexpr Index line_cost = 32;       // terms whose products take as long as a line of a kind

// The nearest number with the 11 significant bits of TF32.
float upper_half(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

class Maker {
  public:
    Maker(const Problem& p, std::size_t limit) : p_(p), limit_(limit), phases_(phases_of(p)) {
        g_.tap_hop = tap_hop(p);
        int farthest = 0;
        for (const Phase& phase : phases_)
            farthest = std::max(farthest, shift(phase, phase.taps.size() - 1));
        g_.exact = p_.precision != Precision::tf32;
        g_.rows = g_.exact ? 2 : 4;
        g_.by_channels = p_.group_channels() >= 8 && farthest <= GemmSteps::longest_shift;
        if (g_.by_channels)
            plan_by_channels(farthest);
        else
            plan_by_runs();
        g_.stages = static_cast<int>(std::min<std::size_t>(most_stages, limit_ / g_.stage_bytes()));
    }

    /// Of an output, with those that fill up.
    Index terms() const {
        const Index slices = g_.by_channels ? ceil_div(p_.group_channels(), each) * p_.taps.rows : 1;
        return slices * each * (g_.repeats[0] * g_.taps[0] + g_.repeats[1] * g_.taps[1]);
    }

    GemmSteps make() {
        const Index tiles = ceil_div(p_.group_filters(), GemmSteps::tile_filters);
        for (Index group = 0; group < p_.groups; ++group)
            for (Index tile = 0; tile < tiles; ++tile) {
                first_ = group == 0 && tile == 0;
                start_ = g_.weights.size();
                filter_ = group * p_.group_filters() + tile * GemmSteps::tile_filters;
                filters_ = std::min<Index>(p_.group_filters() - tile * GemmSteps::tile_filters,
                                           GemmSteps::tile_filters);
                if (g_.by_channels)
                    add_by_channels();
                else
                    add_by_runs();
            }
        g_.tile_weights = static_cast<Index>(g_.weights.size()) / (p_.groups * tiles);
        mark_chains();
        return std::move(g_);
    }

  private:
    static constexpr int each = GemmSteps::entries_each;

    int shift(const Phase& phase, std::size_t tap) const {
        return phase.shift + static_cast<int>(tap) * g_.tap_hop;
    }
    bool fits() const { return fewest_stages * g_.stage_bytes() <= limit_; }

    // As few steps as leave room for enough stages, their taps alike.
    void plan_by_channels(int farthest) {
        // Four threads put down a place of channels that are neighbours: two more than a multiple of four
        // keep them in different banks.
        g_.width = GemmSteps::tile_columns + farthest + (p_.channels_last ? 3 - (farthest + 1) % 4 : 0);
        g_.line_step = static_cast<int>(p_.stride.rows);
        g_.reach = p_.spread().rows - 1;
        std::size_t most = 1;
        for (const Phase& phase : phases_)
            most = std::max(most, phase.taps.size());
        int& taps = g_.taps[0];
        for (taps = static_cast<int>(most); taps > 1 && !fits();)
            --taps;
        taps = static_cast<int>(ceil_div(static_cast<Index>(most), ceil_div(static_cast<Index>(most), taps)));
        for (std::size_t i = 0; i < phases_.size(); ++i) {
            const auto all = static_cast<int>(phases_[i].taps.size());
            for (int t = 0; t < all; t += taps)
                round_.push_back({i, t, std::min(all - t, taps)});
        }
        std::stable_sort(round_.begin(), round_.end(),
                         [](const Part& a, const Part& b) { return a.taps > b.taps; });
        set_round(round_);
    }

    // Long runs share lines, short ones leave fewer entries that only fill up: what costs least.
    void plan_by_runs() {
        Index least = 0;
        std::size_t most = 1;
        for (const Phase& phase : phases_)
            most = std::max(most, phase.taps.size());
        const GemmSteps none = g_;
        GemmSteps best;
        for (int longest = 1; longest <= static_cast<int>(most); ++longest) {
            g_ = none;
            const std::vector<Kind> kinds = kinds_of(p_, phases_, longest);
            g_.width = GemmSteps::tile_columns + (longest - 1) * g_.tap_hop;
            set_round(kinds);
            if (longest > 1 && (!fits() || g_.width > GemmSteps::tile_columns + GemmSteps::longest_shift))
                break;
            const Index cost = terms() + line_cost * static_cast<Index>(kinds.size());
            if (longest > 1 && cost > least) continue;
            least = cost;
            best = g_;
            kinds_ = kinds;
        }
        g_ = best;
    }
    // Steps or kinds of most taps first.
    template <class Steps>
    void set_round(const Steps& steps) {
        const auto full = std::partition_point(
            steps.begin(), steps.end(), [&](const auto& step) { return step.taps == steps.front().taps; });
        g_.taps[0] = steps.front().taps;
        g_.repeats[0] = static_cast<int>(full - steps.begin());
        g_.repeats[1] = static_cast<int>(steps.end() - full);
        if (full != steps.end()) g_.taps[1] = full->taps;
    }

    // A slice of channels, a row of the kernel, taps that share their samples.
    void add_by_channels() {
        int kind = 0;
        for (Index c = 0; c < p_.group_channels(); c += each, kind += static_cast<int>(phases_.size())) {
            const auto there = static_cast<int>(std::min<Index>(p_.group_channels() - c, each));
            for (const Phase& phase : phases_)
                for (int e = 0; first_ && e < each; ++e)
                    g_.entries.push_back({e < there ? static_cast<int>(c) + e : -1, 0, phase.right, 0});
            for (Index r = 0; r < p_.taps.rows; ++r)
                for (const Part& part : round_) {
                    const Phase& phase = phases_[part.phase];
                    add_step(kind + static_cast<int>(part.phase), static_cast<int>(r * p_.dilation.rows),
                             shift(phase, static_cast<std::size_t>(part.first)), part.taps, there,
                             [&](Index k, int tap, int e) {
                                 return p_.weight(k, c + e, r,
                                                  phase.taps[static_cast<std::size_t>(part.first + tap)]);
                             });
                }
        }
    }

    // A kind of runs.
    void add_by_runs() {
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            const std::vector<Run>& runs = kinds_[i].runs;
            for (std::size_t e = 0; first_ && e < each; ++e)
                g_.entries.push_back(
                    e < runs.size()
                        ? GemmSteps::Entry{runs[e].channel, runs[e].row * static_cast<int>(p_.dilation.rows),
                                           runs[e].tap(0) * static_cast<int>(p_.dilation.columns), 0}
                        : GemmSteps::Entry{-1, 0, 0, 0});
            add_step(static_cast<int>(i), 0, 0, kinds_[i].taps, static_cast<int>(runs.size()),
                     [&](Index k, int tap, int e) {
                         const Run& run = runs[static_cast<std::size_t>(e)];
                         return run.first + tap < run.own ? 0.0
                                                          : p_.weight(k, run.channel, run.row, run.tap(tap));
                     });
        }
    }

    template <class Weight>
    void add_step(int kind, int down, int shift, int real, int there, Weight&& weight) {
        const int taps = real == g_.taps[0] ? real : g_.taps[1];
        if (first_)
            g_.steps.push_back(
                {kind, down, static_cast<int>(g_.weights.size() - start_), shift, 1, 1, real - 1, 0});
        for (int tap = 0; tap < taps; ++tap)
            for (int part = 0; part < g_.parts(); ++part)
                for (int chunk = 0; chunk < GemmSteps::chunks; ++chunk)
                    for (int k = 0; k < GemmSteps::tile_filters; ++k)
                        for (int e = 4 * chunk; e < 4 * chunk + 4; ++e) {
                            const float w = tap < real && k < filters_ && e < there
                                                ? static_cast<float>(weight(filter_ + k, tap, e))
                                                : 0.0f;
                            g_.weights.push_back(part == 0 ? upper_half(w) : upper_half(w - upper_half(w)));
                        }
    }

    void mark_chains() {
        Index terms = 0;
        for (std::size_t i = 0; i < g_.steps.size(); ++i) {
            GemmSteps::Step& step = g_.steps[i];
            step.begins = terms == 0 ? 1 : 0;
            terms += g_.taps_of(i) * each;
            const bool last = i + 1 == g_.steps.size();
            step.ends = last || (g_.exact && terms >= shortest_chain) ? 1 : 0;
            if (step.ends != 0) terms = 0;
        }
    }

    // Taps of a phase that a step takes.
    struct Part {
        std::size_t phase;
        int first, taps;
    };

    const Problem& p_;
    std::size_t limit_;
    std::vector<Phase> phases_;
    std::vector<Part> round_;  // by channels: of the steps of a row of the kernel
    std::vector<Kind> kinds_;  // else
    GemmSteps g_;
    bool first_ = true;
    std::size_t start_ = 0;
    Index filter_ = 0, filters_ = 0;
};

}  // namespace

std::size_t GemmSteps::line_bytes() const {
    return static_cast<std::size_t>(parts() * chunks * width) * unit_bytes;
}
std::size_t GemmSteps::tap_bytes() const {
    return static_cast<std::size_t>(parts() * chunks * tile_filters) * unit_bytes;
}

GemmSteps gemm_steps(const Problem& p, std::size_t limit) {
    return Maker(p, limit).make();
}
Index gemm_terms(const Problem& p, std::size_t limit) {
    return Maker(p, limit).terms();
}

}  // namespace convoy::conv2d
