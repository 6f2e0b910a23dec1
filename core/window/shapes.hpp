// The formulas behind the names: symmetric windows of m >= 2 samples.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::window {

/// Parameters as typed; absent ones have their defaults.
class Arguments {
  public:
    explicit Arguments(std::span<const std::optional<double>> values) : values_(values) {}
    std::size_t size() const { return values_.size(); }
    std::optional<double> get(std::size_t i) const { return i < values_.size() ? values_[i] : std::nullopt; }
    double get(std::size_t i, double fallback) const { return get(i).value_or(fallback); }

  private:
    std::span<const std::optional<double>> values_;
};

using Samples = std::vector<double>;

Samples boxcar(Index m, Arguments);
Samples triang(Index m, Arguments);
Samples bartlett(Index m, Arguments);
Samples parzen(Index m, Arguments);
Samples bohman(Index m, Arguments);
Samples barthann(Index m, Arguments);
Samples cosine(Index m, Arguments);
Samples lanczos(Index m, Arguments);
Samples hann(Index m, Arguments);
Samples hamming(Index m, Arguments);
Samples blackman(Index m, Arguments);
Samples nuttall(Index m, Arguments);
Samples blackmanharris(Index m, Arguments);
Samples flattop(Index m, Arguments);
Samples general_cosine(Index m, Arguments);   // coefficients
Samples general_hamming(Index m, Arguments);  // alpha
Samples tukey(Index m, Arguments);            // tapered share
Samples kaiser(Index m, Arguments);           // beta
Samples kaiser_bessel_derived(Index m, Arguments);
Samples gaussian(Index m, Arguments);          // standard deviation, samples
Samples general_gaussian(Index m, Arguments);  // power, width
Samples exponential(Index m, Arguments);       // centre, decay, samples
Samples chebwin(Index m, Arguments);           // sidelobe attenuation, dB
Samples taylor(Index m, Arguments);            // nbar, sidelobe level (dB), whether normalised
Samples dpss(Index m, Arguments);              // normalised half-bandwidth NW

}  // namespace convoy::window
