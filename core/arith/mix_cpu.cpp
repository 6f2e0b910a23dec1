#include "core/arith/arith.hpp"
#include "core/arith/samples.hpp"

namespace convoy::arith {

namespace {

class Mix : public Stage {
  public:
    Mix(const Input& input, const std::vector<std::vector<double>>& matrix)
        : input_(input), shape_(input.shape), rows_(input.rows) {
        (rows_ ? shape_.outer : shape_.inner) =
            static_cast<Index>(matrix.size()) * (rows_ ? 1 : input.parts());
        for (const auto& row : matrix) {
            auto& terms = terms_.emplace_back();
            for (std::size_t k = 0; k < row.size(); ++k)  // a channel that is not used spoils nothing
                if (row[k] != 0) terms.push_back({static_cast<Index>(k), row[k]});
        }
    }

    Shape shape() const override { return shape_; }
    SampleType type() const override { return input_.arithmetic; }
    Span needed(Span out) const override { return out; }
    Index needed_at_most(Index count) const override { return count; }
    Index pieces() const override { return 1; }
    Lanes lanes_of(Index, Index) const override { return Lanes::all(shape_); }
    Lanes used(Lanes) const override { return Lanes::all(input_.shape); }

    void run(const Window& in, const Window& out, Lanes lanes, device::Stream&) override {
        dispatch_both(in, out, [&](auto stored, auto result) {
            apply<decltype(stored), decltype(result)>(in, out, lanes);
        });
    }

  private:
    struct Term {
        Index channel;
        double weight;
    };

    template <class T, class U>
    void apply(const Window& in, const Window& out, const Lanes& lanes) const {
        for_blocks(out, [&](Index outer, Span frames) {
            for (Index i = 0; i < out.inner; ++i) {
                const Index parts = input_.parts(), part = rows_ ? i : i % parts;
                const auto& terms = terms_[static_cast<std::size_t>(rows_ ? outer : i / parts)];
                U* y = out.at<U>(outer, frames.first) + i;
                for (Index k = 0; k < frames.count; ++k) {
                    double sum = 0;
                    for (const Term& t : terms) {
                        const Index row = rows_ ? t.channel : outer,
                                    lane = rows_ ? part : t.channel * parts + part;
                        const LaneScale scale = scale_of(input_, lanes, row, lane);
                        const T x = in.at<T>(row, frames.first + k)[lane];
                        sum += t.weight * (static_cast<double>(x) * scale.gain + scale.offset);
                    }
                    y[k * out.inner] = static_cast<U>(sum);
                }
            }
        });
    }

    Input input_;
    Shape shape_;
    bool rows_;  // channels are rows
    std::vector<std::vector<Term>> terms_;
};

}  // namespace

std::unique_ptr<Stage> mix(const Input& input, const std::vector<std::vector<double>>& matrix) {
    return std::make_unique<Mix>(input, matrix);
}

}  // namespace convoy::arith
