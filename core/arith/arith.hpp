// Simple operators along the frames: picking, gains that follow from the signal, sums of channels, envelopes.
// On the CPU; every output is computed on its own, in double, and rounded once.
#pragma once

#include <memory>
#include <vector>

#include "core/base/padding.hpp"
#include "core/base/stage.hpp"

namespace convoy::arith {

/// What flows into an operator.
struct Input {
    Shape shape;
    SampleType type = SampleType::float32;
    bool complex = false;                         // inner counts real and imaginary parts
    Scaling scaling;                              // of the stored samples, by channel
    SampleType arithmetic = SampleType::float32;  // of the result, where it is computed
    /// Channels are rows; where the shape does not tell, since there is one channel, who plans may say so: it
    /// decides where more channels go.
    bool rows = shape.outer > 1;

    Index parts() const { return complex ? 2 : 1; }
    Index channels() const { return shape.lanes() / parts(); }
};

/// Frames `frames` of `channels` (empty: all), in that order; samples stay as they are stored. Channels lie
/// along the outer axis where they are rows, else along the inner one.
std::unique_ptr<Stage> pick(const Input& input, std::vector<Index> channels, Span frames);

/// Takes the mean, or the line of least squares, out of each lane; both over its finite samples (as
/// scipy.signal.detrend where all are). Learns.
enum class Trend { constant, linear };
std::unique_ptr<Stage> detrend(const Input& input, Trend trend);

/// Scales each channel, or all `together`, to a peak or an RMS of `target`; silence stays. Learns, from
/// finite samples. The peak of complex samples is that of their parts.
enum class Norm { peak, rms };
std::unique_ptr<Stage> normalize(const Input& input, Norm norm, double target, bool together);

/// Output channel i is sum_k matrix[i][k] * channel k, added in that order.
std::unique_ptr<Stage> mix(const Input& input, const std::vector<std::vector<double>>& matrix);

/// sqrt(x[n]^2 + y[n]^2), y being what `hilbert` (a convolution over `input` of mode same) makes of x.
std::unique_ptr<Stage> envelope(const Input& input, std::unique_ptr<Stage> hilbert);

/// y[m] = sum_k taps[k] * u[m * down + (M-1)/2 - k], u being the input with up - 1 zeros behind each sample:
/// as scipy.signal.resample_poly with its padding of zeros, or another. ceil(N * up / down) outputs.
std::unique_ptr<Stage> resample(const Input& input, Index up, Index down, const std::vector<double>& taps,
                                Padding padding);

}  // namespace convoy::arith
