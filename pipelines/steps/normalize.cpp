// The step `normalize`: each channel, or all together, scaled to a peak or an RMS.
#include <cmath>

#include "core/arith/arith.hpp"
#include "core/base/error.hpp"
#include "pipelines/steps/arith_input.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "to",
     .kind = Kind::choice,
     .value = "WHAT",
     .help = "which level is made 1, or `level`",
     .fallback = "peak",
     .choices = "peak,rms"},
    {.name = "level",
     .kind = Kind::number,
     .value = "X",
     .help = "the level that is reached",
     .fallback = "1"},
    {.name = "db", .kind = Kind::number, .value = "DB", .help = "the same in decibels re 1: -3"},
    {.name = "together", .kind = Kind::flag, .help = "one factor for all channels"},
};

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    if (p.given("level") && p.given("db"))
        throw usage_error(p.spelled("level") + " and " + p.spelled("db") + " exclude each other",
                          "give one of them");
    const double target = p.given("db") ? std::pow(10.0, p.number("db") / 20) : p.number("level");
    if (p.given("db") && !(target > 0 && std::isfinite(target)))
        throw usage_error("no number is as large or small as a level of " + to_text(p.number("db")) + " dB",
                          "give -6000 to 6000", flow.label);
    if (!(target > 0 && std::isfinite(target)))
        throw usage_error(p.spelled("level") + " must be more than 0");
    Planned planned;
    planned.stage = arith::normalize(pipelines::arith_input(flow, execution),
                                     p.text("to") == "rms" ? arith::Norm::rms : arith::Norm::peak, target,
                                     p.flag("together"));
    planned.notes = {{"to", p.text("to")}, {"level", to_text(target)}, {"passes", "2"}};
    pipelines::computed(flow, *planned.stage);
    return planned;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned& planned) {
    const std::string axis = p.flag("together") ? "None" : std::to_string(in.time_axis);
    const std::string size = in.complex ? "np.maximum(np.abs(x.real), np.abs(x.imag))" : "np.abs(x)";
    const std::string level = p.text("to") == "rms"
                                  ? "np.sqrt(np.mean(np.abs(x) ** 2, axis=" + axis + ", keepdims=True))"
                                  : "np.max(" + size + ", axis=" + axis + ", keepdims=True)";
    return {"level = " + level + "\nx = x * (" + pipelines::python::note(planned, "level") +
                " / np.where(level > 0, level, 1))",
            {}};
}

}  // namespace

extern constinit const Step normalize{
    "normalize", "scale to a peak or an RMS", params, plan, false, "to", true, python};

}  // namespace convoy::step
