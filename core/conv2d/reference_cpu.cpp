// The judge: one output at a time, sums in double, in the order of the formula.
#include <algorithm>

#include "core/conv2d/cpu_stage.hpp"

namespace convoy::conv2d {

namespace {

template <class T>
class ReferencePatch : public PatchKernel<T> {
  public:
    explicit ReferencePatch(const Problem& p) : p_(p) {}

    void run(const Patch<T>& patch, T*) const override {
        for (Index k = 0; k < p_.group_filters(); ++k)
            for (Index p = 0; p < patch.out_rows; ++p)
                for (Index q = 0; q < patch.count; ++q)
                    patch.y[k * patch.y_filter + p * patch.y_row + q] =
                        static_cast<T>(output(patch, k, p, q));
    }

  private:
    double output(const Patch<T>& patch, Index k, Index p, Index q) const {
        const Index filter = patch.group * p_.group_filters() + k;
        double sum = 0;
        for (Index c = 0; c < p_.group_channels(); ++c)
            for (Index r = 0; r < p_.taps.rows; ++r) {
                const Index row = (patch.first_out + p) * p_.stride.rows - p_.before().rows +
                                  r * p_.dilation.rows - patch.first_row;
                if (row < 0 || row >= patch.rows) continue;
                for (Index s = 0; s < p_.taps.columns; ++s) {
                    const TapPlace at = place_of(p_, s);
                    const T* const x =
                        patch.x + c * patch.channel + row * patch.row + at.phase * patch.phase + at.offset;
                    sum += p_.weight(filter, c, r, s) * static_cast<double>(x[q]);
                }
            }
        if (!p_.bias.empty()) sum += p_.bias[static_cast<std::size_t>(filter)];
        return p_.relu && sum < 0 ? 0 : sum;
    }

    Problem p_;
};

std::string unsupported(const Problem&, const device::Device&) {
    return {};
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device&) {
    if (p.precision == Precision::float64)
        return make_cpu_stage(p, nullptr, std::make_unique<ReferencePatch<double>>(p));
    return make_cpu_stage(p, std::make_unique<ReferencePatch<float>>(p), nullptr);
}

std::optional<double> cost(const Problem&, const device::Device&) {
    return std::nullopt;
}

}  // namespace

extern constinit const Strategy reference_cpu{
    "reference", device::Backend::cpu, "plain sums in double: the judge of the others", unsupported, make,
    cost};

}  // namespace convoy::conv2d
