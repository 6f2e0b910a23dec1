// What a user should know of the samples that passed.
#include <limits>

#include "core/base/quantity.hpp"
#include "pipelines/job_state.hpp"

namespace convoy::pipelines {

namespace {

bool in_decibels(const StepCall& call) {
    return call.step->name == "spectrogram" && (call.params.given("db") || call.params.given("calibration"));
}

// Decibels of sums of powers: the powers themselves must be held.
bool sums_powers(const StepCall& call) {
    return in_decibels(call) && call.params.text("scaling") != "magnitude" &&
           (call.params.given("average") || call.params.text("frequency-scale") != "linear");
}

}  // namespace

// NaN and Inf are data, and the user should know of them; so are samples that had to be clipped.
void Job::State::warn_of_samples() {
    Index nan = 0, inf = 0;
    for (const stats::Level& level : report.stream.input) {
        nan += level.nan;
        inf += level.inf;
    }
    if (nan + inf > 0)
        warn(report.input.label(), to_text(nan) + " NaN and " + to_text(inf) +
                                       " Inf samples: they spoil the outputs that use them");
    if (spec.marks_nan) warn(spec.path, "NaN is written as -32768, which _FillValue names; int16 has no NaN");
    if (report.clipped > 0)
        warn(spec.path,
             to_text(report.clipped) + " samples were beyond the range of the output and were clipped");
}

// Results that the type of their samples does not hold: those of squares above all (the power of 1e-21 is
// 1e-42). Decibels of silence are -infinity by right.
void Job::State::warn_of_range() const {
    const auto sum = [](const std::vector<stats::Level>& levels) {
        stats::Level all;
        for (const stats::Level& level : levels)
            all.add(level);
        return all;
    };
    const stats::Level in = sum(report.stream.input), out = sum(report.stream.output);
    const bool decibels = std::any_of(request.steps.begin(), request.steps.end(), in_decibels);
    const bool narrow = computed() == SampleType::float32 || spec.type == SampleType::float32;
    const std::string type(name_of(narrow ? SampleType::float32 : SampleType::float64));
    const std::string hint = !narrow                             ? ": scale them first"
                             : computed() == SampleType::float32 ? ": --dtype float64 holds them"
                                                                 : ": --output-dtype float64 holds them";
    const bool arose = !decibels && in.nan + in.inf == 0 && out.nan + out.inf > 0;
    if (arose || (narrow && out.peak > static_cast<double>(std::numeric_limits<float>::max())))
        warn(spec.path, "values of the result are beyond the range of " + type + hint);
    else if (narrow && out.peak < 1e-30 && (out.peak > 0 || (!decibels && in.peak > 0 && in.peak < 1e-15)))
        warn(spec.path, "the largest value of the result is " + to_text(out.peak) +
                            ", and what is below 1e-38 loses its digits in float32" + hint);
    else if (computed() == SampleType::float32 && !request.steps.empty() &&
             sums_powers(request.steps.front()) && in.peak > 0 && (in.peak < 1e-15 || in.peak > 1e15))
        warn(spec.path, "bands and averages are of powers, and those of samples of at most " +
                            to_text(in.peak) + " are beyond what float32 holds" + hint);
}

}  // namespace convoy::pipelines
