// FIR filter design by the window method: the ideal response's impulse response times a window.
//
// Frequencies are in Hz beside a sampling rate in Hz. Cut-offs are the -6 dB points. All filters have linear
// phase.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::design {

enum class Band { lowpass, highpass, bandpass, bandstop };
std::string_view name_of(Band band);

/// What a filter is to do. The length is `numtaps`, or follows from `transition`, or from
/// default_transition().
struct Request {
    Band band = Band::lowpass;
    std::vector<double> cutoffs;  // Hz: one, or lower and upper
    double rate = 0;              // Hz
    std::optional<Index> numtaps;
    std::optional<double> transition;  // Hz, from pass band to stop band
    double atten_db = 80;              // ripple of both bands, and what the Kaiser window is made for
    std::string window;                // "hamming", "kaiser,8.6"; empty: Kaiser for atten_db
};

/// A designed filter, and the numbers it came from, for reports.
struct Filter {
    std::vector<double> taps;
    std::string window;       // with its parameter
    double transition = 0;    // Hz: as asked, by default, or (numtaps given) Kaiser's estimate for atten_db
    bool lengthened = false;  // numtaps was even where the band needs an odd length
};

/// Designs a filter. A length that follows from a transition is odd, so that mode `same` does not shift by
/// half a sample; a given one goes up by 1 where the response at the Nyquist frequency must not be 0. Error
/// (a wrong request) with the numbers where cut-offs lie outside (0, Nyquist) or out of order, or the length
/// makes no sense.
Filter windowed_sinc(const Request& request);

/// Taps as scipy.signal.firwin(numtaps, cutoffs, window=window, pass_zero=band, scale=scale, fs=rate), after
/// the same checks as above. With `scale` the gain is exactly 1 at 0 Hz, the Nyquist frequency or the middle
/// of the pass band; Error where it is 0 there (two taps of a Hann window).
std::vector<double> firwin(Index numtaps, std::span<const double> cutoffs, Band band, std::string_view window,
                           double rate, bool scale = true);

/// min(max(f / 4, 2 Hz), f, distance to Nyquist), the least over the cut-offs: MNE's rule for filter lengths.
double default_transition(std::span<const double> cutoffs, double rate);

/// Kaiser's estimates (Oppenheim and Schafer, "Discrete-Time Signal Processing", section 7.5.3). Widths are
/// fractions of the Nyquist frequency, as in scipy.signal.
double kaiser_beta(double atten_db);
double kaiser_atten(Index numtaps, double width);
struct Kaiser {
    Index numtaps;
    double beta;
};
/// Error (a wrong request) below 8 dB, where the formula fails.
Kaiser kaiserord(double atten_db, double width);

/// The low-pass of scipy.signal.decimate(x, q, ftype='fir'): 20 q + 1 Hamming taps, cut off at the new
/// Nyquist frequency.
std::vector<double> decimation_lowpass(Index q);

/// The gain |H| in dB at each frequency (Hz); -infinity where it is 0.
std::vector<double> response_db(std::span<const double> taps, std::span<const double> frequencies,
                                double rate);

}  // namespace convoy::design
