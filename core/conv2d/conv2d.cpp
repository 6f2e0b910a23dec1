// The front door of 2-D convolution: extents, checks, choice.
#include "core/conv2d/conv2d.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/quantity.hpp"
#include "core/conv2d/filter_blocks.hpp"
#include "core/device/choice.hpp"

namespace convoy::conv2d {

namespace {

struct Axis {
    Index in, spread, stride, pad;
    bool correlate;

    Index before(Fit fit) const {
        switch (fit) {
            case Fit::valid:
                return 0;
            case Fit::same:
                return correlate ? (spread - 1) / 2 : spread - 1 - (spread - 1) / 2;
            case Fit::full:
                return spread - 1;
            default:
                return pad;
        }
    }
    Index outputs(Fit fit) const {
        const Index zeros = fit == Fit::same ? spread - 1 : 2 * before(fit);
        const Index places = in + zeros - spread;
        return places < 0 ? 0 : places / stride + 1;
    }
};

Axis rows_of(const Problem& p) {
    return {p.extent.rows, p.spread().rows, p.stride.rows, p.pad.rows, p.correlate};
}
Axis columns_of(const Problem& p) {
    return {p.extent.columns, p.spread().columns, p.stride.columns, p.pad.columns, p.correlate};
}

std::string text(Pair pair) {
    return to_text(pair.rows) + " x " + to_text(pair.columns);
}

// Beyond this, products of extents could leave 64 bits.
constexpr Index largest = Index{1} << 31;

void check_numbers(const Problem& p) {
    const auto below = [](Pair pair, Index least) { return pair.rows < least || pair.columns < least; };
    const auto above = [](Pair pair) { return pair.rows > largest || pair.columns > largest; };
    if (below(p.stride, 1) || above(p.stride))
        throw usage_error("the stride " + text(p.stride) + " must be from 1 to " + to_text(largest));
    if (below(p.dilation, 1) || above(p.dilation))
        throw usage_error("the dilation " + text(p.dilation) + " must be from 1 to " + to_text(largest));
    if (below(p.pad, 0) || above(p.pad))
        throw usage_error("the padding " + text(p.pad) + " must be from 0 to " + to_text(largest));
    if (p.groups < 1) throw usage_error("the number of groups must be 1 or more, not " + to_text(p.groups));
}

void check_kernel(const Problem& p) {
    if (p.kernel.empty()) throw usage_error("the kernel is empty", "give at least one coefficient");
    for (std::size_t i = 0; i < p.kernel.size(); ++i)
        if (!std::isfinite(p.kernel[i]))
            throw usage_error(
                "coefficient " + std::to_string(i) + " of the kernel is not finite (NaN or Inf)",
                "mend the kernel");
    for (std::size_t i = 0; i < p.bias.size(); ++i)
        if (!std::isfinite(p.bias[i]))
            throw usage_error("bias " + std::to_string(i) + " is not finite (NaN or Inf)", "mend the biases");
}

void check_groups(const Problem& p) {
    if (p.channels % p.groups != 0)
        throw usage_error(
            to_text(p.groups) + " groups do not divide the image's " + to_text(p.channels) + " channels",
            "choose a divisor");
    if (p.filters % p.groups != 0)
        throw usage_error(
            to_text(p.groups) + " groups do not divide the kernel's " + to_text(p.filters) + " filters",
            "choose a divisor");
    const Index there = static_cast<Index>(p.kernel.size());
    const Index each = p.filters * p.taps.rows * p.taps.columns;
    if (there != each * p.group_channels())
        throw usage_error("the kernel has " + to_text(there / each) + " channels, and each of " +
                              to_text(p.groups) + " groups of the image has " + to_text(p.group_channels()),
                          "a kernel is filters x channels / groups x rows x columns");
    if (!p.bias.empty() && static_cast<Index>(p.bias.size()) != p.filters)
        throw usage_error("there are " + to_text(static_cast<Index>(p.bias.size())) + " biases for " +
                              to_text(p.filters) + " filters",
                          "give one for each");
}

}  // namespace

Pair Problem::spread() const {
    return {dilation.rows * (taps.rows - 1) + 1, dilation.columns * (taps.columns - 1) + 1};
}

Pair Problem::before() const {
    return {rows_of(*this).before(fit), columns_of(*this).before(fit)};
}

Pair Problem::outputs() const {
    return {rows_of(*this).outputs(fit), columns_of(*this).outputs(fit)};
}

double Problem::weight(Index k, Index c, Index r, Index s) const {
    if (!correlate) {
        r = taps.rows - 1 - r;
        s = taps.columns - 1 - s;
    }
    return kernel[static_cast<std::size_t>(((k * group_channels() + c) * taps.rows + r) * taps.columns + s)];
}

Shape Problem::out_shape() const {
    return shape_of(filters, outputs());
}

Span Problem::needed(Span out) const {
    const Index last = extent.columns - 1, start = out.first * stride.columns - before().columns;
    const Index end = start + (std::max<Index>(out.count, 1) - 1) * stride.columns + spread().columns;
    const Index first = std::clamp<Index>(start, 0, last);
    return {first, std::clamp<Index>(end, first + 1, last + 1) - first};
}

Index Problem::needed_at_most(Index count) const {
    return std::min(extent.columns, (count - 1) * stride.columns + spread().columns);
}

void check(const Problem& p) {
    check_numbers(p);
    check_kernel(p);
    check_groups(p);
    if (p.complex && (!p.bias.empty() || p.relu))
        throw usage_error("bias and ReLU of complex values are not defined", "take the magnitude first");
    const Pair out = p.outputs();
    if (out.rows < 1 || out.columns < 1)
        throw usage_error("the output would be empty: a kernel of " + text(p.taps) +
                              (p.spread() == p.taps ? "" : ", dilated to " + text(p.spread()) + ",") +
                              " does not fit into an image of " + text(p.extent),
                          "use padding same or full, or a smaller kernel");
}

std::vector<Modelled> modelled(const Problem& problem, const device::Device& device) {
    std::vector<Modelled> rows;
    for (const Strategy* s : catalog()) {
        if (s->backend != device.backend) continue;
        Modelled row{s, std::nullopt, s->unsupported(problem, device)};
        if (row.cannot.empty()) row.seconds = s->cost(problem, device);
        rows.push_back(std::move(row));
    }
    return rows;
}

Choice choose(std::string_view request, const Problem& problem, const device::Device& device) {
    if (request != "auto")
        return {&device::named_strategy(catalog(), "2-D strategy", request, problem, device), "asked for"};
    const std::vector<Modelled> rows = modelled(problem, device);
    const Modelled* best = device::fastest(rows);
    if (best == nullptr) throw failed({}, "no 2-D strategy on " + device.id() + " can do this convolution");
    return {best->strategy, "the least modelled time for kernels of " + text(problem.taps)};
}

std::unique_ptr<Stage> plan(const Problem& problem, const Strategy& strategy, const device::Device& device) {
    if (auto blocks = plan_filter_blocks(problem, strategy, device)) return blocks;
    return strategy.make(problem, device);
}

Index longest_chain(Index terms) {
    // A term is rounded once by each sum after it in its chain, once by each chain after its own, and up to
    // four times as a coefficient, as a sample, by the bias and by the result. Chains that end between rows
    // of the kernel are up to twice as many as full ones.
    const auto allowed = static_cast<Index>(4 * (2 + std::sqrt(static_cast<double>(terms)))) - 4;
    const auto fits = [&](Index chain) { return chain + 2 * ((terms + chain - 1) / chain) + 1 <= allowed; };
    Index chain = std::min(terms, allowed);
    while (chain > 1 && !fits(chain))
        --chain;
    return chain;
}

}  // namespace convoy::conv2d
