// The step `spectrogram`: from signals to images, channel x frequency x time.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/spectrum/spectrum.hpp"
#include "core/window/window.hpp"
#include "pipelines/picture.hpp"
#include "pipelines/step.hpp"
#include "pipelines/steps/spectrogram_problem.hpp"
#include "pipelines/steps/spectrogram_python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;
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
     .help = "decibels: 10 log10 of a power, 20 log10 of a magnitude, over REF (default 1; of a power "
             "a square: 400 is 20 µPa)",
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
     .help = "draws the result, with axes and a colour bar; of several inputs {stem}.png"},
    {.name = "png-reduce",
     .kind = Kind::choice,
     .value = "HOW",
     .help = "what a pixel shows of the values that fall on it",
     .fallback = "max",
     .choices = "max,mean"},
};

// "µPa²/Hz", "(m/s)²/Hz", "dB re 1 µPa²/Hz".
std::string units_of(const Params& p, const Problem& problem) {
    const std::string unit = p.given("units") ? p.text("units") : p.given("calibration") ? "µPa" : "";
    const bool squared = spectrum::is_power(problem.quantity);
    const bool per_hertz = problem.quantity == Quantity::density && p.text("frequency-scale") != "decidecade";
    constexpr std::string_view operators[] = {"/", "*", "^", " ", ".", "-", "(", "·", "²", "³"};
    const bool compound = std::any_of(std::begin(operators), std::end(operators), [&](std::string_view word) {
        return unit.find(word) != std::string::npos;
    });
    const std::string square = compound ? "(" + unit + ")²" : unit + "²";
    const std::string tail = (unit.empty() ? "" : " " + (squared ? square : unit)) + (per_hertz ? "/Hz" : "");
    if (problem.decibels) return "dB re " + to_text(problem.decibels->reference) + tail;
    return unit.empty() ? "1" + tail : tail.substr(1);
}

// Triangles that lie between two bins see none of them.
void warn_of_empty_bands(const Problem& problem, const std::string& label) {
    const auto empty = std::count_if(problem.bands.begin(), problem.bands.end(),
                                     [](const spectrum::Band& band) { return band.weights.empty(); });
    if (empty > 0)
        warn(label,
             to_text(static_cast<Index>(empty)) + " of " + to_text(problem.bins()) +
                 " bands lie between bins and are 0 throughout: a larger nfft or fewer bands fill them");
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
    const Index in_first = std::min(frames, problem.transforms());  // the only column may be of fewer
    // The middle of the first frame, or of the frames that are averaged.
    const double centre = static_cast<double>(problem.start(0)) +
                          0.5 * static_cast<double>(problem.window_length()) +
                          0.5 * static_cast<double>((in_first - 1) * problem.hop);
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
    if (p.given("png"))
        pipelines::check_picture_name(p.text("png"));
    else if (p.given("png-reduce"))
        throw usage_error(p.spelled("png-reduce") + " is of pictures", "give --png FILE too");
    Problem problem;
    problem.rate = flow.rate_for("a spectrogram");
    problem.shape = flow.shape;
    problem.in = flow.type;
    problem.complex = flow.complex;
    problem.scaling = flow.scaling;
    problem.arithmetic = execution.arithmetic(flow.wide);
    std::vector<double> frequencies = pipelines::read_spectrogram(p, problem);
    warn_of_empty_bands(problem, flow.label);

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
    "spectrogram", "make spectrogram images: short-time spectra over time",
    params,        plan,
    false,         {},
    false,         pipelines::spectrogram_python};

}  // namespace convoy::step
