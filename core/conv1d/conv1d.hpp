// 1-D convolution: the front door. Checks a filter job once, chooses a strategy and plans it as a Stage.
//
//   y[n] = sum_k taps[k] x[n * decimate + offset - k],   k = 0 .. M-1,  n = 0 .. outputs-1
//
// with offset (M-1)/2 for `same`, M-1 for `valid`, 0 for `full` (integer division; as scipy.signal.convolve).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/padding.hpp"
#include "core/base/stage.hpp"
#include "core/device/device.hpp"

namespace convoy::conv1d {

enum class Mode { same, full, valid };

/// What is to be computed, for a whole signal. Members may assume that check() has passed.
struct Problem {
    std::vector<double> taps;  // M >= 1, finite
    Mode mode = Mode::same;
    Padding padding = Padding::zero;
    Index decimate = 1;
    Shape shape;  // of the input, lanes of the whole job
    SampleType in = SampleType::float32;
    bool complex = false;                         // inner counts real and imaginary parts
    Scaling scaling;                              // of the stored samples, by channel
    SampleType arithmetic = SampleType::float32;  // float32 or float64: of the sums and of the result

    Index offset() const;
    /// Outputs of a lane: same ceil(N/D), full ceil((N+M-1)/D), valid ceil((N-M+1)/D).
    Index outputs() const;
    Index channels() const { return shape.lanes() / (complex ? 2 : 1); }
    /// Frames, past the signal's own ends too, that the outputs use; input beyond them counts as zero, so
    /// that the filling of a last block is always the same.
    Span reach() const;
    /// The hull of the signal's frames that extended frames [first, end) map to.
    Span folded(Index first, Index end) const;
};

/// Throws Error (a wrong request) if the problem makes no sense: no taps, a tap that is not finite (its index
/// named), `valid` with more taps than samples, decimate < 1.
void check(const Problem& problem);

/// One strategy on one backend.
struct Strategy {
    std::string_view name;
    device::Backend backend;
    std::string_view summary;
    /// Why this problem cannot be done (too many taps for constant memory), or empty.
    std::string (*unsupported)(const Problem&, const device::Device&);
    std::unique_ptr<Stage> (*make)(const Problem&, const device::Device&);
    /// Modelled seconds for 1e9 outputs of the problem's kind on the device, for `auto`; empty: never taken
    /// by auto.
    std::optional<double> (*cost)(const Problem&, const device::Device&);
    /// Length of the transforms it would take; none where it has none.
    Index (*transform_length)(const Problem&, const device::Device&) = nullptr;
};

const Catalog<Strategy>& catalog();

/// A row of the cost model's table: what --explain prints.
struct Modelled {
    const Strategy* strategy;
    std::optional<double> seconds;  // for 1e9 outputs; empty where `auto` never takes it, or it cannot
    std::string cannot;             // why it cannot do the problem; empty where it can
    Index transform_length;         // 0: it takes none
};
/// The strategies of the device's backend, in the order of the catalogue.
std::vector<Modelled> modelled(const Problem& problem, const device::Device& device);

/// A strategy and why it was taken.
struct Choice {
    const Strategy* strategy;
    std::string reason;
};

/// The strategy that a request (`auto` or a name) means for the problem on the device. Depends on taps,
/// decimation, lanes, layout, type and device only. Error where a named one cannot do it.
Choice choose(std::string_view request, const Problem& problem, const device::Device& device);

/// A planned filter.
std::unique_ptr<Stage> plan(const Problem& problem, const Strategy& strategy, const device::Device& device);

}  // namespace convoy::conv1d
