// The step `spectrogram`: from signals to images, channel x frequency x time.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/spectrum/spectrum.hpp"
#include "core/window/window.hpp"
#include "pipelines/step.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;
using spectrum::Average;
using spectrum::Problem;
using spectrum::Quantity;

constexpr Param params[] = {
    {.name = "window",
     .kind = Kind::text,
     .value = "NAME[,PARAM]",
     .help = "as scipy.signal.get_window names them, periodic",
     .fallback = "hann"},
    {.name = "nfft",
     .kind = Kind::integer,
     .value = "N",
     .help = "length of the transform (default 1024)",
     .also = "n-fft"},
    {.name = "hop",
     .kind = Kind::integer,
     .value = "N",
     .help = "samples from frame to frame (default nfft / 4)",
     .also = "hop-length"},
    {.name = "window-length",
     .kind = Kind::integer,
     .value = "N",
     .help = "samples under the window; shorter than nfft: padded with zeros (default nfft)",
     .also = "win-length"},
    {.name = "nperseg",
     .kind = Kind::integer,
     .value = "N",
     .help = "as in SciPy: the window's length, and nfft's where that is not given"},
    {.name = "noverlap",
     .kind = Kind::integer,
     .value = "N",
     .help = "as in SciPy: samples that neighbouring frames share, instead of --hop"},
    {.name = "overlap",
     .kind = Kind::text,
     .value = "PERCENT",
     .help = "the same as a share of the window: 50%"},
    {.name = "center", .kind = Kind::flag, .help = "frame m is centred at sample m hop; the ends are padded"},
    {.name = "no-center", .kind = Kind::flag, .help = "frame m starts at sample m hop (default)"},
    {.name = "padding",
     .kind = Kind::choice,
     .value = "WHAT",
     .help = "what lies beyond the ends of centred frames",
     .fallback = "zero",
     .choices = "zero,reflect,edge,odd"},
    {.name = "detrend",
     .kind = Kind::choice,
     .value = "HOW",
     .help = "takes each frame's mean off first",
     .fallback = "none",
     .choices = "none,constant"},
    {.name = "scaling",
     .kind = Kind::choice,
     .value = "WHAT",
     .help =
         "density abs(X)^2 / (fs sum w^2) and spectrum abs(X)^2 / (sum w)^2, doubled off 0 Hz and Nyquist; "
         "magnitude abs(X), power abs(X)^2, complex X",
     .fallback = "density",
     .choices = "density,spectrum,magnitude,power,complex"},
    {.name = "db",
     .kind = Kind::text,
     .value = "REF",
     .help = "decibels: 10 log10 of a power, 20 log10 of a magnitude, over REF (default 1)",
     .optional_value = true},
    {.name = "db-floor",
     .kind = Kind::number,
     .value = "DB",
     .help = "the lowest level, in place of -inf for zeros"},
    {.name = "frequency-scale",
     .kind = Kind::choice,
     .value = "WHAT",
     .help = "bins as they are, or bands: triangles (mel), of equal ratio (log), IEC 61260-1 (decidecade)",
     .fallback = "linear",
     .choices = "linear,mel,log,decidecade"},
    {.name = "bins", .kind = Kind::integer, .value = "N", .help = "bands of mel and log (default 128)"},
    {.name = "fmin", .kind = Kind::number, .value = "HZ", .help = "lowest frequency"},
    {.name = "fmax", .kind = Kind::number, .value = "HZ", .help = "highest frequency"},
    {.name = "mel",
     .kind = Kind::choice,
     .value = "FORMULA",
     .help = "of the mel scale",
     .fallback = "slaney",
     .choices = "slaney,htk"},
    {.name = "average", .kind = Kind::time, .value = "TIME", .help = "one column for all within this time"},
    {.name = "average-kind",
     .kind = Kind::text,
     .value = "KIND",
     .help = "mean, median, max, or a percentile: p95",
     .fallback = "mean"},
    {.name = "calibration",
     .kind = Kind::number,
     .value = "DB",
     .help = "level of full scale, in dB re 1 of --units (default µPa); the result is in decibels"},
    {.name = "units", .kind = Kind::text, .value = "UNIT", .help = "what samples are measured in"},
    {.name = "png",
     .kind = Kind::text,
     .value = "FILE",
     .help = "draws the result, with axes and a colour bar"},
    {.name = "png-reduce",
     .kind = Kind::choice,
     .value = "HOW",
     .help = "what a pixel shows of the values that fall on it",
     .fallback = "max",
     .choices = "max,mean"},
};

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

// "µPa²/Hz", "dB re 1 µPa²/Hz".
std::string units_of(const Params& p, const Problem& problem) {
    const std::string unit = p.given("units") ? p.text("units") : p.given("calibration") ? "µPa" : "";
    const bool squared = spectrum::is_power(problem.quantity);
    const bool per_hertz = problem.quantity == Quantity::density && p.text("frequency-scale") != "decidecade";
    const std::string tail =
        (unit.empty() ? "" : " " + unit + (squared ? "²" : "")) + (per_hertz ? "/Hz" : "");
    if (problem.decibels) return "dB re " + to_text(problem.decibels->reference) + tail;
    return unit.empty() ? "1" + tail : tail.substr(1);
}

// The shape and axes of what comes out.
void flow_out(Flow& flow, const Problem& problem, std::vector<double> frequencies) {
    const io::Axis time = flow.axes[static_cast<std::size_t>(flow.time_axis)];
    std::vector<Index> dims;
    std::vector<io::Axis> axes;
    if (problem.channels() > 1)
        for (std::size_t i = 0; i < flow.dims.size(); ++i) {
            if (static_cast<int>(i) == flow.time_axis) continue;
            dims.push_back(flow.dims[i]);
            axes.push_back(flow.axes[i]);
        }
    dims.push_back(problem.bins());
    axes.push_back({"frequency", "Hz", 0, 1, std::move(frequencies)});
    const Index frames = problem.average ? problem.average->frames : 1;
    // The middle of the first frame, or of the frames that are averaged.
    const double centre = static_cast<double>(problem.start(0)) +
                          0.5 * static_cast<double>(problem.window_length()) +
                          0.5 * static_cast<double>((frames - 1) * problem.hop);
    const double step = static_cast<double>(frames * problem.hop);
    dims.push_back(problem.outputs());
    axes.push_back({"time", time.units, time.first + centre * time.step, step * time.step, {}});

    flow.time_first += static_cast<Index>(std::floor(centre)) * flow.time_step;
    flow.time_step *= frames * problem.hop;
    flow.dims = std::move(dims);
    flow.axes = std::move(axes);
    flow.time_axis = static_cast<int>(flow.dims.size()) - 1;
    flow.shape = {problem.channels() * problem.bins(), problem.outputs(), problem.parts()};
    flow.type = problem.arithmetic;
    flow.complex = problem.quantity == Quantity::complex;
    flow.wide = problem.arithmetic == SampleType::float64;
    flow.scaling = {};
    flow.dataset = "/spectrogram";
    flow.signal = false;
}

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    if (!flow.signal)
        throw usage_error("a spectrogram is made of signals, and this is an image already",
                          "put the step spectrogram before conv2d", flow.label);
    Problem problem;
    frames_of(p, problem);
    problem.rate = flow.rate_for("a spectrogram");
    problem.shape = flow.shape;
    problem.in = flow.type;
    problem.complex = flow.complex;
    problem.scaling = flow.scaling;
    const bool wide = execution.dtype.empty() ? flow.wide : execution.dtype == "float64";
    problem.arithmetic = wide ? SampleType::float64 : SampleType::float32;
    std::vector<double> frequencies = frequencies_of(p, problem);
    average_of(p, problem);
    decibels_of(p, problem);

    Planned planned;
    try {
        planned.stage = spectrum::plan(problem, execution.device);
    } catch (const Error& e) {  // the same, with the file's name
        throw Error(e.fault(), flow.label, e.problem(), e.hint());
    }
    const std::string window = window::parse(p.text("window")).text();
    flow.attributes = {{"units", units_of(p, problem)},
                       {"scaling", p.text("scaling")},
                       {"window", window},
                       {"nfft", to_text(problem.nfft)},
                       {"hop", to_text(problem.hop)},
                       {"window_length", to_text(problem.window_length())},
                       {"centered", problem.centered ? "true" : "false"},
                       {"frequency_scale", p.text("frequency-scale")}};
    if (problem.average) {
        flow.attributes.emplace_back("average_frames", to_text(problem.average->frames));
        flow.attributes.emplace_back("average_kind", p.text("average-kind"));
    }
    if (p.given("calibration")) flow.attributes.emplace_back("calibration_db", p.text("calibration"));
    planned.notes = flow.attributes;
    planned.notes.emplace_back("bins", to_text(problem.bins()));
    planned.notes.emplace_back("frames", to_text(problem.outputs()));
    planned.notes.emplace_back("dtype", std::string(name_of(problem.arithmetic)));
    planned.picture = {p.text("png"), p.text("png-reduce") == "mean"};
    flow_out(flow, problem, std::move(frequencies));
    return planned;
}

}  // namespace

extern constinit const Step spectrogram{
    "spectrogram", "make spectrogram images: short-time spectra over time", params, plan};

}  // namespace convoy::step
