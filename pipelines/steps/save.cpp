// The step `save`: what flows here is written too, to a file of its own.
#include "core/base/error.hpp"
#include "pipelines/step.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "path", .value = "OUT", .help = "the file: a name or a template, as the output's"},
};

Planned plan(const Params& p, Flow&, const Execution&) {
    if (p.text("path").empty()) throw usage_error("save needs a file", "write save: between/{stem}.h5");
    Planned planned;
    planned.save = p.text("path");
    return planned;
}

pipelines::Python python(const Params&, const Flow&, const Planned&) {
    return {"pass  # x goes on as it is", {}};
}

}  // namespace

extern constinit const Step save{
    "save", "write what flows here to a file of its own too", params, plan, false, "path", false, python};

}  // namespace convoy::step
