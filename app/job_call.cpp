#include "app/job_call.hpp"

#include "app/log.hpp"
#include "app/output.hpp"
#include "core/base/error.hpp"

namespace convoy::app {

namespace {

constexpr Param output_path[] = {
    {.name = "output", .value = "OUT", .help = "the result; its ending picks the format, HDF5 by default", .also = "o"},
};

// The values of `call` that belong to a list of declarations, as parameters of their own.
Params part_of(const command::Call& call, std::vector<Param> declared) {
    Params part(declared);
    for (const Param& p : declared)
        if (call.params.given(p.name)) part.set(p.name, call.params.text(p.name));
    return part;
}

}  // namespace

std::vector<command::Group> step_groups(std::string_view step, std::string_view title) {
    return {{"Output", output_path},
            {title, step::catalog().at(step).params},
            {"Input", pipelines::input_params()},
            {"How it is written", pipelines::output_params()},
            {"How it is computed", pipelines::execution_params()}};
}

pipelines::JobRequest job_request(std::string_view name, const command::Call& call) {
    const auto& step = step::catalog().at(name);
    if (call.inputs.size() != 1) throw usage_error("one input is taken", "give one file");
    if (!call.params.given("output")) throw usage_error("no output is given", "say where the result goes: -o OUT.h5");
    return {call.inputs.front(),
            call.params.text("output"),
            part_of(call, pipelines::joined({pipelines::input_params(), pipelines::output_params(),
                                             pipelines::execution_params()})),
            {{&step, part_of(call, {step.params.begin(), step.params.end()})}},
            call.words,
            call.params.given("report"),
            {}};
}

int run_step(std::string_view name, const command::Call& call) {
    pipelines::JobRequest request = job_request(name, call);
    Progress progress(call.params, request.input);
    request.progress = progress.callback();
    pipelines::Job job(std::move(request));
    const pipelines::JobReport report = job.run();
    write_report(call.params, to_json(report));
    return 0;
}

}  // namespace convoy::app
