// Overlap-save: pairs of neighbouring blocks through one transform (core/fft/pair.hpp), every output as good
// as a direct sum.
//
// A pair of blocks is judged by its own samples only, so that the answer does not depend on how the signal is
// cut. The rounding errors of a float32 transform are taken to be at most (u = 2^-24, n = block length, rms
// and peak of the samples x and of all circular results y of the pair)
//
//   E = 3 u sqrt(|h|_2^2 (2 log2(n) rms_x^2 + 4 peak_x^2) + 4 log2(n) rms_y^2 + 2 peak_y^2),
//
// the form that independent rounding errors of each butterfly give (Gentleman and Sande 1966), with a factor
// that is 1.4 times the worst of 5000 blocks: noise, steps, tones, combs, clicks and bursts through ten kinds
// of filters, n = 256 to 65536. Outputs whose guaranteed S_i (fft_guard.hpp) makes E less than 4 u (2 +
// sqrt(M)) S_i stand. The few others are summed directly; where they are many, the pair goes through a
// transform in double.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>

#include "core/base/quantity.hpp"
#include "core/base/recent.hpp"
#include "core/conv1d/cpu_cost.hpp"
#include "core/conv1d/cpu_stage.hpp"
#include "core/conv1d/direct_sums.hpp"
#include "core/conv1d/fft_blocks.hpp"
#include "core/conv1d/fft_guard.hpp"
#include "core/conv1d/sliding_bounds.hpp"
#include "core/fft/pair.hpp"

namespace convoy::conv1d {

namespace {

std::vector<double> magnitudes_of(std::vector<double> taps) {
    for (double& h : taps)
        h = std::abs(h);
    return taps;
}

/// Transforms in T, and the loaded spectra of taps and of their magnitudes, one for each part that the taps
/// are cut into.
template <class T>
struct Transforms {
    explicit Transforms(const FftBlocks& blocks) : convolver(blocks.length) {}
    fft::PairConvolver<T> convolver;
    std::vector<device::Buffer> taps, magnitudes;
};

/// What the taps and the cutting of their blocks decide, whatever the signal. S is the type of the samples;
/// float32 samples have transforms in float and in double.
template <class S>
struct Prepared {
    Prepared(const std::vector<double>& taps, const FftBlocks& blocks)
        : guard(taps), sliding(taps), sums(taps), exact(blocks) {
        const std::vector<double> h = magnitudes_of(taps);
        const double largest = *std::max_element(h.begin(), h.end());
        if (std::is_same_v<S, float> && largest > 1e-15 && largest < 1e15) fast.emplace(blocks);
        for (Index first = 0, m = static_cast<Index>(taps.size()); first < m; first += blocks.part) {
            const Index end = std::min(m, first + blocks.part);
            load({&taps[first], &taps[end]}, &Transforms<double>::taps, &Transforms<float>::taps);
            load({&h[first], &h[end]}, &Transforms<double>::magnitudes, &Transforms<float>::magnitudes);
        }
    }
    /// One part's spectrum, in double and, where there are such transforms, in float.
    void load(const std::vector<double>& part, std::vector<device::Buffer> Transforms<double>::*in_double,
              std::vector<device::Buffer> Transforms<float>::*in_float) {
        const std::vector<double> spectrum =
            exact.convolver.spectrum(part, static_cast<Index>(part.size()) - 1);
        (exact.*in_double).push_back(exact.convolver.load(spectrum));
        if (fast) ((*fast).*in_float).push_back(fast->convolver.load(spectrum));
    }

    Guard<S> guard;
    SlidingBounds<S> sliding;
    DirectSums sums;
    Transforms<double> exact;
    std::optional<Transforms<float>> fast;
};

/// The files of a batch have their filter in common: the last ones are kept, unless they are very long.
/// Spectra lie in the order of the registers.
template <class S>
std::shared_ptr<const Prepared<S>> prepared(const std::vector<double>& taps, const FftBlocks& blocks) {
    using Key = std::tuple<std::vector<double>, Index, Index, Index>;
    static Recent<Key, Prepared<S>> recent(4);
    const auto make = [&] { return std::make_shared<const Prepared<S>>(taps, blocks); };
    if (taps.size() > 65536) return make();
    return recent.get({taps, blocks.length, blocks.part, fft::simd_lanes<float>()}, make);
}

template <class S>
class FftRows : public RowKernel<S> {
  public:
    explicit FftRows(const Problem& p)
        : taps_(static_cast<Index>(p.taps.size())),
          decimate_(p.decimate),
          outputs_(p.outputs()),
          blocks_(fft_blocks(p)),
          keep_(blocks_.keep),
          prepared_(prepared<S>(p.taps, blocks_)) {
        const double parts = static_cast<double>(exact_.taps.size());  // each rounded, and their sums
        allowed_ = unit * (4 * (2 + std::sqrt(static_cast<double>(taps_))) - 2 * parts + 1);
    }

    Index block() const override { return 2 * keep_ / decimate_; }
    Index tile() const override { return std::max<Index>(1, 32768 / (2 * keep_)) * block(); }
    Index scratch() const override { return places_.end + line; }

    Stage::Facts facts() const override {
        return {{"fft_length", static_cast<double>(blocks_.length)},
                {"blocks_total", static_cast<double>(total_)},
                {"blocks_float64", static_cast<double>(in_double_)},
                {"blocks_direct", static_cast<double>(direct_)}};
    }

    void run(const S* const* x, S* const* y, Index rows, Index first, Index count, S* scratch) override {
        const auto address = reinterpret_cast<std::uintptr_t>(scratch);
        Pair pair{};
        pair.scratch = scratch + (64 - address % 64) % 64 / sizeof(S);
        for (Index r = 0; r < rows; ++r)
            for (Index n = 0; n < count; n += block()) {
                // Beyond the signal's end nobody asks how good the results are.
                const Index wanted = std::min(block(), outputs_ - (first + n));
                if (wanted <= 0) break;
                pair.outputs = (wanted - 1) * decimate_ + 1;
                convolve(pair, x[r] + n * decimate_, y[r] + n);
            }
        total_ += 2 * rows * (count / block());
    }

  private:
    static constexpr double unit = std::numeric_limits<S>::epsilon() / 2;
    static constexpr Index line = 64 / sizeof(S);
    static constexpr bool narrow = std::is_same_v<S, float>;

    /// Two neighbouring blocks of a row.
    struct Pair {
        S* scratch;
        Index outputs;  // results at the full rate that are wanted, at most 2 keep
        const S* x;     // outputs + M - 1 samples, and as many more as the transforms read
        S* y;           // room for 2 keep results
        Level<S> level;
    };
    /// Lower bounds of what outputs sum up, one a group, and the smallest of them.
    struct Bounds {
        const S* values;
        Index group;
        S least;
        enum How { segments, sliding, exact } how;
    };

    void convolve(Pair& pair, const S* x, S* y) {
        pair.x = x;
        pair.y = y;
        if (decimate_ > 1) {  // the last samples are not needed, and not there
            S* const copy = pair.scratch + places_.copy;
            const Index there = 2 * keep_ - decimate_ + taps_;
            std::copy_n(x, there, copy);
            std::fill(copy + there, copy + samples(), S(0));
            pair.x = copy;
            pair.y = pair.scratch + places_.results;
        }
        Bounds bounds;
        look(pair, bounds);
        if (pair.level.peak == 0 && pair.level.energy == 0)
            std::fill_n(pair.y, 2 * keep_, S(0));
        else if (!fast(pair, bounds))
            careful(pair, bounds);
        if (decimate_ > 1)
            for (Index n = 0; n < block(); ++n)
                y[n] = pair.y[n * decimate_];
    }

    /// The pair in float; false where float cannot do it, or for too few of the results.
    bool fast([[maybe_unused]] const Pair& pair, [[maybe_unused]] Bounds& bounds) {
        if constexpr (narrow) {
            if (!fast_ || !(pair.level.peak > 1e-15F) || !std::isfinite(pair.level.energy)) return false;
            double least = error<float>(pair, {0, 0}) / allowed_;  // at the least, from the samples alone
            if (!few(pair, bounds, least, blocks_.affordable32)) {
                sharpen(pair, bounds);
                if (!few(pair, bounds, least, blocks_.affordable32)) {
                    // Below such a share of what is needed, an exact bound would not help.
                    if (!few(pair, bounds, least / (sliding_.any() ? 4 : 16), blocks_.affordable64))
                        return false;
                    tighten(*fast_, pair, bounds);
                    if (!few(pair, bounds, least, blocks_.affordable64)) return false;
                }
            }
            least =
                error<float>(pair, transform(*fast_, fast_->taps, pair.x, pair.y, pair.scratch)) / allowed_;
            if (!few(pair, bounds, least, blocks_.affordable32)) {
                sharpen(pair, bounds);
                if (bounds.how != Bounds::exact && !few(pair, bounds, least, blocks_.affordable32))
                    tighten(*fast_, pair, bounds);
                if (!few(pair, bounds, least, blocks_.affordable64)) return false;
            }
            repair(pair, bounds, least);
            return true;
        }
        return false;
    }

    /// The pair in double, with what is not finite left out of the transform.
    void careful(Pair& pair, Bounds& bounds) {
        const S* const given = pair.x;
        const auto spoils = [](S v) { return !std::isfinite(v); };
        const bool spoiled =
            !std::isfinite(pair.level.energy) && std::any_of(given, given + pair.outputs + taps_ - 1, spoils);
        if (spoiled) {
            S* const copy = pair.scratch + places_.finite;
            std::replace_copy_if(given, given + samples(), copy, spoils, S(0));
            pair.x = copy;
            look(pair, bounds);
        }
        in_double_ += narrow ? 2 : 0;
        const double least =
            error<double>(pair, transform(exact_, exact_.taps, pair.x, pair.y, pair.scratch)) / allowed_;
        if (!few(pair, bounds, least, blocks_.affordable64)) tighten(exact_, pair, bounds);
        repair(pair, bounds, least);
        if (spoiled) spoil(given, pair);
    }

    void look(Pair& pair, Bounds& bounds) const {
        pair.level = guard_.look(pair.x, pair.outputs, pair.scratch);
        bounds = {pair.scratch, guard_.group(), pair.level.least, Bounds::segments};
    }

    /// Sharper bounds, where there are any, in place of the guard's.
    void sharpen(const Pair& pair, Bounds& bounds) const {
        if (bounds.how != Bounds::segments || !sliding_.any()) return;
        S* const values = pair.scratch + places_.sliding;
        bounds = {values, sliding_.group(), sliding_.look(pair.x, pair.outputs, values), Bounds::sliding};
    }

    /// The largest rounding error of the pair's transforms in T, whose results have this size.
    template <class T>
    double error(const Pair& pair, const fft::Size<T>& size) const {
        const double peak = pair.level.peak, energy = pair.level.energy;
        return fft_error(std::numeric_limits<T>::epsilon() / 2, guard_.norm(), blocks_.length, peak,
                         std::isfinite(energy) ? energy : peak * peak * static_cast<double>(samples()),
                         size.peak, size.energy);
    }

    /// Bounds for each output on its own, by a transform of all magnitudes: exact but for its own errors.
    template <class T>
    void tighten(const Transforms<T>& in, const Pair& pair, Bounds& bounds) const {
        S *const x = pair.scratch + places_.magnitudes, *const size = pair.scratch + places_.sizes;
        magnitudes(pair.x, samples(), x);
        const double off = error<T>(pair, transform(in, in.magnitudes, x, size, pair.scratch));
        const S by = static_cast<S>(1 - 4 * unit), less = static_cast<S>(1.001 * off);
        S* const least = pair.scratch + places_.least;
        bounds = {least, together,
                  lowered<S>(size, pair.outputs, by, less, pair.scratch, guard_.group(), least),
                  Bounds::exact};
    }

    /// All parts of the taps. Their circular results add up: so do, at most, their sizes.
    template <class T>
    fft::Size<T> transform(const Transforms<T>& in, const std::vector<device::Buffer>& parts, const S* x,
                           S* y, S* scratch) const {
        fft::Size<T> all{0, 0};
        T* const z = reinterpret_cast<T*>(scratch + places_.transform);
        for (Index p = 0; p < static_cast<Index>(parts.size()); ++p) {
            const S* from = x + std::max<Index>(0, taps_ - (p + 1) * blocks_.part);
            S* const to = p == 0 ? y : scratch + places_.sums;
            const fft::Size<T> size =
                in.convolver.run(parts[p], from, from + keep_, to, to + keep_, keep_, z);
            all.peak += size.peak;
            all.energy += size.energy * static_cast<T>(parts.size());
            if (p > 0) std::transform(to, to + 2 * keep_, y, y, std::plus<>());
        }
        return all;
    }

    /// Neighbouring outputs of which one is not guaranteed what it needs.
    struct Failing {
        Index first, count;
        Span nonzero;    // of the samples of their windows: those before and after are zero
        Index samples;   // among them that are not zero, standing at nonzero_at(); -1 where they are many
        Index products;  // that summing them directly costs
    };

    /// Calls f(Failing) for the groups of outputs of which one is not guaranteed `least`, until it returns
    /// false.
    template <class F>
    void failing(const Pair& pair, const Bounds& bounds, double least, F&& f) const {
        Index next = 0;  // the first sample at or past the window that is not zero, as far as looked
        for (Index first = 0; first < pair.outputs; first += together) {
            const Index count = std::min(together, pair.outputs - first), end = first + count + taps_ - 1;
            Index b = first / bounds.group;
            while (b * bounds.group < first + count && bounds.values[b] >= least)
                ++b;
            if (b * bounds.group >= first + count) continue;
            next = std::max(next, first);
            if (next < end) next += nonzero_begin(pair.x + next, end - next);
            const Span nonzero{next - first, nonzero_end(pair.x + next, end - next)};
            if (!f(failing_of(pair, first, count, nonzero))) return;
        }
    }

    Failing failing_of(const Pair& pair, Index first, Index count, Span nonzero) const {
        constexpr Index looking = 16;  // costs as much as so many products an output
        if (nonzero.count == 0) return {first, count, nonzero, 0, 0};
        // Sums over samples here and there cost twice as much a product.
        const Index each = std::min(taps_, nonzero.count + count - 1);
        const Index most = std::min(sums_.sparse_at_most(), each / 2);
        std::int32_t* const at = nonzero_at(pair);
        const Index samples = nonzeros(pair.x + first + nonzero.first, nonzero.count, most, at);
        if (samples > most) return {first, count, nonzero, -1, (each + looking) * count};
        for (Index s = 0; s < samples; ++s)
            at[s] += static_cast<std::int32_t>(nonzero.first);
        return {first, count, nonzero, samples, (2 * samples + looking) * count};
    }

    /// Whether direct sums for the outputs that are not guaranteed `least` take no more products than this.
    bool few(const Pair& pair, const Bounds& bounds, double least, Index most) const {
        if (bounds.least >= least) return true;
        Index products = 0;
        failing(pair, bounds, least, [&](const Failing& f) {
            products += f.products;
            return products <= most;
        });
        return products <= most;
    }

    /// Sums outputs that are not guaranteed `least`.
    void repair(const Pair& pair, const Bounds& bounds, double least) {
        if (bounds.least >= least) return;
        bool summed = false;
        failing(pair, bounds, least, [&](const Failing& f) {
            if (f.samples >= 0)
                sums_.sparse(pair.x + f.first, nonzero_at(pair), f.samples, f.count, pair.y + f.first);
            else
                sums_.run(pair.x + f.first, f.nonzero, f.count, pair.y + f.first);
            summed = summed || f.products > 0;
            return true;
        });
        if (summed) direct_ += 2;
    }

    std::int32_t* nonzero_at(const Pair& pair) const {
        return reinterpret_cast<std::int32_t*>(pair.scratch + places_.nonzero);
    }

    /// Outputs whose window holds NaN or Inf.
    void spoil(const S* given, const Pair& pair) const {
        Index bad = -1, nan = -1;  // the last of each so far
        for (Index j = 0; j < pair.outputs + taps_ - 1; ++j) {
            if (!std::isfinite(given[j])) bad = j;
            if (std::isnan(given[j])) nan = j;
            const Index n = j - (taps_ - 1);
            if (n < 0 || n % decimate_ != 0) continue;
            if (nan >= n)
                pair.y[n] = std::numeric_limits<S>::quiet_NaN();
            else if (bad >= n)
                sums_.run(given + n, {0, taps_}, 1, pair.y + n);
        }
    }

    /// Samples that the transforms of a pair read.
    Index samples() const { return 2 * keep_ + std::max(taps_ - 1, blocks_.length - keep_); }

    /// Where things lie in the scratch: lower bounds first.
    struct Places {
        Places(Index bounds, Index sharper, Index values, Index inputs, Index outputs, Index sparse,
               bool decimated, bool in_parts) {
            const auto place = [this](Index size) {
                const Index at = end;
                end += (size + line - 1) / line * line;
                return at;
            };
            place(bounds);
            sliding = place(sharper);
            transform = place(values);
            copy = place(decimated ? inputs : 0);
            finite = place(inputs);
            magnitudes = place(inputs);
            nonzero = place(sparse);
            results = place(decimated ? outputs : 0);
            sizes = place(outputs);
            least = place(outputs / together + 1);
            sums = place(in_parts ? outputs : 0);
        }
        Index end = 0, sliding, transform, copy, finite, magnitudes, nonzero, results, sizes, least, sums;
    };

    Index taps_, decimate_, outputs_;
    FftBlocks blocks_;
    Index keep_;
    std::shared_ptr<const Prepared<S>> prepared_;
    const Guard<S>& guard_ = prepared_->guard;
    const SlidingBounds<S>& sliding_ = prepared_->sliding;
    const DirectSums& sums_ = prepared_->sums;
    const Transforms<double>& exact_ = prepared_->exact;
    const std::optional<Transforms<float>>& fast_ = prepared_->fast;
    Places places_{guard_.room(2 * keep_),
                   sliding_.any() ? sliding_.room(2 * keep_) : 0,
                   2 * blocks_.length* static_cast<Index>(sizeof(double) / sizeof(S)),
                   samples(),
                   2 * keep_,
                   sums_.sparse_at_most() + 1,
                   decimate_ > 1,
                   blocks_.part < taps_};
    double allowed_;
    std::atomic<Index> total_{0}, in_double_{0}, direct_{0};
};

std::string unsupported(const Problem& p, const device::Device&) {
    if (fft_blocks(p).length > 0) return {};
    return "it keeps less than one result of a transform when decimating by " + to_text(p.decimate);
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device&) {
    if (p.arithmetic == SampleType::float64)
        return make_cpu_stage(p, nullptr, std::make_unique<FftRows<double>>(p));
    return make_cpu_stage(p, std::make_unique<FftRows<float>>(p), nullptr);
}

std::optional<double> cost(const Problem& p, const device::Device&) {
    return cpu_cost::fft_seconds(p);
}

Index transform_length(const Problem& p, const device::Device&) {
    return fft_blocks(p).length;
}

}  // namespace

extern constinit const Strategy fft_cpu{"fft",
                                        device::Backend::cpu,
                                        "overlap-save by transforms in the lanes of the CPU: long filters",
                                        unsupported,
                                        make,
                                        cost,
                                        transform_length};

}  // namespace convoy::conv1d
