#include "core/conv2d/gemm_steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/base/division.hpp"

namespace convoy::conv2d {

namespace {

constexpr std::size_t unit_bytes = 16;
constexpr int most_stages = 4, fewest_stages = 3;
constexpr Index shortest_chain = 32;  // terms: shorter ones cost more in adding up

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

    // As few steps as leave room for enough stages, their taps alike.
    void choose_taps() {
        std::size_t most = 1;
        for (const Phase& phase : phases_)
            if (g_.by_channels) most = std::max(most, phase.taps.size());
        auto taps = static_cast<int>(most);
        const auto set = [&] { g_.taps[0] = taps; };
        for (set(); taps > 1 && fewest_stages * g_.stage_bytes() > limit_; set())
            --taps;
        taps = static_cast<int>(ceil_div(static_cast<Index>(most), ceil_div(static_cast<Index>(most), taps)));
        set();
        g_.stages = static_cast<int>(std::min<std::size_t>(most_stages, limit_ / g_.stage_bytes()));
        if (!g_.by_channels) return;
        for (std::size_t i = 0; i < phases_.size(); ++i) {
            const auto all = static_cast<int>(phases_[i].taps.size());
            for (int t = 0; t < all; t += taps)
                round_.push_back({i, t, std::min(all - t, taps)});
        }
        std::stable_sort(round_.begin(), round_.end(),
                         [](const Part& a, const Part& b) { return a.taps > b.taps; });
        const auto full = std::partition_point(round_.begin(), round_.end(),
                                               [&](const Part& part) { return part.taps == taps; });
        g_.repeats[0] = static_cast<int>(full - round_.begin());
        g_.repeats[1] = static_cast<int>(round_.end() - full);
        if (full != round_.end()) g_.taps[1] = full->taps;
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
                    const auto first = phase.shifts.begin() + part.first;
                    add_step(kind + static_cast<int>(part.phase), static_cast<int>(r * p_.dilation.rows),
                             {first, first + part.taps}, there, [&](Index k, int tap, int e) {
                                 return p_.weight(k, c + e, r,
                                                  phase.taps[static_cast<std::size_t>(part.first + tap)]);
                             });
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
    void add_step(int kind, int down, std::vector<int> shifts, int there, Weight&& weight) {
        const auto real = static_cast<int>(shifts.size());
        const int taps = real == g_.taps[0] ? real : g_.taps[1];
        shifts.resize(static_cast<std::size_t>(taps), shifts.front());
        if (first_)
            g_.steps.push_back(
                {kind, down, static_cast<int>(g_.weights.size() - start_), place_of(shifts), 1, 1, {}});
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

    // Where these shifts are in the list; steps that are alike share them.
    int place_of(const std::vector<int>& shifts) {
        const auto at = std::search(g_.shifts.begin(), g_.shifts.end(), shifts.begin(), shifts.end());
        const auto first = static_cast<int>(at - g_.shifts.begin());
        if (at == g_.shifts.end()) g_.shifts.insert(at, shifts.begin(), shifts.end());
        return first;
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
    std::vector<Part> round_;  // of the steps of a row of the kernel
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

std::size_t packed_bytes(const GemmSteps& g, Index groups, const GemmPiece& piece) {
    const Index lines = piece.images * groups * g.kinds() * g.lines(piece.rows) *
                        ceil_div(piece.columns, GemmSteps::tile_columns);
    return static_cast<std::size_t>(lines) * g.line_bytes();
}

Index tiles_of(const GemmSteps& g, Index groups, const GemmPiece& piece, Index filter_tiles) {
    return filter_tiles * groups * piece.images * ceil_div(piece.rows, g.rows) *
           ceil_div(piece.columns, GemmSteps::tile_columns);
}

GemmPiece next_piece(const GemmSteps& g, Index groups, const GemmPiece& whole, std::size_t limit,
                     Index filter_tiles, Index at_once) {
    GemmPiece piece = whole;
    const auto times = [&] { return static_cast<Index>(limit / packed_bytes(g, groups, piece)); };
    // The best multiple of what the piece is now, `unit` of them in `all`.
    const auto filled = [&](Index all) {
        const Index most = std::min(all, times()), tiles = tiles_of(g, groups, piece, filter_tiles);
        if (most == all) return all;
        Index best = most;
        const auto share = [&](Index n) {
            return static_cast<double>(n * tiles) /
                   static_cast<double>(ceil_div(n * tiles, at_once) * at_once);
        };
        for (Index n = most; n > most / 2; --n)
            if (share(n) > share(best) + 0.01) best = n;
        return best;
    };
    piece.images = 1;
    if (times() > 0) {
        piece.images = filled(whole.images);
        return piece;
    }
    piece.columns = std::min<Index>(whole.columns, GemmSteps::tile_columns);
    if (times() > 0) {
        piece.columns *= filled(ceil_div(whole.columns, piece.columns));
        piece.columns = std::min(piece.columns, whole.columns);
    }
    while (times() == 0 && piece.rows > g.rows)
        piece.rows = std::max<Index>(piece.rows / 2 / g.rows * g.rows, g.rows);
    return piece;
}

}  // namespace convoy::conv2d
