#include "app/pipeline_call.hpp"

#include "app/job_call.hpp"
#include "core/base/error.hpp"
#include "pipelines/requests.hpp"

namespace convoy::app {

using pipelines::JobRequest;
using pipelines::Script;

namespace {

std::vector<std::string> lines(const std::string& text) {
    return text.empty() ? std::vector<std::string>{} : split(text, '\n');
}

}  // namespace

Script script_of(const command::Call& call) {
    Script script = pipelines::read_script(call.inputs.front(), lines(call.params.text("set")));
    for (const Param& p : script.options.declared())
        if (call.params.given(p.name)) script.options.set(p.name, call.params.text(p.name));
    if (call.params.given("output")) {
        script.output = call.params.text("output");
        script.output_place = {};
    }
    if (call.inputs.size() > 1 || call.params.given("files-from")) {
        script.inputs.assign(call.inputs.begin() + 1, call.inputs.end());
        script.inputs_place = {};
    }
    if (script.output.empty())
        throw usage_error("no output is given", "add output: filtered/{stem}.h5, or -o OUT", script.path);
    if (script.inputs.empty() && !call.params.given("files-from"))
        throw usage_error("no input is given",
                          "add inputs: recordings/*.wav, or name files behind the pipeline file",
                          script.path);
    return script;
}

std::vector<JobRequest> requests_of(const Script& script, const command::Call& call, bool hash) {
    JobRequest common{
        "",
        script.output,
        values_of(script.options, pipelines::joined({pipelines::input_params(), pipelines::output_params(),
                                                     pipelines::execution_params()})),
        script.steps,
        call.words,
        hash,
        {}};
    common.skip_finished = true;
    try {
        return pipelines::requests_for(script.inputs, script.options, common);
    } catch (const Error& e) {
        const bool of_an_option = e.problem().starts_with("--");  // of the command line, not of the file
        if (!e.where().empty() || script.output_place.empty() || of_an_option) throw;
        throw Error(e.fault(), script.output_place, e.problem(), e.hint());
    }
}

}  // namespace convoy::app
