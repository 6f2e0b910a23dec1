// The step `filter`: taps from a file or designed, convolved along time, every Nth output kept.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/recent.hpp"
#include "core/design/design.hpp"
#include "io/taps.hpp"
#include "pipelines/step.hpp"
#include "pipelines/steps/design_params.hpp"
#include "pipelines/steps/fir.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param own_params[] = {
    {.name = "taps",
     .value = "FILE",
     .help = "taps from text, .npy, .wav or file.h5:/path; - is standard input",
     .reads = true},
    {.name = "mode",
     .kind = Kind::choice,
     .value = "MODE",
     .help = "length and place of the output",
     .fallback = "same",
     .choices = "same,full,valid"},
    {.name = "padding",
     .kind = Kind::choice,
     .value = "WHAT",
     .help = "what lies beyond the ends (default zero)",
     .choices = "zero,reflect,edge,odd"},
    {.name = "zero-phase",
     .kind = Kind::flag,
     .help = "forward and backward, as scipy.signal.filtfilt: no delay, twice the attenuation"},
    {.name = "decimate",
     .kind = Kind::integer,
     .value = "N",
     .help = "keep every Nth output (low-passes if no filter is given)"},
    {.name = "no-antialias", .kind = Kind::flag, .help = "with --decimate and no filter: only drop samples"},
    {.name = "corners", .kind = Kind::number, .value = "N", .help = "of IIR filters, which are not here"},
    {.name = "order", .kind = Kind::number, .value = "N", .help = "of IIR filters, which are not here"},
};
constexpr auto params = joined(pipelines::design_params, own_params);

// The taps forward, then backward: their autocorrelation, 2 M - 1 long. scipy.signal.filtfilt gives the same,
// since its extension by 3 M is longer than what the result uses of it, M - 1 at each end.
std::vector<double> forward_and_backward(const std::vector<double>& taps) {
    const std::size_t m = taps.size();
    std::vector<double> both(2 * m - 1, 0.0);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j)
            both[m - 1 + i - j] += taps[i] * taps[j];
    return both;
}

struct Taps {
    std::vector<double> values;
    std::vector<std::pair<std::string, std::string>> notes;
    bool for_decimation = false;  // designed for it: needs no warning
};

Taps given_or_designed(const Params& p, const Flow& flow, Index decimate) {
    const bool designed = pipelines::names_band(p);
    if (p.given("taps")) {
        if (designed) throw usage_error("--taps and a band exclude each other", "give one of them");
        return {io::read_taps(p.text("taps")), {{"taps", p.text("taps")}}, false};
    }
    if (designed) {
        const design::Filter f = pipelines::design_filter(p, flow.rate_for("a filter by frequency"));
        return {f.taps, pipelines::design_notes(p, f), false};
    }
    if (decimate > 1) {
        if (p.flag("no-antialias")) return {{1.0}, {{"anti_alias", "none"}}, true};
        constexpr Index most = 100'000;  // its low-pass has 20 N + 1 taps
        if (decimate > most)
            throw usage_error(p.spelled("decimate") + " " + to_text(decimate) +
                                  " needs a low-pass of more than " + to_text(20 * most) + " taps",
                              "decimate in several runs, or give a filter");
        return {design::decimation_lowpass(decimate),
                {{"anti_alias", "as scipy.signal.decimate, ftype fir"}},
                true};
    }
    throw usage_error("no filter is given",
                      "give --taps FILE, --lowpass HZ, --highpass HZ, --bandpass LO,HI or --bandstop LO,HI");
}

// How loud a filter passes what lies beyond a transition above the new Nyquist frequency, in dB.
double leak_of(const std::vector<double>& taps, Index decimate) {
    constexpr int points = 512;
    const double nyquist = 0.5 / static_cast<double>(decimate);  // the new one, at a rate of 1
    std::vector<double> frequencies;
    for (int i = 0; i <= points; ++i)
        frequencies.push_back(nyquist + (0.5 - nyquist) * i / points);
    const auto level = design::response_db(taps, frequencies, 1.0);
    // The first tenth above the new Nyquist frequency is a usual transition; what is loud beyond it leaks.
    return *std::max_element(level.begin() + points / 10, level.end());
}

// A filter that passes what the new rate cannot hold makes false tones.
void warn_of_aliasing(const Taps& taps, Index decimate, const Flow& flow) {
    if (decimate == 1 || taps.for_decimation) return;
    constexpr double visible_db = -40;
    using Key = std::pair<std::vector<double>, Index>;
    static Recent<Key, double> recent(16);  // the files of a batch have their filter in common
    const double leak = *recent.get({taps.values, decimate}, [&] {
        return std::make_shared<const double>(leak_of(taps.values, decimate));
    });
    if (leak > visible_db)
        warn(flow.label, "the filter passes " + to_text(std::round(leak * 10) / 10) +
                             " dB above the new Nyquist frequency: what is there will alias");
}

Padding padding_of(const Params& p, bool zero_phase) {
    const std::string name = p.text("padding");
    if (name == "reflect") return Padding::reflect;
    if (name == "edge") return Padding::edge;
    if (name == "odd" || (name.empty() && zero_phase)) return Padding::odd;
    return Padding::zero;
}

void make_zero_phase(const Params& p, const Flow& flow, Taps& taps) {
    if (p.text("mode") != "same") throw usage_error("--zero-phase goes with --mode same only");
    const auto m = static_cast<Index>(taps.values.size());
    if (!p.given("padding") && flow.shape.frames <= 3 * m)
        throw usage_error("--zero-phase extends the signal by 3 times the filter's " + to_text(m) +
                              " taps, and it has only " + to_text(flow.shape.frames) + " samples",
                          "use a shorter filter, or give --padding", flow.label);
    taps.values = forward_and_backward(taps.values);
    taps.notes.emplace_back("zero_phase", "forward and backward");
}

// Options that change nothing here are mistakes.
void refuse_idle_options(const Params& p, Index decimate) {
    const bool designed = pipelines::names_band(p);
    if (!designed)
        for (const std::string_view name : {"numtaps", "transition", "atten-db", "window"})
            if (p.given(name))
                throw usage_error(p.spelled(name) + " shapes a filter that is designed, and none is",
                                  "give a band, --lowpass HZ say, or leave it out");
    if (p.flag("no-antialias") && (decimate == 1 || designed || p.given("taps")))
        throw usage_error(
            p.spelled("no-antialias") + (decimate == 1 ? " goes with --decimate" : " goes without a filter"),
            "leave it out");
    if (p.given("padding") && p.text("mode") == "valid")
        throw usage_error(p.spelled("padding") + " has nothing to pad in mode valid", "leave it out");
}

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    for (const std::string_view name : {"corners", "order"})
        if (p.given(name))
            throw usage_error(
                p.spelled(name) + " belongs to IIR filters, and convoy's are FIR",
                "give the steepness as --transition HZ and --atten-db DB, or the length as --numtaps N");
    const Index decimate = p.given("decimate") ? p.integer("decimate") : 1;
    if (decimate < 1) throw usage_error(p.spelled("decimate") + " must be 1 or more");
    refuse_idle_options(p, decimate);
    Taps taps = given_or_designed(p, flow, decimate);
    warn_of_aliasing(taps, decimate, flow);
    if (p.flag("zero-phase")) make_zero_phase(p, flow, taps);
    const std::string mode = p.text("mode");
    pipelines::Fir fir{taps.values, conv1d::Mode::same, padding_of(p, p.flag("zero-phase")), decimate,
                       taps.notes};
    if (mode != "same") fir.mode = mode == "full" ? conv1d::Mode::full : conv1d::Mode::valid;
    fir.notes.emplace_back("numtaps", to_text(static_cast<Index>(fir.taps.size())));
    fir.notes.emplace_back("mode", mode);
    return pipelines::plan_fir(std::move(fir), flow, execution);
}

namespace py = pipelines::python;

// taps = ..., as they were given or designed, or nothing for samples that are only dropped.
std::string python_taps(const Params& p, const Flow& in, const Planned& planned) {
    if (p.given("taps")) return "taps = read_taps(" + py::quoted(p.text("taps")) + ")\n";
    for (const char* band : {"lowpass", "highpass", "bandpass", "bandstop"}) {
        if (!p.given(band)) continue;
        auto taps = static_cast<Index>(planned.taps.size());
        if (p.flag("zero-phase")) taps = (taps + 1) / 2;
        return "taps = signal.firwin(" + to_text(taps) + ", " + py::list(p.numbers(band)) +
               ", window=" + py::window(py::note(planned, "window")) + ", pass_zero=" + py::quoted(band) +
               ", fs=" + (in.signal ? "rate" : to_text(in.rate_for("a filter by frequency"))) + ")\n";
    }
    if (p.flag("no-antialias")) return {};
    const std::string factor = to_text(p.integer("decimate"));
    return "taps = signal.firwin(20 * " + factor + " + 1, 1 / " + factor + ", window='hamming')\n";
}

pipelines::Python python(const Params& p, const Flow& in, const Planned& planned) {
    if (p.text("taps") == "-") return {{}, "its taps came from standard input"};
    if (p.text("taps").ends_with(".wav")) return {{}, "its taps are in an audio file"};
    const std::string axis = std::to_string(in.time_axis),
                      padding = p.given("padding") ? p.text("padding") : "zero";
    std::string code = python_taps(p, in, planned), taps = "taps";
    if (p.flag("zero-phase") && p.given("padding")) taps = "np.convolve(taps, taps[::-1])";
    if (p.flag("zero-phase") && !p.given("padding"))
        code += "x = signal.filtfilt(taps, 1, x, axis=" + axis + ")\n";
    else if (!code.empty())
        code += "x = fir(x, " + taps + ", axis=" + axis + ", mode=" + py::quoted(p.text("mode")) +
                ", padding=" + py::quoted(padding) + ")\n";
    if (const Index factor = p.given("decimate") ? p.integer("decimate") : 1; factor > 1)
        code += "x = " + py::slice(in.time_axis, "::" + to_text(factor)) +
                py::new_rate(in, "/ " + to_text(factor)) + "\n";
    return {code, {}, {py::extend, py::fir, py::read_taps}};
}

}  // namespace

extern constinit const Step filter{
    "filter", "FIR-filter signals along time", params, plan, false, "taps", false, python};

}  // namespace convoy::step
