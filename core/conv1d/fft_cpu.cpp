// Overlap-save: pairs of neighbouring blocks through one transform (core/fft/pair.hpp), every output as good
// as a direct sum.
//
// A pair of blocks is judged by its own samples only, so that the answer does not depend on how the signal is
// cut. Outputs whose guaranteed S_i (fft_guard.hpp) makes the errors that transforms may make (fft_error in
// fft_blocks.hpp) less than 4 u (2 + sqrt(M)) S_i stand. The few others are summed directly; where they are
// many, the pair goes through a transform in double.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>

#include "core/base/quantity.hpp"
#include "core/conv1d/cpu_cost.hpp"
#include "core/conv1d/cpu_stage.hpp"
#include "core/conv1d/fft_scratch.hpp"

namespace convoy::conv1d {

namespace {

/// S is the type of the samples.
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
    Index scratch() const override { return places_.end + FftScratch<S>::line; }

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
    static constexpr bool narrow = std::is_same_v<S, float>;

    /// Two neighbouring blocks of a row.
    struct Pair {
        S* scratch;
        Index outputs;  // results at the full rate that are wanted, at most 2 keep
        const S* x;     // outputs + M - 1 samples, and as many more as the transforms read
        S* y;           // room for 2 keep results, or for those of them that are transformed back
        Level<S> level;
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
        Bounds<S> bounds;
        look(pair, bounds);
        if (pair.level.peak == 0 && pair.level.energy == 0)
            std::fill_n(pair.y, 2 * keep_ / blocks_.every, S(0));
        else if (!fast(pair, bounds))
            careful(pair, bounds);
        if (decimate_ > 1)
            for (Index n = 0; n < block(); ++n)
                y[n] = pair.y[n * (decimate_ / blocks_.every)];
    }

    /// The pair in float; false where float cannot do it, or for too few of the results.
    bool fast([[maybe_unused]] const Pair& pair, [[maybe_unused]] Bounds<S>& bounds) {
        if constexpr (narrow) {
            if (!fast_ || !(pair.level.peak > 1e-15F) || !std::isfinite(pair.level.energy)) return false;
            const auto least = [&](const fft::Size<float>& size) { return error(pair, size) / allowed_; };
            if (!promising(pair, bounds, least({0, 0}))) return false;  // the samples alone forbid it
            const double needed = least(transform(*fast_, pair));
            if (!promising(pair, bounds, needed)) return false;
            mend(pair, bounds, needed);
            return true;
        }
        return false;
    }

    /// Whether direct sums for all results that are not guaranteed `least` cost less than transforms in
    /// double. Bounds are made sharper only where that may help: no output sums up more than so many times
    /// its bound, or too few do to matter. (Bounds that do not even do for noise tell nothing about that.)
    bool promising(const Pair& pair, Bounds<S>& bounds, double least) const {
        if (few(pair, bounds, least, blocks_.affordable32)) return true;
        if (bounds.how == Bounds<S>::exact) return few(pair, bounds, least, blocks_.affordable64);
        const bool telling = prepared_->first != Bounds<S>::exact;
        const double more = bounds.how == Bounds<S>::segments ? 16 : 4;
        if (telling && !few(pair, bounds, least / more, blocks_.affordable64)) return false;
        if (telling && bounds.how == Bounds<S>::segments && sliding_.any())
            bounds = slide(pair).second;
        else
            tighten(*fast_, pair, bounds);
        return promising(pair, bounds, least);
    }

    /// The pair in double, with what is not finite left out of the transform.
    void careful(Pair& pair, Bounds<S>& bounds) {
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
        const double least = error(pair, transform(exact_, pair)) / allowed_;
        if (!few(pair, bounds, least, blocks_.affordable64)) {
            // Beside silence the guard's bounds reach farther than sharper ones.
            if (bounds.how != Bounds<S>::segments) bounds = segments(pair).second;
            if (!few(pair, bounds, least, blocks_.affordable64)) tighten(exact_, pair, bounds);
        }
        mend(pair, bounds, least);
        if (spoiled) prepared_->repair.spoil(given, pair.outputs, decimate_, blocks_.every, pair.y);
    }

    /// The first look at a pair: by the cheapest bounds that do for noise.
    void look(Pair& pair, Bounds<S>& bounds) const {
        std::tie(pair.level, bounds) = prepared_->first == Bounds<S>::sliding ? slide(pair) : segments(pair);
    }

    std::pair<Level<S>, Bounds<S>> segments(const Pair& pair) const {
        const Level<S> level = guard_.look(pair.x, pair.outputs, pair.scratch);
        return {level, {pair.scratch, guard_.group(), level.least, Bounds<S>::segments}};
    }

    std::pair<Level<S>, Bounds<S>> slide(const Pair& pair) const {
        S* const values = pair.scratch + places_.sliding;
        const Level<S> level = sliding_.look(pair.x, pair.outputs, values);
        return {level, {values, sliding_.group(), level.least, Bounds<S>::sliding}};
    }

    /// The largest rounding error of the pair's transforms in T, whose results have this size.
    template <class T>
    double error(const Pair& pair, TapsSize taps, const fft::Size<T>& size) const {
        const double peak = pair.level.peak, energy = pair.level.energy;
        return fft_error(std::numeric_limits<T>::epsilon() / 2, taps, blocks_.length, peak,
                         std::isfinite(energy) ? energy : peak * peak * static_cast<double>(samples()),
                         size.peak, size.energy);
    }
    template <class T>
    double error(const Pair& pair, const fft::Size<T>& size) const {
        return error(pair, prepared_->size, size);
    }

    /// Bounds for each output on its own, by a transform of all magnitudes: exact but for its own errors.
    template <class T>
    void tighten(const Transforms<T>& in, const Pair& pair, Bounds<S>& bounds) const {
        S *const x = pair.scratch + places_.magnitudes, *const size = pair.scratch + places_.sizes;
        magnitudes(pair.x, samples(), x);
        const double off =
            error(pair, prepared_->magnitudes_size, transform(in, in.magnitudes, x, size, 1, pair.scratch));
        const S by = static_cast<S>(1 - 4 * unit), less = static_cast<S>(1.001 * off);
        S* const least = pair.scratch + places_.least;
        bounds = {least, together,
                  lowered<S>(size, pair.outputs, by, less, bounds.values, bounds.group, least),
                  Bounds<S>::exact};
    }

    template <class T>
    fft::Size<T> transform(const Transforms<T>& in, const Pair& pair) const {
        return transform(in, in.taps, pair.x, pair.y, blocks_.every, pair.scratch);
    }
    template <class T>
    fft::Size<T> transform(const Transforms<T>& in, const typename Transforms<T>::Parts& parts, const S* x,
                           S* y, Index every, S* scratch) const {
        return in.run(parts, x, y, every, scratch + places_.sums,
                      reinterpret_cast<T*>(scratch + places_.transform));
    }

    typename Repair<S>::Outputs outputs_of(const Pair& pair) const {
        return {pair.x, pair.outputs, reinterpret_cast<std::int32_t*>(pair.scratch + places_.nonzero)};
    }
    bool few(const Pair& pair, const Bounds<S>& bounds, double least, Index products) const {
        return prepared_->repair.products(outputs_of(pair), bounds, least, products) <= products;
    }
    void mend(const Pair& pair, const Bounds<S>& bounds, double least) {
        if (prepared_->repair.mend(outputs_of(pair), bounds, least, blocks_.every, pair.y)) direct_ += 2;
    }

    /// Samples that the transforms of a pair read.
    Index samples() const { return 2 * keep_ + std::max(taps_ - 1, blocks_.length - keep_); }

    Index taps_, decimate_, outputs_;
    FftBlocks blocks_;
    Index keep_;
    std::shared_ptr<const Prepared<S>> prepared_;
    const Guard<S>& guard_ = prepared_->guard;
    const SlidingBounds<S>& sliding_ = prepared_->sliding;
    const Transforms<double>& exact_ = prepared_->exact;
    const std::optional<Transforms<float>>& fast_ = prepared_->fast;
    FftScratch<S> places_{*prepared_, blocks_, samples(), decimate_ > 1, blocks_.part < taps_};
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
