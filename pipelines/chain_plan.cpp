#include "pipelines/chain_plan.hpp"

#include <algorithm>

#include "core/base/division.hpp"
#include "core/base/error.hpp"
#include "core/conv1d/conv1d.hpp"
#include "pipelines/learn.hpp"
#include "pipelines/views.hpp"

namespace convoy::pipelines {

namespace {

// Output frames whose input frame lies in the part.
Span wanted_frames(const Flow& flow, const Part& part) {
    const Index first = part.from_start ? 0 : std::max<Index>(0, frame_at(flow, part.first));
    const Index end = part.to_end ? flow.shape.frames : std::min(flow.shape.frames, frame_at(flow, part.end));
    if (end <= first)
        throw usage_error("the part that is asked for holds no output", "ask for a longer one", flow.label);
    return {first, end - first};
}

// Steps that only pick leave samples as they are stored: a result is what they stand for, so that one tap of
// 1 applies scale factors and offsets that no step has applied.
void apply_scaling(ChainPlan& plan, const Execution& execution) {
    Flow& flow = plan.flow;
    if (plan.chain.empty() || flow.scaling.trivial()) return;
    conv1d::Problem problem;
    problem.taps = {1};
    problem.shape = flow.shape;
    problem.in = flow.type;
    problem.complex = flow.complex;
    problem.scaling = flow.scaling;
    problem.arithmetic = execution.arithmetic(flow.wide);
    const conv1d::Choice choice = conv1d::choose("auto", problem, execution.device);
    plan.chain.push_back(conv1d::plan(problem, *choice.strategy, execution.device));
    plan.step_of.push_back(plan.step_of.back());
    flow.type = plan.steps[plan.step_of.back()].type = problem.arithmetic;
    flow.wide = problem.arithmetic == SampleType::float64;
    flow.scaling = {};
}

// One step behind those that are planned already.
void plan_step(ChainPlan& plan, const StepCall& call, const Execution& execution, const Part& part) {
    if (call.step->name == "save") apply_scaling(plan, execution);
    Planned planned = call.step->plan(call.params, plan.flow, execution);
    const bool computes = planned.stage != nullptr;
    plan.steps.push_back({std::string(call.step->name),
                          planned.strategy,
                          planned.reason,
                          planned.notes,
                          planned.explanation,
                          {},
                          plan.flow.shape,
                          plan.flow.type,
                          plan.flow.rate,
                          0,
                          planned.taps,
                          computes ? planned.stage->needed_at_most(1) - 1 : 0});
    if (!planned.save.empty()) {
        if (plan.chain.empty())
            throw usage_error("save before the first step would copy the input",
                              "put it behind a step that computes");
        plan.saved.push_back({plan.chain.size(), plan.flow, wanted_frames(plan.flow, part), planned.save});
    }
    if (!computes) return;
    if (!plan.picture.file.empty())
        throw usage_error("a picture is drawn of the result of the last step",
                          "move png there, or leave it out");
    plan.picture = std::move(planned.picture);
    plan.step_of.push_back(plan.steps.size() - 1);
    plan.chain.push_back(std::move(planned.stage));
    plan.taps = std::move(planned.taps);
}

ChainPlan plan_steps(io::Reader& input, std::span<const StepCall> steps, const Execution& execution,
                     const Part& part) {
    ChainPlan plan;
    plan.input = &input;
    plan.flow = flow_of(input.recording());
    for (const StepCall& call : steps) {
        const std::string label = plan.flow.label;
        try {
            plan_step(plan, call, execution, part);
        } catch (const Error& e) {
            if (call.place.empty()) throw;
            throw Error(e.fault(), call.place + ": " + (e.where().empty() ? label : e.where()), e.problem(),
                        e.hint());
        }
    }
    if (plan.chain.empty()) throw usage_error("there is nothing to compute", "list at least one step");
    apply_scaling(plan, execution);
    const bool choices = std::any_of(plan.steps.begin(), plan.steps.end(),
                                     [](const StepReport& step) { return !step.strategy.empty(); });
    if (!choices && execution.strategy != "auto")
        throw usage_error("--strategy " + execution.strategy + ": no step here has strategies to choose from",
                          "leave it out");
    if (!choices && execution.explain)
        throw usage_error("--explain has nothing to explain: no step here has strategies to choose from",
                          "leave it out");
    if ((!plan.saved.empty() || plan.learns()) && input.sequential())
        throw failed(plan.flow.label,
                     "can be read only once, and save, normalize, detrend and long averages read their input "
                     "before the "
                     "rest",
                     "copy it to a file first");
    return plan;
}

}  // namespace

StepCall without_picture(const StepCall& call) {
    StepCall bare{call.step, Params({call.step->params.begin(), call.step->params.end()}), call.place};
    for (const Param& p : bare.params.declared())
        if (call.params.given(p.name) && !p.name.starts_with("png"))
            bare.params.set(p.name, call.params.text(p.name), call.place);
    return bare;
}

std::string_view written_by(const StepCall& call) {
    if (call.step->name == "save") return "path";
    const bool draws = std::any_of(call.step->params.begin(), call.step->params.end(),
                                   [](const Param& p) { return p.name == "png"; });
    return draws && call.params.given("png") ? "png" : "";
}

void open_as_image(io::OpenOptions& options, std::span<const StepCall> steps) {
    if (steps.empty() || !steps.front().step->image) return;
    options.image = true;
    if (steps.front().step->streamed != nullptr)
        options.image_axis = steps.front().step->streamed(steps.front().params);
}

Index frame_at(const Flow& flow, Index input) {
    return ceil_div(input * flow.time_up - flow.time_first, flow.time_step);
}

bool ChainPlan::learns() const {
    return std::any_of(chain.begin(), chain.end(), [](const auto& stage) { return stage->learns(); });
}

ChainPlan plan_chain(io::Reader& input, std::span<const StepCall> steps, const Execution& execution,
                     const Part& part) {
    ChainPlan plan = plan_steps(input, steps, execution, part);
    plan.wanted = wanted_frames(plan.flow, part);
    return plan;
}

ChainPlan plan_piece(io::Reader& signal, Span piece, std::span<const StepCall> steps,
                     const Execution& execution, const Part& part) {
    Part own = part;  // counted from the piece's first frame
    own.from_start = part.from_start || part.first <= piece.first;
    own.to_end = part.to_end || part.end >= piece.end();
    own.first -= piece.first, own.end -= piece.first;
    auto input = part_reader(signal, piece);
    ChainPlan plan = plan_steps(*input, steps, execution, own);
    plan.piece = std::move(input);
    if (!plan.saved.empty())
        throw usage_error("save does not go with --gaps split",
                          "give --gaps ignore, or save in a run of its own", plan.flow.label);
    const bool outside = (!own.to_end && own.end <= 0) || (!own.from_start && own.first >= piece.count);
    plan.wanted = outside ? Span{0, 0} : wanted_frames(plan.flow, own);
    return plan;
}

StreamReport run_first(ChainPlan& plan, std::size_t stages, Span frames, io::Writer& writer,
                       const StreamOptions& options) {
    Chain rest;
    while (plan.chain.size() > stages) {
        rest.push_back(std::move(plan.chain.back()));
        plan.chain.pop_back();
    }
    const auto restore = [&] {
        for (; !rest.empty(); rest.pop_back())
            plan.chain.push_back(std::move(rest.back()));
    };
    StreamOptions own = options;
    own.chunk_frames = own.group = own.kept_frames = 0;
    own.from = nullptr;
    own.journal = nullptr;
    own.progress = {};
    try {
        StreamReport done = run_stream(*plan.input, plan.chain, frames, writer, own);
        restore();
        return done;
    } catch (...) {
        restore();
        throw;
    }
}

void learn(ChainPlan& plan, const StreamOptions& options) {
    for (std::size_t i = 0; i < plan.chain.size(); ++i) {
        if (!plan.chain[i]->learns()) continue;
        if (i == 0) {
            learn_from(*plan.input, *plan.chain[0]);
            continue;
        }
        const auto learner = learning_writer(*plan.chain[i], plan.chain[i - 1]->type());
        run_first(plan, i, {0, plan.chain[i - 1]->shape().frames}, *learner, options);
    }
}

}  // namespace convoy::pipelines
