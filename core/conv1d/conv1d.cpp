// The front door of 1-D convolution: lengths, checks, choice.
#include "core/conv1d/conv1d.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/division.hpp"
#include "core/device/choice.hpp"

namespace convoy::conv1d {

namespace {

Index size(const Problem& p) {
    return static_cast<Index>(p.taps.size());
}

// The problem as strategies of the device get it. Where whole numbers are to be multiplied by a power of two,
// as in 16-bit sound, the taps are instead: all sums stay the same to the bit, and a GPU has no samples to
// scale. The CPU scales them on their way for nothing.
Problem for_device(Problem p, const device::Device& device) {
    if (device.backend == device::Backend::cpu || is_float(p.in) || !p.scaling.offset.empty() ||
        p.scaling.gain.size() != 1)
        return p;
    const double gain = p.scaling.gain[0];
    int exponent = 0;
    if (!(gain > 0) || std::frexp(gain, &exponent) != 0.5) return p;
    const auto held = [&](double tap) {
        const double scaled = std::abs(tap * gain);
        return tap == 0 || (scaled >= double{std::numeric_limits<float>::min()} &&
                            scaled <= double{std::numeric_limits<float>::max()});
    };
    if (!std::all_of(p.taps.begin(), p.taps.end(), held)) return p;
    for (double& tap : p.taps)
        tap *= gain;
    p.scaling = {};
    return p;
}

}  // namespace

Index Problem::offset() const {
    const Index m = size(*this);
    return mode == Mode::same ? (m - 1) / 2 : mode == Mode::valid ? m - 1 : 0;
}

Index Problem::outputs() const {
    const Index n = shape.frames, m = size(*this);
    return ceil_div(mode == Mode::same ? n : mode == Mode::full ? n + m - 1 : n - m + 1, decimate);
}

Span Problem::reach() const {
    const Index first = offset() - (size(*this) - 1);
    return {first, (outputs() - 1) * decimate + offset() + 1 - first};
}

Span Problem::folded(Index first, Index end) const {
    const Span all = reach();
    return convoy::folded(std::max(first, all.first), std::min(end, all.end()), shape.frames, padding);
}

void check(const Problem& p) {
    if (p.taps.empty()) throw usage_error("the filter has no taps", "give at least one coefficient");
    for (std::size_t k = 0; k < p.taps.size(); ++k)
        if (!std::isfinite(p.taps[k]))
            throw usage_error("tap " + std::to_string(k) + " of the filter is not finite (NaN or Inf)",
                              "mend the filter's coefficients");
    if (p.decimate < 1) throw usage_error("--decimate must be 1 or more");
    if (p.mode == Mode::valid && size(p) > p.shape.frames)
        throw usage_error("mode valid gives no output: the filter has " + std::to_string(size(p)) +
                              " taps and the signal " + std::to_string(p.shape.frames) + " samples",
                          "use --mode same or a shorter filter");
}

std::vector<Modelled> modelled(const Problem& problem, const device::Device& device) {
    std::vector<Modelled> rows;
    const Problem given = for_device(problem, device);
    for (const Strategy* s : catalog()) {
        if (s->backend != device.backend) continue;
        Modelled row{s, std::nullopt, s->unsupported(given, device), 0};
        if (row.cannot.empty()) {
            row.seconds = s->cost(given, device);
            if (s->transform_length != nullptr) row.transform_length = s->transform_length(given, device);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Choice choose(std::string_view request, const Problem& problem, const device::Device& device) {
    if (request != "auto")
        return {&device::named_strategy(catalog(), "1-D strategy", request, problem, device), "asked for"};
    const std::vector<Modelled> rows = modelled(problem, device);
    const Modelled* best = device::fastest(rows);
    if (best == nullptr) throw failed({}, "no 1-D strategy on " + device.id() + " can do this filter");
    return {best->strategy, "the least modelled time for " + std::to_string(problem.taps.size()) + " taps"};
}

std::unique_ptr<Stage> plan(const Problem& problem, const Strategy& strategy, const device::Device& device) {
    return strategy.make(for_device(problem, device), device);
}

}  // namespace convoy::conv1d
