// 2-D convolution: the front door. Checks a job once, chooses a strategy and plans it as a Stage.
//
//   y[n][k][p][q] = bias[k] + sum_{c,r,s} w[k][c][r][s] x[n][c][p * stride.rows - before.rows + r *
//   dilation.rows]
//                                                            [q * stride.columns - before.columns + s *
//                                                            dilation.columns]
//
// with zeros beyond the edges of x, and c over the channels of k's group. w is the kernel turned by 180
// degrees (true convolution, as scipy.signal.convolve2d), or as it is where `correlate` is set. Columns are
// the frames of the stream; images, channels and rows, in that order, its outer axis (NCHW), or images and
// rows, channels being the inner lanes (NHWC). Complex samples are two planes, convolved each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/stage.hpp"
#include "core/device/device.hpp"

namespace convoy::conv2d {

/// A number for the rows and one for the columns.
struct Pair {
    Index rows = 0, columns = 0;
    friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

/// What lies beyond the edges: nothing; as many zeros as make the output as large as the input, with the
/// middle of an even kernel where scipy.signal.convolve2d and correlate2d have it in mode `same` (an output
/// of a true convolution starts at full[(E-1)/2], E being the kernel's dilated extent); as many as let every
/// overlap count; or `pad`.
enum class Fit { valid, same, full, given };

/// Of the products and sums. A strategy may be more exact than what is asked for, never less.
enum class Precision { float32, float64, tf32, bf16 };
constexpr std::string_view name_of(Precision p) {
    constexpr std::string_view names[] = {"float32", "float64", "tf32", "bf16"};
    return names[static_cast<int>(p)];
}

/// Memory of threads at work that stages share, which run one after the other.
struct WorkMemory {
    std::vector<device::Buffer> threads;  // one for each
};

/// What is to be computed, for whole images. Members may assume that check() has passed.
struct Problem {
    Index images = 1, channels = 1;  // N, C
    Pair extent;                     // H x W of an image
    Index filters = 1, groups = 1;   // K; channels and filters are cut into that many groups
    Pair taps{1, 1};                 // R x S
    std::vector<double> kernel;      // K x C/groups x R x S, finite
    bool correlate = false;
    Fit fit = Fit::same;
    Pair pad;  // where fit is `given`
    Pair stride{1, 1}, dilation{1, 1};
    std::vector<double> bias;  // K, or none
    bool relu = false;
    SampleType in = SampleType::float32;
    bool complex = false;        // the window's innermost lanes are real and imaginary parts
    bool channels_last = false;  // NHWC, in the input and in the result
    Scaling scaling;             // of the stored samples, by their place in (image, channel, row) as stored
    Precision precision = Precision::float32;
    std::shared_ptr<WorkMemory> work;  // of a part of a larger problem; none: a stage has its own

    SampleType arithmetic() const {
        return precision == Precision::float64 ? SampleType::float64 : SampleType::float32;
    }
    Index group_channels() const { return channels / groups; }
    Index group_filters() const { return filters / groups; }
    Index terms() const { return group_channels() * taps.rows * taps.columns; }  // of one output
    Index parts() const { return complex ? 2 : 1; }
    /// The kernel's extent with its dilation.
    Pair spread() const;
    /// Rows and columns of zeros before the first one of the image.
    Pair before() const;
    /// P x Q: floor((in + zeros at both ends - spread) / stride) + 1, 0 where that is not positive.
    Pair outputs() const;
    /// w[k][c][r][s] of the formula, c within the group.
    double weight(Index k, Index c, Index r, Index s) const;
    /// The input's and the result's extents, as the stream sees them.
    Shape in_shape() const { return shape_of(channels, extent); }
    Shape shape_of(Index planes, Pair each) const {
        return channels_last ? Shape{images * each.rows, each.columns, planes * parts()}
                             : Shape{images * planes * each.rows, each.columns, parts()};
    }
    Shape out_shape() const;
    /// Columns of the image that output columns `out` use; one at the edge where they use none.
    Span needed(Span out) const;
    Index needed_at_most(Index count) const;
};

/// Throws Error (a wrong request) if the problem makes no sense: an empty or broken kernel, groups that do
/// not divide, a stride or dilation below 1, a negative padding, an output without rows or columns, ...
void check(const Problem& problem);

/// One strategy on one backend.
struct Strategy {
    std::string_view name;
    device::Backend backend;
    std::string_view summary;
    /// Why this problem cannot be done, or empty.
    std::string (*unsupported)(const Problem&, const device::Device&);
    std::unique_ptr<Stage> (*make)(const Problem&, const device::Device&);
    /// Modelled seconds for the whole problem on the device, for `auto`; empty: never taken by auto.
    std::optional<double> (*cost)(const Problem&, const device::Device&);
};

const Catalog<Strategy>& catalog();

/// A row of the cost model's table: what --explain prints.
struct Modelled {
    const Strategy* strategy;
    std::optional<double> seconds;  // for the whole problem; empty where `auto` never takes it, or it cannot
    std::string cannot;             // why it cannot do the problem; empty where it can
};
/// The strategies of the device's backend, in the order of the catalogue.
std::vector<Modelled> modelled(const Problem& problem, const device::Device& device);

/// A strategy and why it was taken.
struct Choice {
    const Strategy* strategy;
    std::string reason;
};

/// The strategy that a request (`auto` or a name) means for the problem on the device; never depends on
/// chunks or threads. Error where a named one cannot do it.
Choice choose(std::string_view request, const Problem& problem, const device::Device& device);

/// A planned convolution.
std::unique_ptr<Stage> plan(const Problem& problem, const Strategy& strategy, const device::Device& device);

/// How many products may be summed one after the other, in chains whose sums are then added up, so that the
/// error of the arithmetic stays below 4 u (2 + sqrt(terms)) sum |w||x| for any samples.
Index longest_chain(Index terms);

}  // namespace convoy::conv2d
