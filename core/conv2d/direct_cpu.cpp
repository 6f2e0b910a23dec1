// Direct sums with Highway. A tile of four outputs by a strip of neighbouring columns stays in registers
// while the taps go by: each vector of samples that is loaded serves four outputs, and each tap that is
// spread over a vector serves the whole strip. The four are filters where there are enough, else rows of one
// filter, which share the samples of all but their outermost taps.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/conv2d/cpu_cost.hpp"
#include "core/conv2d/cpu_stage.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv2d/direct_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/conv2d/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::conv2d::HWY_NAMESPACE {
namespace {

template <class T>
class DirectPatch : public PatchKernel<T> {
    static constexpr int outputs = Sums<T>::outputs;
    static constexpr Index strip = Sums<T>::strip;

    // Taps that follow one another in a phase of a row of samples, for outputs first .. first + active of a
    // tile.
    struct Run {
        Index channel, row;  // of the samples; rows in steps of the dilation, from the tile's first
        Index phase, offset, step;
        Index count;
        int first, active;
        Index taps;         // where they start in taps_: [count][active]
        bool last = false;  // of its chain of sums
    };
    // What is computed at once: filters filter .. filter + active of a row, or four rows of one filter.
    struct Tile {
        Index filter, active;
        bool of_rows;
        std::size_t first, end;  // of runs_
    };

  public:
    explicit DirectPatch(const Problem& p)
        : p_(p), before_(p.before().rows), chain_(longest_chain(p.terms())) {
        // Rows `apart` outputs from one another use rows of samples that are `shift` dilations from one
        // another.
        const Index common = std::gcd(p.dilation.rows, p.stride.rows);
        apart_ = p.dilation.rows / common;
        shift_ = p.stride.rows / common;
        const Index each = p.group_filters();
        for (Index g = 0; g < p.groups; ++g) {
            Index k = 0;
            for (Index n; (n = std::min<Index>(outputs, each - k)) >= 3; k += n)
                add_tile({g * each + k, n, false, 0, 0});
            for (; k < each; ++k)
                add_tile({g * each + k, 1, true, 0, 0});
        }
    }

    Index row_step() const override { return apart_ * outputs; }
    Index column_step() const override { return strip; }
    Index scratch() const override { return outputs * strip; }

    void run(const Patch<T>& patch, T* scratch) const override {
        const std::size_t each = tiles_.size() / static_cast<std::size_t>(p_.groups),
                          first = each * static_cast<std::size_t>(patch.group);
        for (Index row = 0; row < patch.out_rows; ++row)
            for (Index q = 0; q < patch.count; q += strip)
                for (std::size_t t = first; t < first + each; ++t) {
                    if (tiles_[t].of_rows && row % row_step() >= apart_) continue;
                    // The last strip ends with the outputs; what it does again comes out the same.
                    const Index at = std::max<Index>(std::min(q, patch.count - strip), 0);
                    run_tile(tiles_[t], patch, row, at, scratch);
                }
    }

  private:
    // Appends the tile and its runs, in the order in which they are summed: channels, rows, phases, taps.
    void add_tile(Tile tile) {
        tile.first = runs_.size();
        const Index rows = p_.taps.rows + (tile.of_rows ? (outputs - 1) * shift_ : 0);
        Index summed[outputs] = {};  // by each output since its chain began
        for (Index c = 0; c < p_.group_channels(); ++c)
            for (Index j = 0; j < rows; ++j)
                add_row(tile, c, j, summed);
        runs_.back().last = true;
        tile.end = runs_.size();
        tiles_.push_back(tile);
    }

    void add_row(const Tile& tile, Index c, Index j, Index* summed) {
        int first = 0, end = static_cast<int>(tile.active);
        if (tile.of_rows) {  // row j of the samples meets tap row j - o * shift of output o
            while (first < outputs && j - first * shift_ >= p_.taps.rows)
                ++first;
            for (end = first; end < outputs && j - end * shift_ >= 0;)
                ++end;
        }
        if (end == first) return;
        const Index phases = p_.stride.columns / std::gcd(p_.stride.columns, p_.dilation.columns);
        for (Index s0 = 0; s0 < std::min(phases, p_.taps.columns); ++s0) {
            const TapPlace place = place_of(p_, s0);
            const Index step = p_.dilation.columns * phases / p_.stride.columns;
            for (Index s = s0, n; s < p_.taps.columns; s += n * phases) {
                n = std::min(chain_, (p_.taps.columns - s + phases - 1) / phases);
                const Index most = *std::max_element(summed, summed + outputs);
                if (most + n > chain_ && runs_.size() > tile.first) {
                    runs_.back().last = true;
                    std::fill_n(summed, outputs, 0);
                }
                runs_.push_back({c, j, place.phase, place.offset + (s - s0) / phases * step, step, n, first,
                                 end - first, static_cast<Index>(taps_.size())});
                for (Index i = 0; i < n; ++i)
                    for (int o = first; o < end; ++o)
                        taps_.push_back(static_cast<T>(
                            tile.of_rows ? p_.weight(tile.filter, c, j - o * shift_, s + i * phases)
                                         : p_.weight(tile.filter + o, c, j, s + i * phases)));
                for (int o = first; o < end; ++o)
                    summed[o] += n;
            }
        }
    }

    void run_tile(const Tile& tile, const Patch<T>& patch, Index row, Index q, T* scratch) const {
        T* to[outputs];
        place_outputs(tile, patch, row, q, scratch, to);
        const Index top = (patch.first_out + row) * p_.stride.rows - before_ - patch.first_row;
        Sums<T> sums;
        bool first = true;
        for (std::size_t i = tile.first; i < tile.end; ++i) {
            const Run& run = runs_[i];
            const Index at = top + run.row * p_.dilation.rows;
            if (at >= 0 && at < patch.rows) {  // others are zeros beyond the edge
                const T* const x = patch.x + run.channel * patch.channel + at * patch.row +
                                   run.phase * patch.phase + run.offset + q;
                add_run(run, x, sums);
            }
            if (!run.last) continue;
            sums.total(first, to);
            first = false;
            sums = {};
        }
        finish(tile, to);
        if (patch.count < strip) copy_out(tile, patch, row, to);
    }

    // Where the outputs of a tile are summed: at their place, or in the scratch where there is none.
    void place_outputs(const Tile& tile, const Patch<T>& patch, Index row, Index q, T* scratch,
                       T** to) const {
        for (int o = 0; o < outputs; ++o) {
            T* const place = output_at(tile, patch, row, o);
            to[o] = place != nullptr && patch.count >= strip ? place + q : scratch + o * strip;
        }
    }
    T* output_at(const Tile& tile, const Patch<T>& patch, Index row, int o) const {
        const Index r = tile.of_rows ? row + o * apart_ : row, k = tile.of_rows ? 0 : o;
        if (r >= patch.out_rows || k >= tile.active) return nullptr;
        const Index filter = tile.filter - patch.group * p_.group_filters() + k;
        return patch.y + filter * patch.y_filter + r * patch.y_row;
    }
    void copy_out(const Tile& tile, const Patch<T>& patch, Index row, T* const* to) const {
        for (int o = 0; o < outputs; ++o)
            if (T* const place = output_at(tile, patch, row, o)) std::copy_n(to[o], patch.count, place);
    }

    HWY_INLINE void add_run(const Run& run, const T* x, Sums<T>& sums) const {
        const T* const taps = taps_.data() + run.taps;
        switch (run.first * outputs + run.active) {
            case 1:
                return sums.template add<0, 1>(x, run.step, taps, run.count);
            case 2:
                return sums.template add<0, 2>(x, run.step, taps, run.count);
            case 3:
                return sums.template add<0, 3>(x, run.step, taps, run.count);
            case 4:
                return sums.template add<0, 4>(x, run.step, taps, run.count);
            case 5:
                return sums.template add<1, 1>(x, run.step, taps, run.count);
            case 6:
                return sums.template add<1, 2>(x, run.step, taps, run.count);
            case 7:
                return sums.template add<1, 3>(x, run.step, taps, run.count);
            case 9:
                return sums.template add<2, 1>(x, run.step, taps, run.count);
            case 10:
                return sums.template add<2, 2>(x, run.step, taps, run.count);
            default:
                return sums.template add<3, 1>(x, run.step, taps, run.count);
        }
    }

    void finish(const Tile& tile, T* const* to) const {
        if (p_.bias.empty() && !p_.relu) return;
        for (Index o = 0; o < (tile.of_rows ? outputs : tile.active); ++o) {
            const auto filter = static_cast<std::size_t>(tile.filter + (tile.of_rows ? 0 : o));
            Sums<T>::finish(to[o], p_.bias.empty() ? T{0} : static_cast<T>(p_.bias[filter]), p_.relu);
        }
    }

    Problem p_;
    Index before_, chain_;
    Index apart_ = 1, shift_ = 1;
    std::vector<T> taps_;
    std::vector<Run> runs_;
    std::vector<Tile> tiles_;  // as many for each group
};

}  // namespace

std::unique_ptr<PatchKernel<float>> direct_patch32(const Problem& p) {
    return std::make_unique<DirectPatch<float>>(p);
}
std::unique_ptr<PatchKernel<double>> direct_patch64(const Problem& p) {
    return std::make_unique<DirectPatch<double>>(p);
}

}  // namespace convoy::conv2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv2d {

namespace {

HWY_EXPORT(direct_patch32);
HWY_EXPORT(direct_patch64);

std::string unsupported(const Problem&, const device::Device&) {
    return {};
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device&) {
    if (p.arithmetic() == SampleType::float64)
        return make_cpu_stage(p, nullptr, HWY_DYNAMIC_DISPATCH(direct_patch64)(p));
    return make_cpu_stage(p, HWY_DYNAMIC_DISPATCH(direct_patch32)(p), nullptr);
}

// Strips are whole; rows that share samples do not always share them with all four.
std::optional<double> cost(const Problem& p, const device::Device&) {
    const Index columns = p.outputs().columns, strips = (columns + cpu_cost::strip - 1) / cpu_cost::strip;
    const double shared = p.group_filters() >= 3 ? 1 : 1.2;
    return cpu_cost::io_seconds(p) +
           shared * cpu_cost::sum_seconds(p, static_cast<double>(columns),
                                          static_cast<double>(strips * cpu_cost::strip));
}

}  // namespace

extern constinit const Strategy direct_cpu{
    "direct", device::Backend::cpu, "sums over rows as they lie, in vectors of columns", unsupported, make,
    cost};

}  // namespace convoy::conv2d
#endif
