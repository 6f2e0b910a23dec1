#include "core/spectrum/long_average.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/device/copy.hpp"
#include "core/spectrum/frames_cpu.hpp"
#include "core/spectrum/stage.hpp"

namespace convoy::spectrum {

namespace {

constexpr Index window_bytes = 16 << 20;  // more samples of one column than that are long
constexpr Index value_bytes = 8 << 20;    // of the transforms that are summed at a time

// The same without averages and decibels: what is averaged.
Problem each_frame(Problem p) {
    p.average.reset();
    p.decibels.reset();
    return p;
}

template <class T>
class LongAverage : public SpectrogramStage {
  public:
    LongAverage(const Problem& p, const device::Device& device)
        : SpectrogramStage(p),
          device_(device),
          frames_(plan(each_frame(p), device::cpu())),
          max_(p.average->kind == Average::Kind::max),
          sums_(static_cast<std::size_t>(p.channels() * p.bins() * p.outputs()),
                max_ ? -std::numeric_limits<double>::infinity() : 0.0) {}

    bool learns() const override { return true; }
    bool single_pass() const override { return true; }
    // The samples have all been seen; one frame each keeps the stream's windows small.
    Span needed(Span out) const override {
        const Index first = problem().start(out.first * problem().average->frames);
        return {std::clamp<Index>(first, 0, problem().shape.frames - 1), 1};
    }
    Index needed_at_most(Index) const override { return 1; }

    void learn(const Window& in, Span part, Lanes lanes) override {
        if (!(lanes == lanes_) || part.first == 0) begin(lanes, in.inner);
        append(in, part);
        const Index end = held_.end(), all = problem().transforms();
        Index upto = all;
        if (end < problem().shape.frames) {
            const Index places = end - problem().window_length() - problem().start(0);
            upto = places < 0 ? 0 : std::min(all, places / problem().hop + 1);
        }
        while (next_ < upto)
            add(std::min(upto - next_, most_at_once()));
        forget();
        learnt_ = false;
    }

    void run(const Window&, const Window& out, Lanes lanes, device::Stream& stream) override {
        if (!learnt_) conclude();
        learnt_ = true;
        const Lanes rows = rows_of(lanes);
        const auto bytes = static_cast<std::size_t>(out.span.count) * sizeof(T);
        for (Index r = 0; r < rows.outer_count; ++r) {
            const std::size_t from =
                static_cast<std::size_t>((rows.outer_first + r) * problem().outputs() + out.span.first) *
                sizeof(T);
            std::byte* const to = reinterpret_cast<std::byte*>(out.at<T>(r, out.span.first));
            if (device_.backend == device::Backend::cpu)
                std::memcpy(to, reinterpret_cast<const std::byte*>(results_.data()) + from, bytes);
            else
                device::copy_bytes(device_, there_.data() + from, to, bytes, std::byte{0}, stream);
        }
    }

  private:
    Index channels_here() const { return lanes_.count() / input_parts(); }
    Index first_channel() const {
        return lanes_.outer_first * (problem().shape.inner / input_parts()) +
               lanes_.inner_first / input_parts();
    }
    // Whole blocks of the transforms' SIMD lanes.
    Index most_at_once() const {
        return std::max<Index>(
            64, value_bytes / Index{sizeof(T)} / (channels_here() * problem().bins()) / 64 * 64);
    }

    // A NaN stays.
    static double larger(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

    void begin(Lanes lanes, Index inner) {
        lanes_ = lanes;
        inner_ = inner;
        held_ = {0, 0};
        next_ = 0;
        samples_.clear();
    }

    // Samples [outer][frame][inner] that transforms to come still use, those of `part` behind them.
    void append(const Window& in, Span part) {
        const Index frame = inner_ * bytes_of(in.type), kept = held_.count, pitch = kept + part.count;
        std::vector<std::byte> samples(static_cast<std::size_t>(in.outer * pitch * frame));
        for (Index o = 0; o < in.outer; ++o) {
            std::byte* const to = samples.data() + o * pitch * frame;
            if (kept > 0)
                std::memcpy(to, samples_.data() + o * kept * frame, static_cast<std::size_t>(kept * frame));
            std::memcpy(to + kept * frame,
                        in.data + o * in.row_bytes() + (part.first - in.span.first) * frame,
                        static_cast<std::size_t>(part.count * frame));
        }
        samples_ = std::move(samples);
        if (kept == 0) held_.first = part.first;
        held_.count = pitch;
    }

    Window held() { return {samples_.data(), problem().in, held_, lanes_.outer_count, inner_, held_.count}; }

    // Transforms next_ and the following ones.
    void add(Index count) {
        const Problem& p = problem();
        const Index rows = channels_here() * p.bins();
        values_.resize(static_cast<std::size_t>(rows * count));
        const Window to{
            reinterpret_cast<std::byte*>(values_.data()), p.arithmetic, {next_, count}, rows, 1, count};
        device::Stream stream;
        frames_->run(held(), to, lanes_, stream);
        const Index first_row = first_channel() * p.bins(), each = p.average->frames;
        tbb::parallel_for(Index{0}, rows, [&](Index r) {
            const T* const row = values_.data() + r * count;
            for (Index i = 0; i < count;) {
                const Index column = (next_ + i) / each, end = std::min(count, (column + 1) * each - next_);
                double& sum = sums_[static_cast<std::size_t>((first_row + r) * p.outputs() + column)];
                for (; i < end; ++i)
                    sum = max_ ? larger(sum, static_cast<double>(row[i])) : sum + static_cast<double>(row[i]);
            }
        });
        next_ += count;
    }

    // Leaves what the next transform needs; padding at the far end folds back no farther than a window.
    void forget() {
        const Problem& p = problem();
        const Index used = std::clamp(p.start(next_) - p.nfft, held_.first, held_.end());
        const Index kept = held_.end() - used, frame = inner_ * bytes_of(p.in);
        std::vector<std::byte> samples(static_cast<std::size_t>(lanes_.outer_count * kept * frame));
        for (Index o = 0; o < lanes_.outer_count && kept > 0; ++o)
            std::memcpy(samples.data() + o * kept * frame,
                        samples_.data() + (o * held_.count + used - held_.first) * frame,
                        static_cast<std::size_t>(kept * frame));
        samples_ = std::move(samples);
        held_ = {used, kept};
    }

    void conclude() {
        const Problem& p = problem();
        results_.resize(sums_.size());
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            const Index column = static_cast<Index>(i) % p.outputs();
            const Index count = p.transforms_of({column, 1}).count;
            results_[i] = static_cast<T>(max_ ? sums_[i] : sums_[i] / static_cast<double>(count));
        }
        if (p.decibels) to_decibels(results_.data(), static_cast<Index>(results_.size()), p.logarithm());
        if (device_.backend == device::Backend::cpu) return;
        there_ = device::Buffer(device_, results_.size() * sizeof(T));
        device::upload(there_, results_.data(), there_.size());
    }

    device::Device device_;
    std::unique_ptr<Stage> frames_;  // one column a transform
    bool max_, learnt_ = false;
    std::vector<double> sums_;  // [channel][bin][column]
    std::vector<T> results_, values_;
    device::Buffer there_;  // the results, on a GPU
    Lanes lanes_{0, 0, 0, 0};
    Index inner_ = 1, next_ = 0;  // next_: the transform to be summed next
    Span held_;
    std::vector<std::byte> samples_;
};

}  // namespace

bool is_long_average(const Problem& p) {
    if (!p.average || p.average->kind == Average::Kind::percentile) return false;
    const double samples = std::min(static_cast<double>(p.shape.frames),
                                    static_cast<double>(p.average->frames) * static_cast<double>(p.hop));
    return samples * static_cast<double>(p.shape.lanes() * bytes_of(p.in)) >
           static_cast<double>(window_bytes);
}

std::unique_ptr<Stage> plan_long_average(const Problem& p, const device::Device& device) {
    if (p.arithmetic == SampleType::float64) return std::make_unique<LongAverage<double>>(p, device);
    return std::make_unique<LongAverage<float>>(p, device);
}

}  // namespace convoy::spectrum
