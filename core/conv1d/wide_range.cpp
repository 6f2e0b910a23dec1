#include "core/conv1d/wide_range.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/conv1d/extremes_cpu.hpp"

namespace convoy::conv1d {

namespace {

constexpr float range = wide_range;
constexpr Index stretch = wide_stretch;
static_assert(stretch / 2 == 4);  // what lowest_peak_of_four() looks at
constexpr float none = std::numeric_limits<float>::infinity();

// out[i] = the best of in[i .. i + width - 1] for i <= n - width, by the method of van Herk: three looks a
// sample.
template <class Better>
void slide(const float* in, Index n, Index width, float worst, Better better, float* out, float* prefix) {
    for (Index i = 0; i < n; ++i)
        prefix[i] = i % width == 0 ? in[i] : better(prefix[i - 1], in[i]);
    float suffix = worst;
    for (Index i = n - 1; i >= 0; --i) {
        suffix = i % width == width - 1 ? in[i] : better(in[i], suffix);
        if (i + width <= n) out[i] = better(suffix, prefix[i + width - 1]);
    }
}

class WideRange : public RowKernel<float> {
  public:
    WideRange(std::unique_ptr<RowKernel<float>> kernel, const Problem& p)
        : kernel_(std::move(kernel)), taps_(p.taps.rbegin(), p.taps.rend()), decimate_(p.decimate) {}

    Index tile() const override { return kernel_->tile(); }
    Index tile_rows() const override { return kernel_->tile_rows(); }
    Index slack() const override { return kernel_->slack(); }
    Index scratch() const override { return std::max(kernel_->scratch(), 4 * samples(tile())); }

    void run(const float* const* x, float* const* y, Index rows, Index first, Index count,
             float* scratch) override {
        kernel_->run(x, y, rows, first, count, scratch);
        for (Index r = 0; r < rows; ++r) {
            const Extremes e = extremes(x[r], samples(count));
            // A lone faint sample is common where samples are not whole numbers; a faint stretch is not: it
            // holds half a stretch that is as faint.
            if (e.most > range * e.least && e.most > range * lowest_peak_of_four(x[r], samples(count)))
                replace(x[r], y[r], count, scratch);
        }
    }

    Stage::Facts facts() const override {
        Stage::Facts all = kernel_->facts();
        all.emplace_back("outputs_float64", static_cast<double>(replaced_.load()));
        return all;
    }

  private:
    Index length() const { return static_cast<Index>(taps_.size()); }
    Index samples(Index count) const { return (count - 1) * decimate_ + length(); }

    void replace(const float* x, float* y, Index count, float* scratch) {
        const Index n = samples(count), m = length();
        float *level = scratch, *loudest = level + n, *faintest = loudest + n, *prefix = faintest + n;
        const auto louder = [](float a, float b) { return a > b ? a : b; };
        const auto fainter = [](float a, float b) { return a < b ? a : b; };
        for (Index i = 0; i < n; ++i)
            prefix[i] = std::isnan(x[i]) ? 0 : std::abs(x[i]);
        std::copy_n(prefix, n, loudest);
        slide(loudest, n, stretch, 0, louder, level, prefix);
        for (Index i = 0; i < n; ++i)
            faintest[i] = std::isnan(x[i]) ? 0 : std::abs(x[i]);
        slide(faintest, n, m, 0, louder, loudest, prefix);
        const Index levels = n - stretch + 1;
        for (Index i = 0; i < levels; ++i)
            if (level[i] == 0) level[i] = none;
        slide(level, levels, m - stretch + 1, none, fainter, faintest, prefix);
        Index replaced = 0;
        for (Index i = 0; i < count; ++i) {
            const Index at = i * decimate_;
            if (!(loudest[at] > range * faintest[at])) continue;
            y[i] = static_cast<float>(sum(x + at));
            ++replaced;
        }
        replaced_ += replaced;
    }

    double sum(const float* x) const {
        constexpr Index at_once = 8;
        double sums[at_once] = {}, total = 0;
        Index k = 0;
        for (; k + at_once <= length(); k += at_once)
            for (Index j = 0; j < at_once; ++j)
                sums[j] += taps_[static_cast<std::size_t>(k + j)] * static_cast<double>(x[k + j]);
        for (; k < length(); ++k)
            total += taps_[static_cast<std::size_t>(k)] * static_cast<double>(x[k]);
        for (const double s : sums)
            total += s;
        return total;
    }

    std::unique_ptr<RowKernel<float>> kernel_;
    std::vector<double> taps_;  // turned: taps_[k] goes with sample k of the window
    Index decimate_;
    std::atomic<Index> replaced_{0};
};

}  // namespace

bool may_be_wide(const Problem& problem) {
    return problem.arithmetic == SampleType::float32 &&
           static_cast<Index>(problem.taps.size()) >= 2 * stretch &&
           (problem.in != SampleType::int16 || !problem.scaling.offset.empty());
}

std::unique_ptr<RowKernel<float>> with_wide_range(std::unique_ptr<RowKernel<float>> kernel,
                                                  const Problem& problem) {
    if (!may_be_wide(problem)) return kernel;
    return std::make_unique<WideRange>(std::move(kernel), problem);
}

}  // namespace convoy::conv1d
