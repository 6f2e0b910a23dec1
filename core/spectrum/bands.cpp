#include "core/spectrum/bands.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::spectrum {

namespace {

struct Limits {
    double low, high;
};

Limits limits_of(const Axis& axis, double low, double high) {
    const Limits limits{axis.fmin.value_or(low), axis.fmax.value_or(high)};
    if (!(limits.low < limits.high))
        throw usage_error((axis.fmin ? "--fmin " + to_text(limits.low) + " Hz"
                                     : "the lowest frequency for bins " + to_text(axis.spacing()) +
                                           " Hz apart, " + to_text(limits.low) + " Hz,") +
                              " is not below " + (axis.fmax ? "--fmax " : "the Nyquist frequency ") +
                              to_text(limits.high) + " Hz",
                          axis.fmin ? "choose a lower --fmin" : "raise --nfft");
    if (!axis.complex && limits.low < 0)
        throw usage_error("--fmin " + to_text(limits.low) + " Hz is below 0 Hz", "choose a higher one");
    if (limits.high > 0.5 * axis.rate)
        throw usage_error("--fmax " + to_text(limits.high) + " Hz is above the Nyquist frequency " +
                              to_text(0.5 * axis.rate) + " Hz",
                          "choose a lower one");
    return limits;
}

void real_only(const Axis& axis, const char* scale) {
    if (axis.complex)
        throw usage_error(
            std::string("--frequency-scale ") + scale + " is of real signals, and this one is complex",
            "use --frequency-scale linear");
}

void check_count(Index count) {
    if (count < 1 || count > 100000)
        throw usage_error("--bins " + to_text(count) + " makes no sense", "choose 1 to 100000");
}

double mel_of(double hz, Mel formula) {
    if (formula == Mel::htk) return 2595 * std::log10(1 + hz / 700);
    // Linear up to 1 kHz (15 mel), then 27 steps for a factor of 6.4.
    return hz < 1000 ? hz * 3 / 200 : 15 + 27 * std::log(hz / 1000) / std::log(6.4);
}

double hz_of(double mel, Mel formula) {
    if (formula == Mel::htk) return 700 * (std::pow(10.0, mel / 2595) - 1);
    return mel < 15 ? mel * 200 / 3 : 1000 * std::exp((mel - 15) * std::log(6.4) / 27);
}

// The share of each bin (as wide as the spacing of the bins, about its frequency) that lies between two
// frequencies.
Band covered(const Axis& axis, double low, double high) {
    const double spacing = axis.spacing();
    const Index last = axis.bins() - 1;
    const Index from = std::clamp<Index>(static_cast<Index>(std::floor(low / spacing + 0.5)), 0, last);
    const Index to = std::clamp<Index>(static_cast<Index>(std::floor(high / spacing + 0.5)), from, last);
    Band band{from, {}};
    for (Index k = from; k <= to; ++k) {
        const double f = axis.frequency(k);
        const double share = std::min(high, f + 0.5 * spacing) - std::max(low, f - 0.5 * spacing);
        band.weights.push_back(std::max(0.0, share / spacing));
    }
    return band;
}

}  // namespace

Scale linear_bins(const Axis& axis) {
    const Limits limits = limits_of(axis, axis.complex ? -0.5 * axis.rate : 0, 0.5 * axis.rate);
    const double slack = 1e-9 * axis.spacing();  // a bin at a limit is within, however both are rounded
    Scale scale;
    for (Index k = 0; k < axis.bins(); ++k) {
        const double f = axis.frequency(k);
        if (f < limits.low - slack || f > limits.high + slack) continue;
        scale.centres.push_back(f);
        scale.bands.push_back({k, {1.0}});
    }
    if (scale.bands.empty())
        throw usage_error("no bin lies between --fmin " + to_text(limits.low) + " Hz and --fmax " +
                              to_text(limits.high) + " Hz; bins are " + to_text(axis.spacing()) + " Hz apart",
                          "widen the limits or raise --nfft");
    return scale;
}

Scale mel_bands(const Axis& axis, Index count, Mel formula) {
    real_only(axis, "mel");
    check_count(count);
    const Limits limits = limits_of(axis, 0, 0.5 * axis.rate);
    const double low = mel_of(limits.low, formula), high = mel_of(limits.high, formula);
    std::vector<double> corners(static_cast<std::size_t>(count) + 2);
    for (std::size_t i = 0; i < corners.size(); ++i)
        corners[i] =
            hz_of(low + (high - low) * static_cast<double>(i) / static_cast<double>(count + 1), formula);
    Scale scale;
    for (std::size_t b = 0; b < static_cast<std::size_t>(count); ++b) {
        const double left = corners[b], top = corners[b + 1], right = corners[b + 2];
        Band band;
        for (Index k = 0; k < axis.bins(); ++k) {
            const double f = axis.frequency(k);
            const double weight = std::min((f - left) / (top - left), (right - f) / (right - top));
            if (weight <= 0) continue;
            if (band.weights.empty()) band.first = k;
            band.weights.push_back(weight * 2 / (right - left));
        }
        scale.centres.push_back(top);
        scale.bands.push_back(std::move(band));
    }
    return scale;
}

Scale log_bands(const Axis& axis, Index count) {
    real_only(axis, "log");
    check_count(count);
    const Limits limits = limits_of(axis, axis.spacing(), 0.5 * axis.rate);
    if (!(limits.low > 0))
        throw usage_error("--fmin " + to_text(limits.low) + " Hz has no place on a logarithmic scale",
                          "choose one above 0 Hz");
    const double ratio = std::pow(limits.high / limits.low, 1 / static_cast<double>(count));
    Scale scale;
    for (Index b = 0; b < count; ++b) {
        const double low = limits.low * std::pow(ratio, static_cast<double>(b));
        Band band = covered(axis, low, low * ratio);
        double sum = 0;
        for (double w : band.weights)
            sum += w;
        for (double& w : band.weights)
            w /= sum;
        scale.centres.push_back(low * std::sqrt(ratio));
        scale.bands.push_back(std::move(band));
    }
    return scale;
}

Scale decidecade_bands(const Axis& axis, double bin_power) {
    real_only(axis, "decidecade");
    const double half = std::pow(10.0, 0.05), nyquist = 0.5 * axis.rate;
    const Limits limits = limits_of(axis, axis.spacing() / (half - 1 / half), nyquist);
    if (!(limits.low > 0))
        throw usage_error("--fmin " + to_text(limits.low) + " Hz has no place on a logarithmic scale",
                          "choose one above 0 Hz");
    const auto first = static_cast<Index>(std::ceil(10 * std::log10(limits.low / 1000) - 1e-9));
    Scale scale;
    for (Index i = first;; ++i) {
        const double centre = 1000 * std::pow(10.0, static_cast<double>(i) / 10);
        if (centre > limits.high * (1 + 1e-9) || centre * half > nyquist * (1 + 1e-9)) break;
        Band band = covered(axis, centre / half, centre * half);
        for (double& w : band.weights)
            w *= bin_power;
        scale.centres.push_back(centre);
        scale.bands.push_back(std::move(band));
    }
    if (scale.bands.empty())
        throw usage_error(
            "no decidecade lies between " + to_text(limits.low) + " Hz and " + to_text(limits.high) + " Hz",
            "widen --fmin and --fmax or raise --nfft");
    return scale;
}

}  // namespace convoy::spectrum
