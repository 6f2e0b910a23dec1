#include "core/conv1d/cpu_cost.hpp"

#include <algorithm>

#include "core/conv1d/fft_prepared.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv1d/cpu_cost.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::conv1d::HWY_NAMESPACE {
Index register_bytes() {
    return static_cast<Index>(hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<std::uint8_t>()));
}
}  // namespace convoy::conv1d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv1d {
HWY_EXPORT(register_bytes);
}  // namespace convoy::conv1d

namespace convoy::conv1d::cpu_cost {

namespace {

Calibration& in_force() {
    static Calibration used = shipped_calibration();
    return used;
}

}  // namespace

Calibration shipped_calibration(Index register_bytes) {
    Calibration c;
    if (register_bytes < 64) return c;
    c.direct_flops = 237e9;
    c.gather_ns = 0.08;
    c.look_ns = 0.12;
    c.slide_ns = 0.58;
    c.transform32_ns = {0.42, 0.42, 0.45, 0.49, 0.49, 0.54, 0.64, 0.69, 0.81, 1.15, 1.7, 2.5, 3.5};
    c.transform64_ns = {0.78, 0.8, 0.86, 0.95, 0.97, 1.01, 1.21, 1.6, 1.68, 1.94, 2.6, 4.4, 6.0};
    return c;
}

Calibration shipped_calibration() {
    return shipped_calibration(HWY_DYNAMIC_DISPATCH(register_bytes)());
}

const Calibration& calibration() {
    return in_force();
}

void set_calibration(const Calibration& measured) {
    in_force() = measured;
}

namespace {

double memory_seconds(const Problem& p) {
    const double in = static_cast<double>(p.decimate * bytes_of(p.in));
    return 1e9 * (in + static_cast<double>(bytes_of(p.arithmetic))) / calibration().memory_bytes;
}

/// Samples an output that are converted or (de)interleaved on their way, in and out.
double gathered(const Problem& p) {
    const bool planar = p.shape.inner == 1, in_place = planar && p.in == p.arithmetic && p.scaling.trivial();
    return (in_place ? 0 : static_cast<double>(p.decimate)) + (planar ? 0 : 1);
}

}  // namespace

double direct_seconds(const Problem& p) {
    const Calibration& c = calibration();
    const double taps = static_cast<double>(p.taps.size()), in = static_cast<double>(p.decimate);
    const double width = p.arithmetic == SampleType::float64 ? 2 : 1;
    const double split = p.decimate > 1 ? static_cast<double>(std::min<Index>(p.decimate, p.taps.size())) : 0;
    return std::max(memory_seconds(p), 1e9 * 2 * taps * width / c.direct_flops) +
           (gathered(p) + split) * c.gather_ns + in * c.pass_ns;
}

std::optional<double> fft_seconds(const Problem& p) {
    const FftBlocks blocks = fft_blocks(p);
    if (blocks.length == 0) return std::nullopt;
    const Calibration& c = calibration();
    // Blocks are copied where results are dropped.
    const double copies = p.decimate > 1 ? static_cast<double>(p.decimate) : 0;
    const double alone = memory_seconds(p) + (gathered(p) + copies) * c.gather_ns + blocks.transform;
    // Long filters sum up enough for the guard's own bounds, which take long to make.
    if (p.taps.size() >= 2000) return alone + blocks.look;
    const auto looks = [&](const auto& filter) { return filter->look_ns / c.look_ns; };
    return alone + blocks.look * (p.arithmetic == SampleType::float64
                                      ? looks(prepared<double>(p.taps, blocks))
                                      : looks(prepared<float>(p.taps, blocks)));
}

}  // namespace convoy::conv1d::cpu_cost
#endif
