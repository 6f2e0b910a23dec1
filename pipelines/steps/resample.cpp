// The step `resample`: another rate, by a rational factor, as scipy.signal.resample_poly.
#include <cmath>
#include <numeric>

#include "core/arith/arith.hpp"
#include "core/base/error.hpp"
#include "core/design/design.hpp"
#include "pipelines/steps/arith_input.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "rate", .kind = Kind::number, .value = "HZ", .help = "the new sample rate"},
    {.name = "up", .kind = Kind::integer, .value = "N", .help = "the factor's numerator, instead of a rate"},
    {.name = "down", .kind = Kind::integer, .value = "N", .help = "its denominator"},
    {.name = "window",
     .value = "NAME[,PARAM]",
     .help = "of the filter, as scipy.signal.get_window",
     .fallback = "kaiser,5"},
    {.name = "padding",
     .kind = Kind::choice,
     .value = "WHAT",
     .help = "what lies beyond the ends",
     .fallback = "zero",
     .choices = "zero,reflect,edge,odd"},
};

struct Ratio {
    Index up, down;
};

// The nearest fraction with terms that a filter can be made for; exact for whole rates.
Ratio ratio_of_rates(double to, double from, const Flow& flow) {
    for (Index down = 1; down <= 100'000; ++down) {
        const double up = to / from * static_cast<double>(down);
        if (std::round(up) >= 1 && std::abs(up - std::round(up)) <= 1e-9 * up)
            return {static_cast<Index>(std::round(up)), down};
    }
    throw usage_error("resample finds no fraction that makes " + to_text(from) + " Hz " + to_text(to) + " Hz",
                      "give up and down", flow.label);
}

Ratio ratio_of(const Params& p, const Flow& flow) {
    if (p.given("rate") == (p.given("up") || p.given("down")))
        throw usage_error("resample needs a rate, or up and down",
                          "write resample: 48000, or resample: {up: 3, down: 2}");
    if (p.given("rate")) {
        if (!(p.number("rate") > 0)) throw usage_error(p.spelled("rate") + " must be more than 0 Hz");
        return ratio_of_rates(p.number("rate"), flow.rate_for("resample"), flow);
    }
    const Index up = p.integer_if("up").value_or(1), down = p.integer_if("down").value_or(1);
    if (up < 1 || down < 1) throw usage_error("up and down must be 1 or more");
    const Index common = std::gcd(up, down);
    return {up / common, down / common};
}

// As scipy.signal.resample_poly designs it, with a gain of `up`.
std::vector<double> taps_for(const Ratio& ratio, const std::string& window) {
    const Index most = std::max(ratio.up, ratio.down);
    if (most > 100'000)
        throw usage_error(
            "resample by " + to_text(ratio.up) + "/" + to_text(ratio.down) + " needs too long a filter",
            "choose smaller factors");
    if (most == 1) return {1.0};
    const double cutoff[] = {0.5 / static_cast<double>(most)};
    std::vector<double> taps = design::firwin(20 * most + 1, cutoff, design::Band::lowpass, window, 1.0);
    for (double& h : taps)
        h *= static_cast<double>(ratio.up);
    return taps;
}

void flow_out(Flow& flow, const Ratio& ratio, const Stage& stage) {
    pipelines::computed(flow, stage);
    const double factor = static_cast<double>(ratio.down) / static_cast<double>(ratio.up);
    if (flow.rate && flow.signal) *flow.rate /= factor;
    flow.axes[static_cast<std::size_t>(flow.time_axis)].step *= factor;
    flow.time_first *= ratio.up;
    flow.time_up *= ratio.up;
    flow.time_step *= ratio.down;
    const Index common = std::gcd(std::gcd(flow.time_first, flow.time_up), flow.time_step);
    flow.time_first /= common, flow.time_up /= common, flow.time_step /= common;
    if (flow.time_up != 1) flow.own_axes = true;  // no sample stands where one of the source does
}

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    const Ratio ratio = ratio_of(p, flow);
    const std::string padding = p.text("padding");
    Planned planned;
    planned.taps = taps_for(ratio, p.text("window"));
    planned.stage =
        arith::resample(pipelines::arith_input(flow, execution), ratio.up, ratio.down, planned.taps,
                        padding == "reflect" ? Padding::reflect
                        : padding == "edge"  ? Padding::edge
                        : padding == "odd"   ? Padding::odd
                                             : Padding::zero);
    planned.notes = {{"up", to_text(ratio.up)},
                     {"down", to_text(ratio.down)},
                     {"window", p.text("window")},
                     {"numtaps", to_text(static_cast<Index>(planned.taps.size()))}};
    flow_out(flow, ratio, *planned.stage);
    return planned;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned& planned) {
    namespace py = pipelines::python;
    const std::string up = py::note(planned, "up"), down = py::note(planned, "down"),
                      padding = p.text("padding");
    const std::string beyond = padding == "zero" ? "constant" : padding == "odd" ? "antireflect" : padding;
    return {"x = signal.resample_poly(x, " + up + ", " + down + ", axis=" + std::to_string(in.time_axis) +
                ", window=" + py::window(p.text("window")) + ", padtype=" + py::quoted(beyond) + ")" +
                py::new_rate(in, "* " + up + " / " + down),
            {}};
}

}  // namespace

extern constinit const Step resample{
    "resample", "change the rate by a rational factor", params, plan, false, "rate", true, python};

}  // namespace convoy::step
