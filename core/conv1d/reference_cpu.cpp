// The judge: one output at a time, sums in double, taps in the order of the formula.
#include "core/conv1d/cpu_stage.hpp"

namespace convoy::conv1d {

namespace {

template <class T>
class ReferenceRows : public RowKernel<T> {
  public:
    explicit ReferenceRows(const Problem& p) : taps_(p.taps), decimate_(p.decimate) {}
    Index tile() const override { return 4096; }

    void run(const T* const* x, T* const* y, Index rows, Index, Index count, T*) override {
        const Index m = static_cast<Index>(taps_.size());
        for (Index r = 0; r < rows; ++r)
            for (Index n = 0; n < count; ++n) {
                const T* newest = x[r] + n * decimate_ + (m - 1);
                double sum = 0;
                for (Index k = 0; k < m; ++k)
                    sum += taps_[static_cast<std::size_t>(k)] * static_cast<double>(newest[-k]);
                y[r][n] = static_cast<T>(sum);
            }
    }

  private:
    std::vector<double> taps_;
    Index decimate_;
};

std::string unsupported(const Problem&, const device::Device&) {
    return {};
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device&) {
    if (p.arithmetic == SampleType::float64)
        return make_cpu_stage(p, nullptr, std::make_unique<ReferenceRows<double>>(p));
    return make_cpu_stage(p, std::make_unique<ReferenceRows<float>>(p), nullptr);
}

std::optional<double> cost(const Problem&, const device::Device&) {
    return std::nullopt;  // a judge is never chosen for speed
}

}  // namespace

extern constinit const Strategy reference_cpu{
    "reference", device::Backend::cpu, "plain sums in double: the judge of the others", unsupported, make,
    cost};

}  // namespace convoy::conv1d
