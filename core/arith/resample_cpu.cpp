// Rational resampling by a polyphase filter: only the products that are not with inserted zeros are computed.
#include <algorithm>

#include "core/arith/arith.hpp"
#include "core/arith/samples.hpp"

namespace convoy::arith {

namespace {

class Resample : public Stage {
  public:
    Resample(const Input& input, Index up, Index down, const std::vector<double>& taps, Padding padding)
        : input_(input),
          shape_(input.shape),
          up_(up),
          down_(down),
          taps_(static_cast<Index>(taps.size())),
          half_((static_cast<Index>(taps.size()) - 1) / 2),
          length_((static_cast<Index>(taps.size()) + up - 1) / up),
          padding_(padding),
          phases_(static_cast<std::size_t>(up * length_), 0.0) {
        shape_.frames = (input.shape.frames * up + down - 1) / down;
        for (std::size_t k = 0; k < taps.size();
             ++k) {  // rows of a phase, in the order of rising input frames
            const Index phase = static_cast<Index>(k) % up, j = static_cast<Index>(k) / up;
            phases_[static_cast<std::size_t>(phase * length_ + length_ - 1 - j)] = taps[k];
        }
    }

    Shape shape() const override { return shape_; }
    SampleType type() const override { return input_.arithmetic; }
    Span needed(Span out) const override {
        if (out.count == 0) return {0, 0};
        return folded(newest(out.first) - length_ + 1, newest(out.end() - 1) + 1, input_.shape.frames,
                      padding_);
    }
    Index needed_at_most(Index count) const override {
        return std::min(input_.shape.frames, (count - 1) * down_ / up_ + 1 + length_);
    }

    void run(const Window& in, const Window& out, Lanes lanes, device::Stream&) override {
        dispatch_both(in, out, [&](auto stored, auto result) {
            apply<decltype(stored), decltype(result)>(in, out, lanes);
        });
    }

  private:
    // The last input frame that an output uses.
    Index newest(Index output) const { return (output * down_ + half_) / up_; }

    template <class T, class U>
    void apply(const Window& in, const Window& out, const Lanes& lanes) const {
        for_blocks(out, [&](Index o, Span frames) {
            for (Index m = frames.first; m < frames.end(); ++m) {
                const Index phase = (m * down_ + half_) % up_,
                            unused = phase + (length_ - 1) * up_ < taps_ ? 0 : 1;
                const Index last = newest(m), count = length_ - unused, first = last - count + 1;
                const double* taps = phases_.data() + phase * length_ + unused;
                U* y = out.at<U>(o, m);
                const bool inside = first >= 0 && last < input_.shape.frames;
                for (Index i = 0; i < out.inner; ++i) {
                    const LaneScale s = scale_of(input_, lanes, o, i);
                    if (inside)
                        y[i] = static_cast<U>(sum(in.at<T>(o, first) + i, in.inner, taps, count, s));
                    else
                        y[i] = static_cast<U>(sum_at_edge<T>(in, o, i, first, taps, count, s));
                }
            }
        });
    }

    // In four partial sums, always the same ones.
    template <class T>
    static double sum(const T* x, Index stride, const double* taps, Index count, const LaneScale& s) {
        double sums[4] = {0, 0, 0, 0};
        const auto value = [&](Index j) { return static_cast<double>(x[j * stride]) * s.gain + s.offset; };
        Index j = 0;
        for (; j + 4 <= count; j += 4)
            for (Index q = 0; q < 4; ++q)
                sums[q] += taps[j + q] * value(j + q);
        for (; j < count; ++j)
            sums[j % 4] += taps[j] * value(j);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    template <class T>
    double sum_at_edge(const Window& in, Index o, Index i, Index first, const double* taps, Index count,
                       const LaneScale& s) const {
        const auto value = [&](Index f) {
            return static_cast<double>(in.at<T>(o, f)[i]) * s.gain + s.offset;
        };
        double sums[4] = {0, 0, 0, 0};
        for (Index j = 0; j < count; ++j) {
            const convoy::Source from = source_of(first + j, input_.shape.frames, padding_);
            if (from.index < 0) continue;
            double x = from.sign * value(from.index);
            if (from.first != 0) x += static_cast<double>(from.first) * value(0);
            if (from.last != 0) x += static_cast<double>(from.last) * value(input_.shape.frames - 1);
            sums[j % 4] += taps[j] * x;
        }
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    Input input_;
    Shape shape_;
    Index up_, down_;
    Index taps_;    // how many
    Index half_;    // of the taps: where their middle is
    Index length_;  // of a phase
    Padding padding_;
    std::vector<double> phases_;
};

}  // namespace

std::unique_ptr<Stage> resample(const Input& input, Index up, Index down, const std::vector<double>& taps,
                                Padding padding) {
    return std::make_unique<Resample>(input, up, down, taps, padding);
}

}  // namespace convoy::arith
