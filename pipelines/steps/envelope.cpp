// The step `envelope`: the magnitude of the analytic signal, its imaginary part by a Hilbert filter.
#include <cmath>
#include <numbers>

#include "core/arith/arith.hpp"
#include "core/base/error.hpp"
#include "core/window/window.hpp"
#include "pipelines/steps/arith_input.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "numtaps",
     .kind = Kind::integer,
     .value = "N",
     .help = "length of the Hilbert filter, odd; it is true from rate / N to rate / 2 - rate / N",
     .fallback = "255"},
    {.name = "window",
     .value = "NAME[,PARAM]",
     .help = "as scipy.signal.get_window names them",
     .fallback = "hamming"},
    {.name = "padding",
     .kind = Kind::choice,
     .value = "WHAT",
     .help = "what lies beyond the ends",
     .fallback = "zero",
     .choices = "zero,reflect,edge,odd"},
};

// 2 / (pi n) at odd distances n from the middle, 0 at even ones, times a window.
std::vector<double> hilbert_taps(Index numtaps, const std::string& name) {
    std::vector<double> taps = window::make(name, numtaps, window::Symmetry::symmetric);
    const Index half = numtaps / 2;
    for (Index k = 0; k < numtaps; ++k) {
        const Index n = k - half;
        taps[static_cast<std::size_t>(k)] *= n % 2 == 0 ? 0 : 2 / (std::numbers::pi * static_cast<double>(n));
    }
    return taps;
}

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    if (flow.complex) throw usage_error("envelope is of real signals, and this is complex", {}, flow.label);
    const Index numtaps = p.integer("numtaps");
    if (numtaps < 3 || numtaps % 2 == 0)
        throw usage_error(p.spelled("numtaps") + " must be odd, and 3 or more");
    const arith::Input input = pipelines::arith_input(flow, execution);
    const std::string padding = p.text("padding");
    pipelines::Fir fir;
    fir.taps = hilbert_taps(numtaps, p.text("window"));
    fir.padding = padding == "reflect" ? Padding::reflect
                  : padding == "edge"  ? Padding::edge
                  : padding == "odd"   ? Padding::odd
                                       : Padding::zero;
    fir.notes = {{"numtaps", to_text(numtaps)}, {"window", p.text("window")}};
    Planned planned = pipelines::plan_fir(std::move(fir), flow, execution);
    planned.stage = arith::envelope(input, std::move(planned.stage));
    return planned;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned&) {
    namespace py = pipelines::python;
    const std::string n = to_text(p.integer("numtaps")), half = to_text(p.integer("numtaps") / 2);
    return {
        "k = np.arange(" + n + ") - " + half +
            "\n"
            "hilbert = np.where(k % 2 != 0, 2 / (np.pi * np.where(k == 0, 1, k)), 0) * signal.get_window(" +
            py::window(p.text("window")) + ", " + n +
            ", fftbins=False)\n"
            "x = np.hypot(x, fir(x, hilbert, axis=" +
            std::to_string(in.time_axis) + ", padding=" + py::quoted(p.text("padding")) + "))",
        {},
        {py::extend, py::fir}};
}

}  // namespace

extern constinit const Step envelope{
    "envelope", "magnitude of the analytic signal", params, plan, false, {}, true, python};

}  // namespace convoy::step
