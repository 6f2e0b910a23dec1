#include <cmath>

#include "core/arith/arith.hpp"
#include "core/arith/samples.hpp"

namespace convoy::arith {

namespace {

class Envelope : public Stage {
  public:
    Envelope(const Input& input, std::unique_ptr<Stage> hilbert)
        : input_(input), hilbert_(std::move(hilbert)) {}

    Shape shape() const override { return hilbert_->shape(); }
    SampleType type() const override { return hilbert_->type(); }
    Index block() const override { return hilbert_->block(); }
    // The samples themselves lie in the middle of what their transform needs.
    Span needed(Span out) const override { return hilbert_->needed(out); }
    Index needed_at_most(Index count) const override { return hilbert_->needed_at_most(count); }
    Facts facts() const override { return hilbert_->facts(); }

    void run(const Window& in, const Window& out, Lanes lanes, device::Stream& stream) override {
        hilbert_->run(in, out, lanes, stream);
        dispatch_both(in, out, [&](auto stored, auto result) {
            combine<decltype(stored), decltype(result)>(in, out, lanes);
        });
    }

  private:
    template <class T, class U>
    void combine(const Window& in, const Window& out, const Lanes& lanes) const {
        for_blocks(out, [&](Index o, Span frames) {
            for (Index i = 0; i < out.inner; ++i) {
                const LaneScale scale = scale_of(input_, lanes, o, i);
                const T* x = in.at<T>(o, frames.first) + i;
                U* y = out.at<U>(o, frames.first) + i;
                for (Index k = 0; k < frames.count; ++k) {
                    const double real = static_cast<double>(x[k * in.inner]) * scale.gain + scale.offset;
                    const double imaginary = static_cast<double>(y[k * out.inner]);
                    y[k * out.inner] = static_cast<U>(std::sqrt(real * real + imaginary * imaginary));
                }
            }
        });
    }

    Input input_;
    std::unique_ptr<Stage> hilbert_;
};

}  // namespace

std::unique_ptr<Stage> envelope(const Input& input, std::unique_ptr<Stage> hilbert) {
    return std::make_unique<Envelope>(input, std::move(hilbert));
}

}  // namespace convoy::arith
