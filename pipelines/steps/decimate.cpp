// The step `decimate`: a low-pass for the new rate, then every Nth sample, as
// scipy.signal.decimate(ftype='fir').
#include "core/base/error.hpp"
#include "core/design/design.hpp"
#include "pipelines/steps/fir.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "factor", .kind = Kind::integer, .value = "N", .help = "keep every Nth sample"},
};

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    const Index factor = p.integer("factor");
    if (factor < 1) throw usage_error("decimate needs a whole factor of 1 or more", "write decimate: 4");
    pipelines::Fir fir;
    fir.taps = factor == 1 ? std::vector<double>{1.0} : design::decimation_lowpass(factor);
    fir.decimate = factor;
    fir.notes = {{"anti_alias", "as scipy.signal.decimate, ftype fir"},
                 {"numtaps", to_text(static_cast<Index>(fir.taps.size()))}};
    return pipelines::plan_fir(std::move(fir), flow, execution);
}

pipelines::Python python(const Params& p, const Flow& in, const Planned&) {
    const std::string factor = to_text(p.integer("factor"));
    if (factor == "1") return {"pass", {}};
    return {"x = signal.decimate(x, " + factor + ", ftype='fir', axis=" + std::to_string(in.time_axis) + ")" +
                pipelines::python::new_rate(in, "/ " + factor),
            {}};
}

}  // namespace

extern constinit const Step decimate{
    "decimate", "low-pass for the new rate and keep every Nth sample", params, plan, false, "factor", false,
    python};

}  // namespace convoy::step
