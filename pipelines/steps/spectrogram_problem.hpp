// From the parameters of the step `spectrogram` to what core computes.
#pragma once

#include <vector>

#include "core/base/params.hpp"
#include "core/spectrum/spectrum.hpp"

namespace convoy::pipelines {

/// Reads frames, scaling, bands, averages and decibels into a problem whose rate and `complex` are known, and
/// gives back the frequency (Hz) of each row of the result. Error (a wrong request) where parameters exclude
/// each other or make no sense.
std::vector<double> read_spectrogram(const Params& params, spectrum::Problem& problem);

}  // namespace convoy::pipelines
