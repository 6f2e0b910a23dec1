// The step `detrend`: the mean or the line of least squares is taken out of each channel.
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
    {.name = "type",
     .kind = Kind::choice,
     .value = "TYPE",
     .help = "what is taken out, over the whole signal",
     .fallback = "linear",
     .choices = "linear,constant"},
};

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    const bool constant = p.text("type") == "constant";
    Planned planned;
    planned.stage = arith::detrend(pipelines::arith_input(flow, execution),
                                   constant ? arith::Trend::constant : arith::Trend::linear);
    planned.notes = {{"type", p.text("type")}, {"passes", "2"}};
    pipelines::computed(flow, *planned.stage);
    return planned;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned&) {
    return {"x = signal.detrend(x, axis=" + std::to_string(in.time_axis) +
                ", type=" + pipelines::python::quoted(p.text("type")) + ")",
            {}};
}

}  // namespace

extern constinit const Step detrend{
    "detrend", "take the mean or a straight line out of each channel", params, plan, false, "type", true,
    python};

}  // namespace convoy::step
