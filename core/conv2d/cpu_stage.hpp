// What all CPU strategies share: the way from windows of stored samples to patches of images in float or
// double, and back. A strategy supplies a kernel that works on one patch. The stage cuts the result into
// patches (rows x columns of one group of filters), spreads them over the threads, puts zeros beyond the
// edges, applies the scaling and converts.
#pragma once

#include <memory>
#include <optional>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d {

/// One rectangle of outputs and the samples that they use. Columns of samples are split by the stride: column
/// q * stride + j of the patch is x[... + j * phase + q], so that neighbouring outputs use neighbouring
/// samples.
template <class T>
struct Patch {
    const T* x;                 // of the group's first channel
    Index row, phase, channel;  // T's from one to the next
    Index first_row, rows;      // image rows that are there; others are beyond the edges
    Index group;
    Index first_out, out_rows;  // output rows
    Index count;                // output columns
    Index width;                // samples in each phase of a row
    T* y;                       // of the group's first filter
    Index y_row, y_filter;      // T's from one to the next
};

/// Where tap s of a row is in the patch's rows of samples.
struct TapPlace {
    Index phase, offset;
};
TapPlace place_of(const Problem& p, Index s);

template <class T>
class PatchKernel {
  public:
    virtual ~PatchKernel() = default;
    /// Output rows that patches start at multiples of.
    virtual Index row_step() const { return 1; }
    /// Output columns that a patch is computed in multiples of: what x holds zeros for beyond the last one.
    virtual Index column_step() const { return 1; }
    /// Outputs of each filter that a patch should have, even where its samples then do not fit in cache.
    virtual Index fewest_outputs() const { return 1; }
    /// T's of scratch that one call needs.
    virtual Index scratch() const { return 0; }
    /// Computes the patch. Called from several threads at once, each with a scratch of its own.
    virtual void run(const Patch<T>& patch, T* scratch) const = 0;
};

/// The stage of a problem with a kernel for its arithmetic type (exactly one of the two is given).
std::unique_ptr<Stage> make_cpu_stage(const Problem&, std::unique_ptr<PatchKernel<float>>,
                                      std::unique_ptr<PatchKernel<double>>);

}  // namespace convoy::conv2d
