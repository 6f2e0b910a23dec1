// What a segment of samples is worth where taps lie over it: the weights of lower bounds (fft_guard.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::conv1d {

/// For each slack the largest weight w with sum (1 - h / w)^+ <= slack for every run of `length` of the
/// magnitudes h that begins at first, first - 1, ... first - (shifts - 1): w <= (h_1 + ... + h_r) / (r -
/// slack) for every r, h_1, h_2, ... being the run in rising order. Runs are taken a little wider, so that
/// one stands for several.
inline std::vector<double> segment_weights(const std::vector<double>& h, Index first, Index length,
                                           Index shifts, const std::vector<double>& slacks) {
    const Index step = std::clamp<Index>(length / 8, 1, shifts);
    std::vector<double> weights(slacks.size(), std::numeric_limits<double>::infinity());
    std::vector<double> run;
    for (Index shift = 0; shift < shifts; shift += step) {
        const double* const begin = &h[first - shift - (step - 1)];
        run.assign(begin, begin + length + step - 1);
        std::sort(run.begin(), run.end());
        for (std::size_t s = 0; s < slacks.size(); ++s) {
            double sum = 0;
            for (Index r = 1; r <= length; ++r) {
                const double left = static_cast<double>(r) - slacks[s];
                // One more term makes the quotient smaller only while it is smaller than the quotient.
                if (left - 1 > 0 && run[r - 1] * (left - 1) >= sum) break;
                sum += run[r - 1];
                if (left > 0) weights[s] = std::min(weights[s], sum / left);
            }
        }
    }
    return weights;
}

/// The `most` neighbouring weights of the largest sum begin here.
template <class T>
std::size_t heaviest(const std::vector<T>& weights, std::size_t most) {
    double sum = 0, largest = -1;
    std::size_t best = 0;
    for (std::size_t end = 1; end <= weights.size(); ++end) {
        sum += static_cast<double>(weights[end - 1]);
        if (end > most) sum -= static_cast<double>(weights[end - 1 - most]);
        if (end >= most && sum > largest) {
            largest = sum;
            best = end - most;
        }
    }
    return best;
}

/// Normal noise, nearly, and always the same: sums of twelve uniform numbers.
template <class T>
std::vector<T> noise_of(Index count) {
    std::vector<T> noise;
    std::uint64_t state = 1;
    for (Index i = 0; i < count; ++i) {
        double sum = -6;
        for (int j = 0; j < 12; ++j) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            sum += static_cast<double>(state >> 40) * 0x1p-24;
        }
        noise.push_back(static_cast<T>(sum));
    }
    return noise;
}

}  // namespace convoy::conv1d
