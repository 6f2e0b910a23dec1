#include "core/conv1d/fft_prepared.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

#include "core/base/recent.hpp"
#include "core/conv1d/cpu_cost.hpp"
#include "core/conv1d/segment_weights.hpp"

namespace convoy::conv1d {

template <class S>
Prepared<S>::Prepared(const std::vector<double>& taps, const FftBlocks& blocks)
    : guard(taps), sliding(taps), repair(taps), exact(static_cast<Index>(taps.size()), blocks) {
    const auto larger = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const double largest = std::abs(*std::max_element(taps.begin(), taps.end(), larger));
    if (std::is_same_v<S, float> && largest > 1e-15 && largest < 1e15) fast.emplace(exact.taps_count, blocks);
    const Index m = static_cast<Index>(taps.size());
    for (Index at = 0; at < m; at += blocks.part)
        load_part({&taps[at], &taps[at] + std::min(blocks.part, m - at)});
    take_first(m, blocks);
}

template <class S>
void Prepared<S>::take_first(Index taps, const FftBlocks& blocks) {
    const cpu_cost::Calibration& c = cpu_cost::calibration();
    const Index outputs = std::min<Index>(2 * blocks.keep, 8192);
    const double needed = needed_in_noise(taps, size, blocks.length);
    const std::vector<S> noise = noise_of<S>(outputs + taps - 1);
    std::vector<S> values(static_cast<std::size_t>(std::max(guard.room(outputs), sliding.room(outputs))));
    std::vector<std::int32_t> places(static_cast<std::size_t>(repair.room()));
    const auto consider = [&](typename Bounds<S>::How how, double each_ns, Index group,
                              const Level<S>& level) {
        const Bounds<S> bounds{values.data(), group, level.least, how};
        const Index most = blocks.affordable32 * outputs / (2 * blocks.keep);
        const Index products = repair.products({noise.data(), outputs, places.data()}, bounds, needed, most);
        const double ns =
            each_ns + static_cast<double>(products) / static_cast<double>(outputs) * product_ns();
        if (products > most || ns >= look_ns) return;
        first = how;
        look_ns = ns;
    };
    // Exact ones: the guard's look, magnitudes there, minima back, and one more transform.
    look_ns = 3 * c.look_ns +
              static_cast<double>(blocks.affordable32) * product_ns() / static_cast<double>(2 * blocks.keep);
    consider(Bounds<S>::segments, c.look_ns, guard.group(), guard.look(noise.data(), outputs, values.data()));
    if (sliding.any())
        consider(Bounds<S>::sliding, c.slide_ns, sliding.group(),
                 sliding.look(noise.data(), outputs, values.data()));
}

/// One part of the taps: their spectra, in double and, where there are such transforms, in float.
template <class S>
void Prepared<S>::load_part(const std::vector<double>& taps) {
    const Index advance = static_cast<Index>(taps.size()) - 1;
    std::vector<double> h = taps;
    const auto load = [&](auto into_double, auto into_float) {
        const std::vector<double> spectrum = exact.convolver.spectrum(h, advance);
        (exact.*into_double).push_back(exact.convolver.load(spectrum));
        if (fast) ((*fast).*into_float).push_back(fast->convolver.load(spectrum));
        return spectrum;
    };
    const auto add = [](TapsSize& to, double norm, double gain) {
        to = {std::hypot(to.norm, norm), std::hypot(to.gain, gain)};
    };
    const double gain = fft::largest_of(load(&Transforms<double>::taps, &Transforms<float>::taps)) *
                        static_cast<double>(exact.convolver.size());
    double squares = 0, sum = 0;
    for (double& v : h) {
        v = std::abs(v);
        squares += v * v;
        sum += v;
    }
    load(&Transforms<double>::magnitudes, &Transforms<float>::magnitudes);
    add(size, std::sqrt(squares), gain);
    add(magnitudes_size, std::sqrt(squares), sum);
}

template <class S>
std::shared_ptr<const Prepared<S>> prepared(const std::vector<double>& taps, const FftBlocks& blocks) {
    using Key = std::tuple<std::vector<double>, Index, Index, Index, Index, Index, Index>;
    static Recent<Key, Prepared<S>> recent(4);
    const auto make = [&] { return std::make_shared<const Prepared<S>>(taps, blocks); };
    if (taps.size() > 65536) return make();
    // Spectra lie in the order of the registers.
    return recent.get({taps, blocks.length, blocks.part, blocks.keep, blocks.every, blocks.affordable32,
                       fft::simd_lanes<float>()},
                      make);
}

template struct Prepared<float>;
template struct Prepared<double>;
template std::shared_ptr<const Prepared<float>> prepared(const std::vector<double>&, const FftBlocks&);
template std::shared_ptr<const Prepared<double>> prepared(const std::vector<double>&, const FftBlocks&);

}  // namespace convoy::conv1d
