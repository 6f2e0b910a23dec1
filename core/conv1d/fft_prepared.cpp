#include "core/conv1d/fft_prepared.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

#include "core/base/recent.hpp"

namespace convoy::conv1d {

template <class S>
Prepared<S>::Prepared(const std::vector<double>& taps, const FftBlocks& blocks)
    : guard(taps),
      sliding(taps),
      segments_do(
          enough_for_noise(static_cast<Index>(taps.size()), blocks.length, guard.norm(), guard.noise())),
      sliding_do(sliding.any() && enough_for_noise(static_cast<Index>(taps.size()), blocks.length,
                                                   guard.norm(), sliding.noise())),
      repair(taps),
      exact(blocks) {
    std::vector<double> h = taps;
    for (double& v : h)
        v = std::abs(v);
    const double largest = *std::max_element(h.begin(), h.end());
    if (std::is_same_v<S, float> && largest > 1e-15 && largest < 1e15) fast.emplace(blocks);
    for (Index first = 0, m = static_cast<Index>(taps.size()); first < m; first += blocks.part) {
        const Index end = std::min(m, first + blocks.part);
        load({&taps[first], &taps[end]}, &Transforms<double>::taps, &Transforms<float>::taps);
        load({&h[first], &h[end]}, &Transforms<double>::magnitudes, &Transforms<float>::magnitudes);
    }
}

/// One part's spectrum, in double and, where there are such transforms, in float.
template <class S>
void Prepared<S>::load(const std::vector<double>& part,
                       std::vector<device::Buffer> Transforms<double>::*in_double,
                       std::vector<device::Buffer> Transforms<float>::*in_float) {
    const std::vector<double> spectrum = exact.convolver.spectrum(part, static_cast<Index>(part.size()) - 1);
    (exact.*in_double).push_back(exact.convolver.load(spectrum));
    if (fast) ((*fast).*in_float).push_back(fast->convolver.load(spectrum));
}

template <class S>
std::shared_ptr<const Prepared<S>> prepared(const std::vector<double>& taps, const FftBlocks& blocks) {
    using Key = std::tuple<std::vector<double>, Index, Index, Index>;
    static Recent<Key, Prepared<S>> recent(4);
    const auto make = [&] { return std::make_shared<const Prepared<S>>(taps, blocks); };
    if (taps.size() > 65536) return make();
    // Spectra lie in the order of the registers.
    return recent.get({taps, blocks.length, blocks.part, fft::simd_lanes<float>()}, make);
}

template struct Prepared<float>;
template struct Prepared<double>;
template std::shared_ptr<const Prepared<float>> prepared(const std::vector<double>&, const FftBlocks&);
template std::shared_ptr<const Prepared<double>> prepared(const std::vector<double>&, const FftBlocks&);

}  // namespace convoy::conv1d
