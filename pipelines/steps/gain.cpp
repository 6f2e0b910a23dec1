// The step `gain`: samples times a constant.
#include <cmath>

#include "core/base/error.hpp"
#include "pipelines/steps/fir.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "db", .kind = Kind::number, .value = "DB", .help = "gain in decibels: -6 halves"},
    {.name = "factor", .kind = Kind::number, .value = "X", .help = "gain as a factor"},
};

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    if (p.given("db") == p.given("factor"))
        throw usage_error("gain needs one of db and factor",
                          "write gain: -6 (decibels), or gain: {factor: 0.5}");
    const double factor = p.given("factor") ? p.number("factor") : std::pow(10.0, p.number("db") / 20);
    if (p.given("db") && !(factor > 0 && std::isfinite(factor)))
        throw usage_error("no number is as large or small as a factor of " + to_text(p.number("db")) + " dB",
                          "give -6000 to 6000", flow.label);
    pipelines::Fir fir;
    fir.taps = {factor};
    fir.notes = {{"factor", to_text(factor)}};
    Execution own = execution;
    own.strategy = "auto";  // a strategy is asked for of filters
    return pipelines::plan_fir(std::move(fir), flow, own);
}

pipelines::Python python(const Params&, const Flow&, const Planned& planned) {
    return {"x = x * " + pipelines::python::note(planned, "factor"), {}};
}

}  // namespace

extern constinit const Step gain{"gain", "multiply by a constant", params, plan, false, "db", false, python};

}  // namespace convoy::step
