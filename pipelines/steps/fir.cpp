#include "pipelines/steps/fir.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "core/base/error.hpp"
#include "pipelines/calibration.hpp"

namespace convoy::pipelines {

namespace {

// As many lanes, other frames. An output of `full` or `valid` has the time of its twin in `same`.
void flow_out(Flow& flow, const conv1d::Problem& problem) {
    const Index shift = problem.offset() - (static_cast<Index>(problem.taps.size()) - 1) / 2;
    flow.time_first += shift * flow.time_step;
    io::Axis& time = flow.axes[static_cast<std::size_t>(flow.time_axis)];
    time.first += static_cast<double>(shift) * time.step;
    time.step *= static_cast<double>(problem.decimate);
    flow.time_step *= problem.decimate;
    if (flow.rate && flow.signal) *flow.rate /= static_cast<double>(problem.decimate);
    flow.shape.frames = problem.outputs();
    flow.dims[static_cast<std::size_t>(flow.time_axis)] = problem.outputs();
    flow.type = problem.arithmetic;
    flow.wide = problem.arithmetic == SampleType::float64;
    flow.scaling = {};
}

// The cost model's table: what each strategy would take, and why one was left out.
std::string explanation(const conv1d::Problem& problem, const Execution& execution,
                        const conv1d::Choice& choice) {
    std::string text = "filter of " + to_text(static_cast<Index>(problem.taps.size())) + " taps on " +
                       execution.device.id() + ", modelled seconds for 1e9 outputs in one thread:\n";
    for (const conv1d::Modelled& row : conv1d::modelled(problem, execution.device)) {
        std::string name(row.strategy->name);
        name.resize(std::max<std::size_t>(name.size() + 1, 12), ' ');
        text += row.strategy == choice.strategy ? "* " : "  ";
        text += name + (row.seconds ? to_text(std::round(*row.seconds * 1000) / 1000) : std::string("-"));
        if (row.transform_length > 0) text += "  transforms of " + to_text(row.transform_length);
        if (!row.cannot.empty()) text += "  cannot: " + row.cannot;
        if (row.cannot.empty() && !row.seconds) text += "  never taken by auto";
        text += "\n";
    }
    return text + "taken: " + std::string(choice.strategy->name) + ", " + choice.reason + "\n";
}

// What a choice depends on; the length of the signal is not of it.
std::string key_of(const conv1d::Problem& p, const device::Device& device) {
    std::string key = device.id();
    for (const Index n : {p.decimate, p.shape.outer, p.shape.inner, static_cast<Index>(p.mode),
                          static_cast<Index>(p.padding), static_cast<Index>(p.in),
                          static_cast<Index>(p.arithmetic), Index{p.complex}, Index{p.scaling.trivial()}})
        key += " " + to_text(n);
    const auto* bytes = reinterpret_cast<const char*>(p.taps.data());
    return key + " " + std::string(bytes, p.taps.size() * sizeof(double));
}

// The choice of `auto` for a batch's files is the same again and again, and weighing transforms takes time.
conv1d::Choice chosen(const conv1d::Problem& problem, const Execution& execution) {
    constexpr std::size_t most = 64;
    static std::mutex mutex;
    static std::map<std::string, conv1d::Choice> known;
    if (execution.strategy != "auto") return conv1d::choose(execution.strategy, problem, execution.device);
    const std::string key = key_of(problem, execution.device);
    {
        const std::scoped_lock lock(mutex);
        if (const auto found = known.find(key); found != known.end()) return found->second;
    }
    const conv1d::Choice choice = conv1d::choose("auto", problem, execution.device);
    const std::scoped_lock lock(mutex);
    if (known.size() >= most) known.clear();
    known.emplace(key, choice);
    return choice;
}

}  // namespace

SampleType arithmetic_of(const Flow& flow, const Execution& execution) {
    return execution.arithmetic(flow.wide || flow.type == SampleType::float64);
}

Planned plan_fir(Fir fir, Flow& flow, const Execution& execution) {
    conv1d::Problem problem;
    problem.taps = std::move(fir.taps);
    problem.mode = fir.mode;
    problem.padding = fir.padding;
    problem.decimate = fir.decimate;
    problem.shape = flow.shape;
    problem.in = flow.type;
    problem.complex = flow.complex;
    problem.scaling = flow.scaling;
    problem.arithmetic = arithmetic_of(flow, execution);
    try {
        conv1d::check(problem);
    } catch (const Error& e) {  // the same, with the file's name
        throw Error(e.fault(), flow.label, e.problem(), e.hint());
    }
    const conv1d::Choice choice = chosen(problem, execution);

    Planned planned;
    planned.stage = conv1d::plan(problem, *choice.strategy, execution.device);
    planned.strategy = choice.strategy->name;
    planned.reason = choice.reason;
    if (execution.explain) planned.explanation = explanation(problem, execution, choice);
    planned.notes = std::move(fir.notes);
    planned.notes.emplace_back("dtype", std::string(name_of(problem.arithmetic)));
    if (problem.decimate > 1) planned.notes.emplace_back("decimate", to_text(problem.decimate));
    if (std::string note = calibration_note();
        execution.device.backend == device::Backend::cpu && !note.empty())
        planned.notes.emplace_back("calibration", std::move(note));
    planned.taps = problem.taps;
    flow_out(flow, problem);
    return planned;
}

}  // namespace convoy::pipelines
