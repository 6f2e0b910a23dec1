// Spectrograms: the front door. A short-time Fourier transform of each channel, its power or magnitude,
// frequency bands, averages over time and decibels, planned as one Stage.
//
//   X[m][k] = sum_n window[n] x[m hop + start + n] exp(-2 pi i k (n + lead) / nfft)
//
// Input [outer][frames][inner]; a channel is a lane (two lanes where complex). Output [channels x
// bins][frames][1], or
// [..][2] for complex values: row c * bins + b holds bin b of channel c.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/padding.hpp"
#include "core/base/stage.hpp"
#include "core/device/device.hpp"
#include "core/spectrum/bands.hpp"

namespace convoy::spectrum {

/// What a bin holds. density: |X|^2 / (rate sum w^2); spectrum: |X|^2 / (sum w)^2, both doubled off 0 Hz and
/// Nyquist for real signals (scipy.signal.spectrogram); magnitude |X|; power |X|^2; complex X.
enum class Quantity { density, spectrum, magnitude, power, complex };

constexpr bool is_power(Quantity q) {
    return q == Quantity::density || q == Quantity::spectrum || q == Quantity::power;
}

/// One column for `frames` columns: mean, largest, or a percentile as numpy.percentile has it (50: the
/// median). The last one takes those that are left.
struct Average {
    enum class Kind { mean, max, percentile } kind = Kind::mean;
    Index frames = 1;
    double percent = 50;
};

/// 10 log10(value / reference) of powers, 20 log10 of magnitudes, plus offset; at least floor.
struct Decibels {
    double reference = 1;
    double offset = 0;
    double floor = -std::numeric_limits<double>::infinity();
};

/// What is to be computed, for a whole signal. Members may assume that check() has passed.
struct Problem {
    std::vector<double> window;  // 1 to nfft samples
    Index nfft = 1024, hop = 256;
    bool centered = false;  // frame m is centred at sample m hop, and the signal is extended by nfft / 2
    Padding padding = Padding::zero;
    bool detrend = false;  // takes the mean of its samples off each frame
    Quantity quantity = Quantity::density;
    double rate = 1;          // Hz
    std::vector<Band> bands;  // of the bins below; empty: all bins as they are
    std::optional<Average> average;
    std::optional<Decibels> decibels;

    Shape shape;  // of the input, lanes of the whole job
    SampleType in = SampleType::float32;
    bool complex = false;                         // inner counts real and imaginary parts
    Scaling scaling;                              // of the stored samples, by channel
    SampleType arithmetic = SampleType::float32;  // float32 or float64: of the sums and of the result

    Index channels() const { return shape.lanes() / (complex ? 2 : 1); }
    Index window_length() const { return static_cast<Index>(window.size()); }
    /// Bins of the transform: nfft / 2 + 1 from 0 Hz up, or nfft from -rate / 2 up for complex signals.
    Index linear_bins() const { return complex ? nfft : nfft / 2 + 1; }
    Index bins() const { return bands.empty() ? linear_bins() : static_cast<Index>(bands.size()); }
    int parts() const { return quantity == Quantity::complex ? 2 : 1; }
    /// Transforms of a channel, and columns of the result.
    Index transforms() const;
    Index outputs() const;
    /// Where the window lies within the nfft samples that are transformed.
    Index lead() const { return centered ? (nfft - window_length()) / 2 : 0; }
    /// The extended frame at which the window of transform m starts.
    Index start(Index m) const { return m * hop + (centered ? lead() - nfft / 2 : 0); }
    /// What bins are before they become decibels: the root of a power that nothing is added to, since the
    /// power of numbers that float32 holds may be one that it does not (1e-21: 1e-42); else `quantity`.
    Quantity stored() const;
    /// Transforms that columns `out` are made of.
    Span transforms_of(Span out) const;
    /// The factor of |X|^2 (or of |X|, X, whichever is stored()) in bin k.
    double gain(Index bin) const;
    /// Decibels are factor * log10(stored value) + offset, at least floor.
    struct Logarithm {
        double factor, offset, floor;
    };
    Logarithm logarithm() const;
};

/// Throws Error (a wrong request) if the problem makes no sense: window empty or longer than nfft, hop < 1, a
/// signal shorter than one frame, decibels of complex values, a reference that is not positive.
void check(const Problem& problem);

/// The way to compute spectrograms on one backend.
struct Strategy {
    std::string_view name;
    device::Backend backend;
    std::string_view summary;
    /// Why this problem cannot be done (a length that the device code has not), or empty.
    std::string (*unsupported)(const Problem&, const device::Device&);
    std::unique_ptr<Stage> (*make)(const Problem&, const device::Device&);
};

const Catalog<Strategy>& catalog();

/// Checks and plans a spectrogram on the device; Error where its backend cannot do it.
std::unique_ptr<Stage> plan(const Problem& problem, const device::Device& device);

}  // namespace convoy::spectrum
