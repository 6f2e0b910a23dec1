// What all CPU strategies share: the way from a window of stored samples to planar rows of float or double
// and back. A strategy only supplies a row kernel. The stage cuts the work into tiles (rows x outputs),
// spreads them over the threads, resolves padding, applies the scaling and converts; where the samples
// already are planar rows of the arithmetic type, the kernel reads them in place.
#pragma once

#include <memory>

#include "core/conv1d/conv1d.hpp"

namespace convoy::conv1d {

/// Sums for rows of extended samples: y[r][n] = sum_k taps[k] * x[r][n * decimate + (M-1) - k], n = 0 ..
/// count-1. Called from several threads at once; scratch is the caller's.
template <class T>
class RowKernel {
  public:
    virtual ~RowKernel() = default;
    /// Outputs come in blocks of this many, anchored at output 0 of the signal: `first` is a multiple of it,
    /// and `count` too (the last block of a signal is computed whole; what lies beyond the signal's reach is
    /// zero).
    virtual Index block() const { return 1; }
    /// Outputs of a row, and rows, that make a good tile: what fits in L2, a multiple of block().
    virtual Index tile() const = 0;
    virtual Index tile_rows() const { return 1; }
    /// Samples past the last one used that x must have, so that whole vectors can be loaded (any value).
    virtual Index slack() const { return 0; }
    /// T's of scratch that one call needs.
    virtual Index scratch() const { return 0; }
    /// Rows have (count - 1) * decimate + M samples and slack(); they are not aligned. count is at most
    /// tile().
    virtual void run(const T* const* x, T* const* y, Index rows, Index first, Index count, T* scratch) = 0;
    virtual Stage::Facts facts() const { return {}; }
};

/// The stage of a problem with a kernel for its arithmetic type (exactly one of the two is given).
std::unique_ptr<Stage> make_cpu_stage(const Problem&, std::unique_ptr<RowKernel<float>>,
                                      std::unique_ptr<RowKernel<double>>);

}  // namespace convoy::conv1d
