#include "core/conv2d/gemm_steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace convoy::conv2d {

namespace {

constexpr std::size_t unit_bytes = 16;
constexpr int most_stages = 4, fewest_stages = 3;
constexpr Index shortest_chain = 32;  // terms: shorter ones cost more in adding up

Index ceil_div(Index a, Index b) {
    return (a + b - 1) / b;
}

// The nearest number with the 11 significant bits of TF32.
float upper_half(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

// Taps of a row of the kernel whose columns are a whole number of strides apart.
struct Phase {
    int right;
    std::vector<int> taps, shifts;
};

std::vector<Phase> phases_of(const Problem& p) {
    std::vector<Phase> phases;
    for (Index s = 0; s < p.taps.columns; ++s) {
        const int column = static_cast<int>(s * p.dilation.columns),
                  stride = static_cast<int>(p.stride.columns);
        auto at = std::find_if(phases.begin(), phases.end(),
                               [&](const Phase& phase) { return phase.right == column % stride; });
        if (at == phases.end()) at = phases.insert(at, {column % stride, {}, {}});
        at->taps.push_back(static_cast<int>(s));
        at->shifts.push_back(column / stride);
    }
    return phases;
}

class Maker {
  public:
    Maker(const Problem& p, std::size_t limit) : p_(p), limit_(limit), phases_(phases_of(p)) {}

    GemmSteps make() {
        int farthest = 0;
        for (const Phase& phase : phases_)
            farthest = std::max(farthest, phase.shifts.back());
        g_.exact = p_.precision != Precision::tf32;
        g_.rows = g_.exact ? 2 : 4;
        g_.by_channels = p_.group_channels() >= 8 && farthest <= GemmSteps::longest_shift;
        g_.width = GemmSteps::tile_columns + (g_.by_channels ? farthest : 0);
        g_.line_step = g_.by_channels ? static_cast<int>(p_.stride.rows) : 1;
        g_.reach = g_.by_channels ? p_.spread().rows - 1 : 0;
        choose_taps();
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
                    add_by_terms();
            }
        g_.tile_weights = static_cast<Index>(g_.weights.size()) / (p_.groups * tiles);
        mark_chains();
        return std::move(g_);
    }

  private:
    static constexpr int each = GemmSteps::entries_each;

    // Taps of a step: with few of no weight, few steps, and room for enough stages.
    void choose_taps() {
        constexpr double line_cost = 0.5;  // of bringing a line, in taps
        std::size_t most = 1;
        if (g_.by_channels)
            for (const Phase& phase : phases_)
                most = std::max(most, phase.taps.size());
        double least = 0;
        int best = 0;
        for (std::size_t taps = 1; taps <= most; ++taps) {
            g_.taps = static_cast<int>(taps);
            if (taps > 1 && fewest_stages * g_.stage_bytes() > limit_) break;
            double cost = 0;
            for (const Phase& phase : phases_)
                cost += static_cast<double>((phase.taps.size() + taps - 1) / taps) *
                        (static_cast<double>(taps) + line_cost);
            if (best != 0 && cost > least) continue;
            best = g_.taps;
            least = cost;
        }
        g_.taps = best;
        g_.stages = static_cast<int>(std::min<std::size_t>(most_stages, limit_ / g_.stage_bytes()));
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
                for (std::size_t i = 0; i < phases_.size(); ++i) {
                    const Phase& phase = phases_[i];
                    const auto all = static_cast<int>(phase.taps.size());
                    for (int t = 0, n; t < all; t += n) {
                        n = std::min(all - t, g_.taps);
                        const auto first = phase.shifts.begin() + t;
                        add_step(kind + static_cast<int>(i), static_cast<int>(r * p_.dilation.rows),
                                 {first, first + n}, there, [&](Index k, int tap, int e) {
                                     return p_.weight(k, c + e, r,
                                                      phase.taps[static_cast<std::size_t>(t + tap)]);
                                 });
                    }
                }
        }
    }

    // Terms in order, as many as a line has entries.
    void add_by_terms() {
        const Index taps = p_.taps.rows * p_.taps.columns;
        for (Index first = 0; first < p_.terms(); first += each) {
            const auto there = static_cast<int>(std::min<Index>(p_.terms() - first, each));
            const auto place = [&](int e) {
                const Index term = first + e;
                return std::array<Index, 3>{term / taps, term / p_.taps.columns % p_.taps.rows,
                                            term % p_.taps.columns};
            };
            for (int e = 0; first_ && e < each; ++e) {
                const auto [c, r, s] = place(e);
                g_.entries.push_back(
                    e < there ? GemmSteps::Entry{static_cast<int>(c), static_cast<int>(r * p_.dilation.rows),
                                                 static_cast<int>(s * p_.dilation.columns), 0}
                              : GemmSteps::Entry{-1, 0, 0, 0});
            }
            add_step(static_cast<int>(first / each), 0, {0}, there, [&](Index k, int, int e) {
                const auto [c, r, s] = place(e);
                return p_.weight(k, c, r, s);
            });
        }
    }

    template <class Weight>
    void add_step(int kind, int down, const std::vector<int>& shifts, int there, Weight&& weight) {
        const auto taps = static_cast<int>(shifts.size());
        if (first_)
            g_.steps.push_back(
                {kind, down, static_cast<int>(g_.weights.size() - start_), place_of(shifts), 1, 1, {}});
        for (int tap = 0; tap < g_.taps; ++tap)
            for (int part = 0; part < g_.parts(); ++part)
                for (int chunk = 0; chunk < GemmSteps::chunks; ++chunk)
                    for (int k = 0; k < GemmSteps::tile_filters; ++k)
                        for (int e = 4 * chunk; e < 4 * chunk + 4; ++e) {
                            const bool real = tap < taps && k < filters_ && e < there;
                            const float w = real ? static_cast<float>(weight(filter_ + k, tap, e)) : 0.0f;
                            g_.weights.push_back(part == 0 ? upper_half(w) : upper_half(w - upper_half(w)));
                        }
    }

    // Where these shifts, filled up, are in the list; steps that are alike share them.
    int place_of(std::vector<int> shifts) {
        const auto taps = static_cast<std::size_t>(g_.taps);
        shifts.resize(taps, shifts.front());
        std::size_t at = 0;
        while (at < g_.shifts.size() &&
               !std::equal(shifts.begin(), shifts.end(), g_.shifts.begin() + static_cast<std::ptrdiff_t>(at)))
            at += taps;
        if (at == g_.shifts.size()) g_.shifts.insert(g_.shifts.end(), shifts.begin(), shifts.end());
        return static_cast<int>(at);
    }

    void mark_chains() {
        Index terms = 0;
        for (std::size_t i = 0; i < g_.steps.size(); ++i) {
            GemmSteps::Step& step = g_.steps[i];
            step.begins = terms == 0 ? 1 : 0;
            terms += g_.taps * each;
            const bool last = i + 1 == g_.steps.size();
            step.ends = last || (g_.exact && terms >= shortest_chain) ? 1 : 0;
            if (step.ends != 0) terms = 0;
        }
    }

    const Problem& p_;
    std::size_t limit_;
    std::vector<Phase> phases_;
    GemmSteps g_;
    bool first_ = true;
    std::size_t start_ = 0;
    Index filter_ = 0, filters_ = 0;
};

}  // namespace

std::size_t GemmSteps::line_bytes() const {
    return static_cast<std::size_t>(parts() * chunks * width) * unit_bytes;
}
std::size_t GemmSteps::weight_bytes() const {
    return static_cast<std::size_t>(taps * parts() * chunks * tile_filters) * unit_bytes;
}

GemmSteps gemm_steps(const Problem& p, std::size_t limit) {
    return Maker(p, limit).make();
}

std::size_t packed_bytes(const GemmSteps& g, Index groups, const GemmPiece& piece) {
    const Index lines = piece.images * groups * g.kinds() * g.lines(piece.rows) *
                        ceil_div(piece.columns, GemmSteps::tile_columns);
    return static_cast<std::size_t>(lines) * g.line_bytes();
}

GemmPiece largest_piece(const GemmSteps& g, Index groups, Index images, Index rows, Index columns,
                        std::size_t limit) {
    GemmPiece most{0, 1, 0, rows, 0, columns};
    const auto times = [&] { return static_cast<Index>(limit / packed_bytes(g, groups, most)); };
    if (times() > 0) {
        most.images = std::min(images, times());
        return most;
    }
    most.columns = std::min<Index>(columns, GemmSteps::tile_columns);
    if (times() > 0) most.columns *= times();
    while (times() == 0 && most.rows > g.rows)
        most.rows = std::max<Index>(most.rows / 2 / g.rows * g.rows, g.rows);
    return most;
}

}  // namespace convoy::conv2d
