// The front door of 1-D convolution: lengths, checks, choice.
#include "core/conv1d/conv1d.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/division.hpp"
#include "core/device/choice.hpp"

namespace convoy::conv1d {

namespace {

Index size(const Problem& p) {
    return static_cast<Index>(p.taps.size());
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
    for (const Strategy* s : catalog()) {
        if (s->backend != device.backend) continue;
        Modelled row{s, std::nullopt, s->unsupported(problem, device), 0};
        if (row.cannot.empty()) {
            row.seconds = s->cost(problem, device);
            if (s->transform_length != nullptr) row.transform_length = s->transform_length(problem, device);
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
    return strategy.make(problem, device);
}

}  // namespace convoy::conv1d
