// A matrix product: filters x terms times terms x outputs. A strip of outputs at a time, whatever rows they
// are of, is unrolled from the patch into a panel that stays in the first-level cache while all filters use
// it: right where rows are shorter than the strips of `direct`.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/conv2d/cpu_cost.hpp"
#include "core/conv2d/cpu_stage.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv2d/gemm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/conv2d/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::conv2d::HWY_NAMESPACE {
namespace {

template <class T>
class GemmPatch : public PatchKernel<T> {
    static constexpr int outputs = Sums<T>::outputs;
    static constexpr Index strip = Sums<T>::strip;
    static constexpr Index panel_bytes = 24 << 10;  // of a first-level cache of 32 KiB

    // One row of the unrolled matrix: where its samples are in the patch.
    struct Term {
        Index channel, row, phase, offset;
    };
    // Neighbouring outputs of one row, in a strip.
    struct Piece {
        Index row, column, at, count;
    };

  public:
    explicit GemmPatch(const Problem& p)
        : p_(p),
          before_(p.before().rows),
          chain_(chain_of(p.terms())),
          tiles_((p.group_filters() + outputs - 1) / outputs) {
        for (Index c = 0; c < p.group_channels(); ++c)
            for (Index r = 0; r < p.taps.rows; ++r)
                for (Index s = 0; s < p.taps.columns; ++s) {
                    const TapPlace place = place_of(p, s);
                    terms_.push_back({c, r * p.dilation.rows, place.phase, place.offset});
                }
        const Index fit = std::max<Index>(panel_bytes / (strip * Index{sizeof(T)}) / chain_, 1) * chain_;
        depth_ = std::min(p.terms(), fit);
        for (Index g = 0; g < p.groups; ++g)
            for (Index tile = 0; tile < tiles_; ++tile)
                for (Index i = 0; i < p.terms(); ++i)
                    for (Index o = 0; o < outputs; ++o)
                        taps_.push_back(static_cast<T>(weight(g, tile * outputs + o, i)));
    }

    Index fewest_outputs() const override { return 4 * strip; }
    Index scratch() const override { return strip * (depth_ + tiles_ * outputs); }

    void run(const Patch<T>& patch, T* scratch) const override {
        T* const panel = scratch;
        T* const sums = scratch + strip * depth_;
        const Index all = patch.out_rows * patch.count;
        for (Index first = 0; first < all; first += strip) {
            const Index end = std::min(first + strip, all);
            for (Index from = 0; from < p_.terms(); from += depth_) {
                const Index depth = std::min(depth_, p_.terms() - from);
                unroll(patch, first, end, from, depth, panel);
                multiply(patch.group, panel, from, depth, sums);
            }
            finish(patch, first, end, sums);
        }
    }

  private:
    // Chains of sums that fit a panel, and are not so short that adding them up costs more than the bound
    // allows.
    static Index chain_of(Index terms) {
        const auto root = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(terms))));
        return std::min(longest_chain(terms), std::max(panel_bytes / (strip * Index{sizeof(T)}), root));
    }

    double weight(Index g, Index k, Index term) const {
        if (k >= p_.group_filters()) return 0;  // fills the last tile
        const Index s = term % p_.taps.columns, r = term / p_.taps.columns % p_.taps.rows;
        return p_.weight(g * p_.group_filters() + k, term / (p_.taps.rows * p_.taps.columns), r, s);
    }

    // Calls f for each piece of outputs first .. end of the patch.
    template <class F>
    static void each_piece(const Patch<T>& patch, Index first, Index end, F&& f) {
        for (Index i = first, n; i < end; i += n) {
            const Index column = i % patch.count;
            n = std::min(end - i, patch.count - column);
            f(Piece{i / patch.count, column, i - first, n});
        }
    }

    void unroll(const Patch<T>& patch, Index first, Index end, Index from, Index depth, T* panel) const {
        each_piece(patch, first, end, [&](const Piece& piece) {
            const Index top = (patch.first_out + piece.row) * p_.stride.rows - before_ - patch.first_row;
            T* to = panel + piece.at;
            for (Index i = 0; i < depth; ++i, to += strip) {
                const Term& t = terms_[static_cast<std::size_t>(from + i)];
                const Index row = top + t.row;
                if (row < 0 || row >= patch.rows) {
                    std::fill_n(to, piece.count, T{0});
                    continue;
                }
                std::copy_n(patch.x + t.channel * patch.channel + row * patch.row + t.phase * patch.phase +
                                t.offset + piece.column,
                            piece.count, to);
            }
        });
        for (Index i = 0; i < depth && end - first < strip; ++i)
            std::fill(panel + i * strip + (end - first), panel + (i + 1) * strip, T{0});
    }

    void multiply(Index group, const T* panel, Index from, Index depth, T* sums) const {
        for (Index tile = 0; tile < tiles_; ++tile) {
            const T* const taps = taps_.data() + ((group * tiles_ + tile) * p_.terms() + from) * outputs;
            T* to[outputs];
            for (int o = 0; o < outputs; ++o)
                to[o] = sums + (tile * outputs + o) * strip;
            for (Index i = 0; i < depth; i += chain_) {
                Sums<T> chain;
                chain.template add<0, outputs>(panel + i * strip, strip, taps + i * outputs,
                                               std::min(chain_, depth - i));
                chain.total(from + i == 0, to);
            }
        }
    }

    void finish(const Patch<T>& patch, Index first, Index end, T* sums) const {
        for (Index k = 0; k < p_.group_filters(); ++k) {
            T* const from = sums + k * strip;
            if (!p_.bias.empty() || p_.relu) {
                const auto filter = static_cast<std::size_t>(patch.group * p_.group_filters() + k);
                Sums<T>::finish(from, p_.bias.empty() ? T{0} : static_cast<T>(p_.bias[filter]), p_.relu);
            }
            each_piece(patch, first, end, [&](const Piece& piece) {
                std::copy_n(from + piece.at, piece.count,
                            patch.y + k * patch.y_filter + piece.row * patch.y_row + piece.column);
            });
        }
    }

    Problem p_;
    Index before_, chain_, tiles_;
    Index depth_ = 1;  // terms of a panel: whole chains
    std::vector<Term> terms_;
    std::vector<T> taps_;  // [group][tile][term][output of the tile]
};

}  // namespace

std::unique_ptr<PatchKernel<float>> gemm_patch32(const Problem& p) {
    return std::make_unique<GemmPatch<float>>(p);
}
std::unique_ptr<PatchKernel<double>> gemm_patch64(const Problem& p) {
    return std::make_unique<GemmPatch<double>>(p);
}

}  // namespace convoy::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv2d {

namespace {

HWY_EXPORT(gemm_patch32);
HWY_EXPORT(gemm_patch64);

std::string unsupported(const Problem&, const device::Device&) {
    return {};
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device&) {
    if (p.arithmetic() == SampleType::float64)
        return make_cpu_stage(p, nullptr, HWY_DYNAMIC_DISPATCH(gemm_patch64)(p));
    return make_cpu_stage(p, HWY_DYNAMIC_DISPATCH(gemm_patch32)(p), nullptr);
}

// Tiles of filters are whole; each output's samples are unrolled once for all filters.
std::optional<double> cost(const Problem& p, const device::Device&) {
    const Index filters = p.group_filters(), computed = (filters + 3) / 4 * 4;
    const double unrolled =
        static_cast<double>(p.terms()) * static_cast<double>(p.out_shape().samples() / filters);
    return cpu_cost::io_seconds(p) + unrolled * cpu_cost::unroll_seconds +
           cpu_cost::sum_seconds(p, static_cast<double>(filters), static_cast<double>(computed));
}

}  // namespace

extern constinit const Strategy gemm_cpu{
    "gemm", device::Backend::cpu, "a product of filters with samples unrolled in cache", unsupported, make,
    cost};

}  // namespace convoy::conv2d
#endif
