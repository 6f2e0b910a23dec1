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
#include <type_traits>

#include "core/base/quantity.hpp"
#include "core/conv1d/cpu_stage.hpp"
#include "core/conv1d/fft_blocks.hpp"
#include "core/conv1d/fft_guard.hpp"
#include "core/fft/pair.hpp"

namespace convoy::conv1d {

namespace {

constexpr Index group = 16;  // outputs that are repaired together

/// Rounding errors of a transform of length n in T, as above.
template <class T>
double error_bound(double taps_norm, Index n, double peak_x, double energy_x, double peak_y,
                   double energy_y) {
    const double u = std::numeric_limits<T>::epsilon() / 2, length = static_cast<double>(n),
                 stages = std::log2(length);
    return 3 * u *
           std::sqrt(taps_norm * taps_norm * (2 * stages * energy_x / length + 4 * peak_x * peak_x) +
                     4 * stages * energy_y / length + 2 * peak_y * peak_y);
}

/// The taps cut into parts that a block length can take, a convolver for each.
template <class T>
std::vector<fft::PairConvolver<T>> convolvers(const std::vector<double>& taps, const FftBlocks& blocks) {
    std::vector<fft::PairConvolver<T>> all;
    for (Index first = 0, m = static_cast<Index>(taps.size()); first < m; first += blocks.part) {
        const std::vector<double> part(&taps[first], &taps[first] + std::min(blocks.part, m - first));
        all.emplace_back(blocks.length,
                         fft::pair_spectrum(part, blocks.length, static_cast<Index>(part.size()) - 1));
    }
    return all;
}

/// S is the type of the samples; float32 samples have a second set of convolvers in double.
template <class S>
class FftRows : public RowKernel<S> {
  public:
    explicit FftRows(const Problem& p)
        : taps_(static_cast<Index>(p.taps.size())),
          decimate_(p.decimate),
          blocks_(fft_blocks(p)),
          keep_(blocks_.keep),
          guard_(p.taps),
          exact_(convolvers<double>(p.taps, blocks_)) {
        if constexpr (std::is_same_v<S, float>) fast_ = convolvers<float>(p.taps, blocks_);
        const double parts = static_cast<double>(exact_.size());  // of which each is rounded, and their sums
        allowed_ = unit * (4 * (2 + std::sqrt(static_cast<double>(taps_))) - 2 * parts + 1);
        const double largest = std::abs(*std::max_element(
            p.taps.begin(), p.taps.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
        within_float_ = largest > 1e-15 && largest < 1e15;
    }

    Index block() const override { return 2 * keep_ / decimate_; }
    Index tile() const override { return std::max<Index>(1, 32768 / (2 * keep_)) * block(); }
    Index scratch() const override { return scratch_.end + line; }

    Stage::Facts facts() const override {
        return {{"fft_length", static_cast<double>(blocks_.length)},
                {"blocks_total", static_cast<double>(total_)},
                {"blocks_float64", static_cast<double>(in_double_)},
                {"blocks_direct", static_cast<double>(direct_)}};
    }

    void run(const S* const* x, S* const* y, Index rows, Index, Index count, S* scratch) override {
        const auto address = reinterpret_cast<std::uintptr_t>(scratch);
        S* const base = scratch + (64 - address % 64) % 64 / sizeof(S);
        for (Index r = 0; r < rows; ++r)
            for (Index n = 0; n < count; n += block())
                pair(x[r] + n * decimate_, y[r] + n, base);
        total_ += 2 * rows * (count / block());
    }

  private:
    static constexpr double unit = std::numeric_limits<S>::epsilon() / 2;
    static constexpr Index line = 64 / sizeof(S);

    /// Both blocks of a pair: 2 keep results at the full rate from 2 keep + M - 1 samples.
    void pair(const S* x, S* y, S* scratch) {
        if (decimate_ > 1) {  // the last samples are not needed, and not there
            S* const copy = scratch + scratch_.copy;
            const Index there = 2 * keep_ - decimate_ + taps_;
            std::copy_n(x, there, copy);
            std::fill(copy + there, copy + samples(), S(0));
            x = copy;
        }
        S* const results = decimate_ > 1 ? scratch + scratch_.results : y;
        const Level<S> level = guard_.look(x, 2 * keep_, scratch);
        if (level.peak == 0 && level.energy == 0)
            std::fill_n(results, 2 * keep_, S(0));
        else if (!fast(x, results, level, scratch))
            careful(x, results, level, scratch);
        if (decimate_ > 1)
            for (Index n = 0; n < block(); ++n)
                y[n] = results[n * decimate_];
    }

    /// The pair in float; false where float cannot do it, or too few results would be good enough.
    bool fast([[maybe_unused]] const S* x, [[maybe_unused]] S* y, [[maybe_unused]] const Level<S>& level,
              [[maybe_unused]] S* scratch) {
        if constexpr (std::is_same_v<S, float>) {
            const bool within = level.peak > 1e-15F && std::isfinite(level.energy) && within_float_;
            if (!within) return false;
            const auto threshold = [&](const fft::Size<float>& y_size) {
                return error_bound<float>(guard_.norm(), blocks_.length, level.peak, level.energy,
                                          y_size.peak, y_size.energy) /
                       allowed_;
            };
            if (!few(x, scratch, level, threshold({0, 0}))) return false;
            const double least = threshold(convolve(fast_, x, y, scratch));
            if (!few(x, scratch, level, least)) return false;
            if (level.least < least) repair(x, y, scratch, least);
            return true;
        }
        return false;
    }

    /// The pair in double, with what is not finite left out of the transform.
    void careful(const S* x, S* y, Level<S> level, S* scratch) {
        const S* finite = x;
        const bool spoiled = !std::isfinite(level.energy) &&
                             std::any_of(x, x + 2 * keep_ + taps_ - 1, [](S v) { return !std::isfinite(v); });
        if (spoiled) {
            S* const copy = scratch + scratch_.finite;
            std::transform(x, x + samples(), copy, [](S v) { return std::isfinite(v) ? v : S(0); });
            level = guard_.look(copy, 2 * keep_, scratch);
            finite = copy;
        }
        const fft::Size<double> size = convolve(exact_, finite, y, scratch);
        const double peak = level.peak;
        const double energy = std::isfinite(level.energy) ? static_cast<double>(level.energy)
                                                          : peak * peak * static_cast<double>(samples());
        const double least =
            error_bound<double>(guard_.norm(), blocks_.length, peak, energy, size.peak, size.energy) /
            allowed_;
        in_double_ += 2;
        if (!(level.least >= least)) repair(finite, y, scratch, least);
        if (spoiled) spoil(x, y);
    }

    /// All parts of the taps. Their circular results add up: so do, at most, their sizes.
    template <class T>
    fft::Size<T> convolve(const std::vector<fft::PairConvolver<T>>& parts, const S* x, S* y,
                          S* scratch) const {
        fft::Size<T> all{0, 0};
        T* const z = reinterpret_cast<T*>(scratch + scratch_.transform);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const S* from = x + std::max<Index>(0, taps_ - (static_cast<Index>(p) + 1) * blocks_.part);
            S* const to = p == 0 ? y : scratch + scratch_.sums;
            const fft::Size<T> size = parts[p].run(from, from + keep_, to, to + keep_, keep_, z);
            all.peak += size.peak;
            all.energy += size.energy * static_cast<T>(parts.size());
            if (p > 0) std::transform(to, to + 2 * keep_, y, y, std::plus<>());
        }
        return all;
    }

    /// Calls f(first, count, silent) for each group of outputs of which one is not guaranteed `least`.
    template <class F>
    void failing(const S* x, const S* bounds, double least, F&& f) const {
        Index next = 0;  // first sample at or past the window that is not zero, as far as looked
        for (Index first = 0; first < 2 * keep_; first += group) {
            const Index count = std::min(group, 2 * keep_ - first), end = first + count + taps_ - 1;
            if (std::all_of(bounds + first, bounds + first + count, [&](S b) { return b >= least; }))
                continue;
            next = std::max(next, first);
            while (next < end && x[next] == 0)
                ++next;
            f(first, count, next == end);
        }
    }

    /// Whether direct sums for the outputs that are not guaranteed `least` cost less than a transform in
    /// double.
    bool few(const S* x, const S* bounds, const Level<S>& level, double least) const {
        if (level.least >= least) return true;
        Index outputs = 0;
        failing(x, bounds, least, [&](Index, Index count, bool silent) { outputs += silent ? 0 : count; });
        return outputs * taps_ <= blocks_.affordable;
    }

    void repair(const S* x, S* y, const S* bounds, double least) {
        bool summed = false;
        failing(x, bounds, least, [&](Index first, Index count, bool silent) {
            if (silent)
                std::fill_n(y + first, count, S(0));
            else
                guard_.direct(x + first, count, y + first);
            summed = summed || !silent;
        });
        if (summed) direct_ += 2;
    }

    /// Outputs whose window holds NaN or Inf.
    void spoil(const S* x, S* y) const {
        Index bad = -1, nan = -1;  // the last of each in the window
        for (Index j = 0; j < 2 * keep_ + taps_ - 1; ++j) {
            if (!std::isfinite(x[j])) bad = j;
            if (std::isnan(x[j])) nan = j;
            const Index n = j - (taps_ - 1);
            if (n < 0 || n % decimate_ != 0) continue;
            if (nan >= n)
                y[n] = std::numeric_limits<S>::quiet_NaN();
            else if (bad >= n)
                guard_.direct(x + n, 1, y + n);
        }
    }

    Index samples() const { return 2 * keep_ + std::max(taps_ - 1, blocks_.length - keep_); }

    /// Where things lie in the scratch: lower bounds first.
    struct Places {
        Places(Index sample_count, Index result_count, Index values) {
            const auto place = [this](Index size) {
                const Index at = end;
                end += (size + line - 1) / line * line;
                return at;
            };
            place(sample_count + Guard<S>::slack);
            transform = place(values);
            copy = place(sample_count);
            finite = place(sample_count);
            results = place(result_count);
            sums = place(result_count);
        }
        Index end = 0, transform, copy, finite, results, sums;
    };

    Index taps_, decimate_;
    FftBlocks blocks_;
    Index keep_;
    Guard<S> guard_;
    std::vector<fft::PairConvolver<double>> exact_;
    std::vector<fft::PairConvolver<float>> fast_;
    Places scratch_{samples(), 2 * keep_, 2 * blocks_.length* static_cast<Index>(sizeof(double) / sizeof(S))};
    double allowed_;
    bool within_float_;
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
    return fft_blocks(p).seconds;  // infinite where no block length will do
}

}  // namespace

extern constinit const Strategy fft_cpu{"fft",
                                        device::Backend::cpu,
                                        "overlap-save by transforms in the lanes of the CPU: long filters",
                                        unsupported,
                                        make,
                                        cost};

}  // namespace convoy::conv1d
