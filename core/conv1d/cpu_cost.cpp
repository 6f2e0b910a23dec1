#include "core/conv1d/cpu_cost.hpp"

#include <algorithm>

#include "core/conv1d/fft_blocks.hpp"
#include "core/conv1d/fft_guard.hpp"

namespace convoy::conv1d::cpu_cost {

namespace {

Calibration& in_force() {
    static Calibration shipped;
    return shipped;
}

}  // namespace

const Calibration& calibration() {
    return in_force();
}

void set_calibration(const Calibration& measured) {
    in_force() = measured;
}

double io_seconds(const Problem& p) {
    const Calibration& c = calibration();
    const double in = static_cast<double>(p.decimate);
    const double bytes =
        in * static_cast<double>(bytes_of(p.in)) + static_cast<double>(bytes_of(p.arithmetic));
    const bool planar = p.shape.inner == 1, in_place = planar && p.in == p.arithmetic && p.scaling.trivial();
    return 1e9 * bytes / c.memory_bytes + (in_place ? 0 : in * c.gather_ns) + (planar ? 0 : c.gather_ns);
}

double direct_seconds(const Problem& p) {
    const Calibration& c = calibration();
    const double taps = static_cast<double>(p.taps.size());
    const double width = p.arithmetic == SampleType::float64 ? 2 : 1;
    const double split =
        p.decimate > 1 ? static_cast<double>(std::min<Index>(p.decimate, p.taps.size())) * c.gather_ns : 0;
    return std::max(io_seconds(p), 1e9 * 2 * taps * width / c.direct_flops) + split;
}

std::optional<double> fft_seconds(const Problem& p) {
    const FftBlocks blocks = fft_blocks(p);
    if (blocks.length == 0) return std::nullopt;
    // Short filters sum up too little for the guard's cheap bounds, and need a second transform for exact
    // ones. Long ones do not, and their guard takes long to make.
    const bool twice = p.taps.size() < 2000 && !Guard<float>(p.taps).enough_for_noise(blocks.length);
    return io_seconds(p) + blocks.look + blocks.transform * (twice ? 2 : 1);
}

}  // namespace convoy::conv1d::cpu_cost
