// The step `keep_every`: every Nth sample, and no filter before.
#include "core/base/error.hpp"
#include "pipelines/steps/fir.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "factor",
     .kind = Kind::integer,
     .value = "N",
     .help = "keep every Nth sample, starting with the first"},
};

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    const Index factor = p.integer("factor");
    if (factor < 1) throw usage_error("keep_every needs a whole factor of 1 or more", "write keep_every: 2");
    pipelines::Fir fir;
    fir.taps = {1.0};
    fir.decimate = factor;
    Execution own = execution;
    own.strategy = "auto";  // a strategy is asked for of filters
    return pipelines::plan_fir(std::move(fir), flow, own);
}

pipelines::Python python(const Params& p, const Flow& in, const Planned&) {
    const std::string factor = to_text(p.integer("factor"));
    return {"x = " + pipelines::python::slice(in.time_axis, "::" + factor) +
                pipelines::python::new_rate(in, "/ " + factor),
            {}};
}

}  // namespace

extern constinit const Step keep_every{
    "keep_every", "keep every Nth sample, without a filter", params, plan, false, "factor", false, python};

}  // namespace convoy::step
