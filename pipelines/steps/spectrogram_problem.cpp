#include "pipelines/steps/spectrogram_problem.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/window/window.hpp"

namespace convoy::pipelines {

namespace {

using spectrum::Average;
using spectrum::Problem;
using spectrum::Quantity;

void only_one(const Params& p, std::initializer_list<std::string_view> names) {
    std::string_view first;
    for (const std::string_view name : names) {
        if (!p.given(name)) continue;
        if (!first.empty())
            throw usage_error(p.spelled(first) + " and " + p.spelled(name) + " exclude each other",
                              "give one of them");
        first = name;
    }
}

Index hop_of(const Params& p, Index nfft, Index length) {
    only_one(p, {"hop", "noverlap", "overlap"});
    if (const auto hop = p.integer_if("hop")) return *hop;
    Index shared = 0;
    if (const auto n = p.integer_if("noverlap")) {
        shared = *n;
    } else if (p.given("overlap")) {
        std::string text = p.text("overlap");
        const bool percent = text.ends_with('%');
        if (percent) text.pop_back();
        const auto value = parse_number(text);
        const double share = value.value_or(-1) / (percent ? 100 : 1);
        if (!(share >= 0 && share < 1))
            throw usage_error(p.spelled("overlap") + " '" + p.text("overlap") + "' is no share of a frame",
                              "write 50% or 0.5");
        shared = std::llround(share * static_cast<double>(length));
        shared = std::min(shared, length - 1);
    } else {
        return std::max<Index>(nfft / 4, 1);
    }
    if (shared < 0 || shared >= length)
        throw usage_error(p.spelled("noverlap") + " " + to_text(shared) +
                              " is not below the window's length " + to_text(length),
                          "give a smaller one");
    return length - shared;
}

Quantity quantity_of(const std::string& name) {
    if (name == "spectrum") return Quantity::spectrum;
    if (name == "magnitude") return Quantity::magnitude;
    if (name == "power") return Quantity::power;
    if (name == "complex") return Quantity::complex;
    return Quantity::density;
}

Padding padding_of(const std::string& name) {
    if (name == "reflect") return Padding::reflect;
    if (name == "edge") return Padding::edge;
    return name == "odd" ? Padding::odd : Padding::zero;
}

void frames_of(const Params& p, Problem& problem) {
    only_one(p, {"window-length", "nperseg"});
    only_one(p, {"center", "no-center"});
    const auto segment = p.integer_if("nperseg");
    problem.nfft = p.integer_if("nfft").value_or(segment.value_or(1024));
    const Index length = p.integer_if("window-length").value_or(segment.value_or(problem.nfft));
    if (problem.nfft < 1)
        throw usage_error(p.spelled("nfft") + " must be 1 or more, not " + to_text(problem.nfft));
    if (length < 1 || length > problem.nfft)
        throw usage_error("a window of " + to_text(length) + " samples does not fit into " +
                              p.spelled("nfft") + " " + to_text(problem.nfft),
                          "choose a length from 1 to nfft");
    // Before the work for it: tables of a length far beyond the signal's would not fit into memory.
    constexpr Index ordinary = Index{1} << 24;
    if (problem.nfft > ordinary && problem.nfft / 2 > problem.shape.frames)
        throw usage_error("the signal of " + to_text(problem.shape.frames) +
                              " samples is shorter than one frame of " + to_text(problem.nfft) + " samples",
                          "choose a smaller --nfft");
    problem.window = window::make(p.text("window"), length, window::Symmetry::periodic);
    problem.hop = hop_of(p, problem.nfft, length);
    problem.centered = p.flag("center");
    if (p.given("padding") && !problem.centered)
        throw usage_error(p.spelled("padding") + " has nothing to pad: frames are not centred",
                          "give --center too");
    problem.padding = padding_of(p.text("padding"));
    problem.detrend = p.text("detrend") == "constant";
    problem.quantity = quantity_of(p.text("scaling"));
}

// Bands and the frequencies of the rows.
std::vector<double> frequencies_of(const Params& p, Problem& problem) {
    const spectrum::Axis axis{problem.nfft, problem.rate, problem.complex, p.number_if("fmin"),
                              p.number_if("fmax")};
    const std::string name = p.text("frequency-scale");
    if (p.given("mel") && name != "mel")
        throw usage_error(p.spelled("mel") + " goes with --frequency-scale mel only", "leave it out");
    if (p.given("bins") && name != "mel" && name != "log")
        throw usage_error(p.spelled("bins") + " goes with --frequency-scale mel and log only",
                          "leave it out");
    if (problem.quantity == Quantity::complex && name != "linear")
        throw usage_error("--frequency-scale " + name + " of complex values has no meaning",
                          "choose --scaling density, spectrum, magnitude or power");
    const Index count = p.integer_if("bins").value_or(128);
    spectrum::Scale scale;
    if (name == "mel") {
        scale = spectrum::mel_bands(axis, count,
                                    p.text("mel") == "htk" ? spectrum::Mel::htk : spectrum::Mel::slaney);
    } else if (name == "log") {
        scale = spectrum::log_bands(axis, count);
    } else if (name == "decidecade") {
        double sum = 0, squares = 0;
        for (const double w : problem.window) {
            sum += w;
            squares += w * w;
        }
        if (problem.quantity != Quantity::density && problem.quantity != Quantity::spectrum)
            throw usage_error("decidecades hold the power within a band",
                              "choose --scaling density or spectrum");
        const double bandwidth =
            problem.quantity == Quantity::density ? 1 : problem.rate * squares / (sum * sum);
        scale = spectrum::decidecade_bands(axis, axis.spacing() / bandwidth);
    } else {
        scale = spectrum::linear_bins(axis);
        if (static_cast<Index>(scale.bands.size()) == axis.bins()) scale.bands.clear();
    }
    problem.bands = std::move(scale.bands);
    return std::move(scale.centres);
}

void average_of(const Params& p, Problem& problem) {
    const auto time = p.time_if("average");
    if (!time) {
        if (p.given("average-kind"))
            throw usage_error(p.spelled("average-kind") + " needs a time to average over",
                              "give --average TIME");
        return;
    }
    if (time->unit == Time::Unit::absolute)
        throw usage_error(p.spelled("average") + " is a length of time, not a date", "write 60s");
    const double samples = time->value * (time->unit == Time::Unit::seconds ? problem.rate : 1);
    const double frames = std::round(samples / static_cast<double>(problem.hop));
    if (!(frames >= 1 && frames < 1e15))
        throw usage_error(p.spelled("average") + " " + p.text("average") + " holds no frame: they are " +
                              to_text(static_cast<double>(problem.hop) / problem.rate) + " s apart",
                          "give a longer time or a smaller --hop");
    Average average;
    average.frames = static_cast<Index>(frames);
    const std::string kind = p.text("average-kind");
    const auto percent =
        kind.starts_with('p') ? parse_number(std::string_view(kind).substr(1)) : std::nullopt;
    if (kind == "median" || percent) {
        average.kind = Average::Kind::percentile;
        average.percent = percent.value_or(50);
    } else if (kind == "max") {
        average.kind = Average::Kind::max;
    } else if (kind != "mean") {
        throw usage_error(p.spelled("average-kind") + " '" + kind + "' is not one of mean, median, max, p95");
    }
    problem.average = average;
}

void decibels_of(const Params& p, Problem& problem) {
    const std::string reference = p.text("db");
    const bool wanted = p.given("db") && reference != "false";
    if (!wanted && !p.given("calibration")) {
        if (p.given("db-floor"))
            throw usage_error(p.spelled("db-floor") + " is of decibels", "give --db too");
        return;
    }
    spectrum::Decibels decibels;
    if (!reference.empty() && reference != "true" && reference != "false") {
        const auto value = parse_number(reference);
        if (!value) throw usage_error(p.spelled("db") + " '" + reference + "' is not a number");
        decibels.reference = *value;
    }
    decibels.offset = p.number_if("calibration").value_or(0);
    if (const auto floor = p.number_if("db-floor")) decibels.floor = *floor;
    problem.decibels = decibels;
}

}  // namespace

std::vector<double> read_spectrogram(const Params& params, spectrum::Problem& problem) {
    frames_of(params, problem);
    std::vector<double> frequencies = frequencies_of(params, problem);
    average_of(params, problem);
    decibels_of(params, problem);
    return frequencies;
}

}  // namespace convoy::pipelines
