// From stored samples to rows of float or double, and back: conversion, scaling and (de)interleaving in one
// pass.
#pragma once

#include "core/base/signal.hpp"

namespace convoy {

/// value = stored * gain + offset, of one lane.
struct LaneScale {
    double gain = 1, offset = 0;
    bool trivial() const { return gain == 1 && offset == 0; }
};

/// dst[r][i] = src[i * stride + r] * gain + offset for r < rows, i < count, src being samples of `type`. The
/// result is the exact value's rounded to double and then to T, so that it does not depend on the path that
/// is taken.
template <class T>
void load_rows(const std::byte* src, SampleType type, Index stride, Index rows, Index count,
               const LaneScale* scales, T* const* dst);

/// dst[i * stride + r] = src[r][i] for r < rows, i < count.
template <class T>
void store_rows(const T* const* src, Index rows, Index count, T* dst, Index stride);

}  // namespace convoy
