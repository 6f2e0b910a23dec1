// What the kernels of spectrograms know of one run. Plain data, passed by value.
#pragma once

#include "core/base/padding.hpp"
#include "core/base/rows.hpp"
#include "core/spectrum/spectrum.hpp"
#include "core/spectrum/warp_fft.hpp"

namespace convoy::spectrum::gpu {

/// Where the samples are, and what they mean.
struct Input {
    const std::byte* data = nullptr;
    SampleType type = SampleType::float32;
    Index inner = 1, parts = 1;  // lanes of a row of the window, of a channel
    Index channels = 1;          // in a row: inner / parts
    Span span;
    Index pitch = 0;
    Index frames = 0;  // of the whole signal
    Padding padding = Padding::zero;
    const LaneScale* scales = nullptr;  // nullptr: values are as stored
    bool one_scale = false;             // for all channels, else one a channel of the job
    Index channel_first = 0;  // the window's channel 0 within the job (rows of channels follow one another)

    /// Samples from the window's start to frame f of a part of a channel; f may lie outside the window.
    CONVOY_HD constexpr Index at(Index channel, Index part, Index f) const {
        const Index row = channel / channels, lane = channel % channels * parts + part;
        return (row * pitch + f - span.first) * inner + lane;
    }
};

/// How values are made and where they go.
struct Output {
    std::byte* data = nullptr;
    Span span;  // columns
    Index pitch = 0, bins = 0, channels = 0;
    Quantity quantity = Quantity::density;  // Problem::stored()
    double once = 1, twice = 1;             // factors at 0 Hz and Nyquist, and elsewhere
    bool decibels = false;
    double factor = 10, offset = 0, floor = 0;  // of log10
};

/// Transforms: X[m] starts at extended frame first + m * hop.
struct Frames {
    Index nfft = 0, hop = 1, first = 0, length = 0, lead = 0;
    Index each = 1, total = 0;  // transforms of a column, of the whole signal
    Average::Kind kind = Average::Kind::mean;
    double percent = 50;
    bool averaged = false, detrend = false;
};

struct Job {
    Input in;
    Output out;
    Frames frames;
};

}  // namespace convoy::spectrum::gpu
