// Frequency bands: what becomes of the bins of a transform. Weights are sparse rows over the bins.
#pragma once

#include <optional>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::spectrum {

/// sum_i weights[i] * bin[first + i]
struct Band {
    Index first = 0;
    std::vector<double> weights;
};

/// Bands and their centre frequencies in Hz.
struct Scale {
    std::vector<double> centres;
    std::vector<Band> bands;
};

/// What bands are made of, and from where to where; limits in Hz, by default all that makes sense.
struct Axis {
    Index nfft;
    double rate;
    bool complex = false;  // bins run from -rate / 2
    std::optional<double> fmin, fmax;

    double spacing() const { return rate / static_cast<double>(nfft); }
    Index bins() const { return complex ? nfft : nfft / 2 + 1; }
    // Multiplied before it is divided, so that the last bin is at half the rate and not beside it.
    double frequency(Index bin) const {
        return static_cast<double>(bin - (complex ? nfft / 2 : 0)) * rate / static_cast<double>(nfft);
    }
};

/// The bins themselves, those between the limits.
Scale linear_bins(const Axis& axis);

enum class Mel { slaney, htk };
/// `count` overlapping triangles, equally spaced in mel, of equal area, as librosa.filters.mel(norm='slaney')
/// (M. Slaney, "Auditory Toolbox" (1998); S. Young et al., "The HTK Book").
Scale mel_bands(const Axis& axis, Index count, Mel formula);

/// `count` bands of equal ratio: each the mean of the bins that it covers, in part or whole; from one bin's
/// width above 0 Hz by default.
Scale log_bands(const Axis& axis, Index count);

/// Decidecades (IEC 61260-1: centres 1000 Hz x 10^(i / 10), edges 10^(1 / 20) away): the power within each,
/// which is the sum of `bin_power` (power in a bin = bin_power * its value) over what it covers. By default
/// those at least as wide as a bin and below the Nyquist frequency; limits bound the centres.
Scale decidecade_bands(const Axis& axis, double bin_power);

}  // namespace convoy::spectrum
