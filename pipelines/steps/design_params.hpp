// The words of a windowed-sinc design, shared by the step `filter` and the command `design`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/params.hpp"
#include "core/design/design.hpp"

namespace convoy::pipelines {

inline constexpr Param design_params[] = {
    {.name = "lowpass",
     .kind = Kind::number,
     .value = "HZ",
     .help = "pass below; the cut-off is the -6 dB point"},
    {.name = "highpass", .kind = Kind::number, .value = "HZ", .help = "pass above"},
    {.name = "bandpass", .kind = Kind::numbers, .value = "LO,HI", .help = "pass between"},
    {.name = "bandstop", .kind = Kind::numbers, .value = "LO,HI", .help = "stop between"},
    {.name = "numtaps",
     .kind = Kind::integer,
     .value = "N",
     .help = "length of the filter; of an even one, high-pass and band-stop make one more"},
    {.name = "transition",
     .kind = Kind::number,
     .value = "HZ",
     .help = "width of the transition, instead of a length: a Kaiser window's; others get as many taps"},
    {.name = "atten-db",
     .kind = Kind::number,
     .value = "DB",
     .help = "attenuation in the stop band",
     .fallback = "80"},
    {.name = "window",
     .value = "NAME[,PARAM]",
     .help = "as scipy.signal.firwin names them (default: Kaiser)"},
};

/// Whether a band is asked for.
bool names_band(const Params& p);

/// Designs what the parameters ask for at a sample rate in Hz. Error (a wrong request) where it makes no
/// sense.
design::Filter design_filter(const Params& p, double rate);

/// What the report says of a design: band, window, transition.
std::vector<std::pair<std::string, std::string>> design_notes(const Params& p, const design::Filter& filter);

}  // namespace convoy::pipelines
