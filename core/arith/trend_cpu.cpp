// Detrending and normalizing: y = (x - (a + b n)) * s with a, b and s learnt from the whole signal.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

#include "core/arith/arith.hpp"
#include "core/arith/samples.hpp"

namespace convoy::arith {

namespace {

// Sums over one lane's finite samples; each frame's term is added in order, in blocks that frames alone
// decide.
struct Sums {
    double count = 0, x = 0, n = 0, nn = 0, nx = 0, xx = 0, peak = 0;
};

// How outputs follow from inputs, of one lane.
struct Line {
    double offset = 0, slope = 0, factor = 1;
};

// A stage that subtracts a line from each lane and scales what is left, both known after learn().
class LearningStage : public Stage {
  public:
    explicit LearningStage(const Input& input)
        : input_(input),
          centre_(0.5 * static_cast<double>(input.shape.frames - 1)),
          sums_(static_cast<std::size_t>(input.shape.lanes())),
          lines_(sums_.size()) {}

    Shape shape() const override { return input_.shape; }
    SampleType type() const override { return input_.arithmetic; }
    Span needed(Span out) const override { return out; }
    Index needed_at_most(Index count) const override { return count; }
    bool learns() const override { return true; }

    void learn(const Window& in, Span part, Lanes lanes) override {
        dispatch(in.type, [&](auto zero) {
            using T = decltype(zero);
            tbb::parallel_for(Index{0}, in.outer * in.inner, [&](Index lane) {
                const Index o = lane / in.inner, i = lane % in.inner;
                const LaneScale scale = scale_of(input_, lanes, o, i);
                const T* x = in.at<T>(o, part.first) + i;
                learn_lane(sums_[lane_of(input_, lanes, o, i)], part, [&](Index k) {
                    return static_cast<double>(x[k * in.inner]) * scale.gain + scale.offset;
                });
            });
        });
        learnt_ = false;
    }

    void run(const Window& in, const Window& out, Lanes lanes, device::Stream&) override {
        if (!learnt_) conclude(sums_, lines_);
        learnt_ = true;
        dispatch_both(in, out, [&](auto stored, auto result) {
            apply<decltype(stored), decltype(result)>(in, out, lanes);
        });
    }

  protected:
    virtual void conclude(const std::vector<Sums>& sums, std::vector<Line>& lines) const = 0;
    const Input& input() const { return input_; }

  private:
    template <class Value>
    void learn_lane(Sums& s, Span part, const Value& value) const {
        for (Index k = 0; k < part.count; ++k) {
            const double x = value(k);
            if (!std::isfinite(x)) continue;
            const double n = static_cast<double>(part.first + k) - centre_;
            s.count += 1, s.x += x, s.n += n, s.nn += n * n, s.nx += n * x, s.xx += x * x;
            s.peak = std::max(s.peak, std::abs(x));
        }
    }

    template <class T, class U>
    void apply(const Window& in, const Window& out, const Lanes& lanes) const {
        for_blocks(out, [&](Index o, Span frames) {
            for (Index i = 0; i < in.inner; ++i) {
                const LaneScale scale = scale_of(input_, lanes, o, i);
                const Line& line = lines_[lane_of(input_, lanes, o, i)];
                const T* x = in.at<T>(o, frames.first) + i;
                U* y = out.at<U>(o, frames.first) + i;
                for (Index k = 0; k < frames.count; ++k) {
                    const double value = static_cast<double>(x[k * in.inner]) * scale.gain + scale.offset;
                    const double n = static_cast<double>(frames.first + k) - centre_;
                    y[k * out.inner] = static_cast<U>((value - (line.offset + line.slope * n)) * line.factor);
                }
            }
        });
    }

    Input input_;
    double centre_;  // frames are counted from here, so that sums of their squares stay exact enough
    std::vector<Sums> sums_;
    std::vector<Line> lines_;
    bool learnt_ = false;
};

class Detrend : public LearningStage {
  public:
    Detrend(const Input& input, Trend trend) : LearningStage(input), trend_(trend) {}

  private:
    // Least squares over the finite samples.
    void conclude(const std::vector<Sums>& sums, std::vector<Line>& lines) const override {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const Sums& s = sums[i];
            if (s.count == 0) continue;
            const double mean = s.x / s.count, centre = s.n / s.count, spread = s.nn - s.n * centre;
            if (trend_ == Trend::linear && s.count > 1 && spread > 0)
                lines[i].slope = (s.nx - centre * s.x) / spread;
            lines[i].offset = mean - lines[i].slope * centre;
        }
    }
    Trend trend_;
};

class Normalize : public LearningStage {
  public:
    Normalize(const Input& input, Norm norm, double target, bool together)
        : LearningStage(input), norm_(norm), target_(target), together_(together) {}

  private:
    double level(const Sums& s) const {
        if (norm_ == Norm::peak) return s.peak;
        return s.count > 0 ? std::sqrt(s.xx / s.count * static_cast<double>(input().parts())) : 0;
    }
    // Real and imaginary part share their factor, and so do all channels where they are taken together.
    void conclude(const std::vector<Sums>& sums, std::vector<Line>& lines) const override {
        const std::size_t group = together_ ? sums.size() : static_cast<std::size_t>(input().parts());
        for (std::size_t at = 0; at < sums.size(); at += group) {
            Sums all;
            for (std::size_t i = at; i < at + group; ++i) {
                all.count += sums[i].count, all.xx += sums[i].xx;
                all.peak = std::max(all.peak, sums[i].peak);
            }
            const double now = level(all);
            for (std::size_t i = at; i < at + group; ++i)
                lines[i].factor = now > 0 ? target_ / now : 1;
        }
    }
    Norm norm_;
    double target_;
    bool together_;
};

}  // namespace

std::unique_ptr<Stage> detrend(const Input& input, Trend trend) {
    return std::make_unique<Detrend>(input, trend);
}

std::unique_ptr<Stage> normalize(const Input& input, Norm norm, double target, bool together) {
    return std::make_unique<Normalize>(input, norm, target, together);
}

}  // namespace convoy::arith
