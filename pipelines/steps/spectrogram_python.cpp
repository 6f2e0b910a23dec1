#include "pipelines/steps/spectrogram_python.hpp"

#include "core/spectrum/spectrum.hpp"
#include "pipelines/steps/python.hpp"
#include "pipelines/steps/spectrogram_problem.hpp"

namespace convoy::pipelines {

namespace {

constexpr std::string_view definition =
    R"(def spectrogram(x, rate, window, nfft, hop, scaling, axis, center=None, detrend=False):
    """Short-time spectra, ... x frequency x time; two-sided from -rate / 2 up where x is complex."""
    x = np.moveaxis(x, axis, -1)
    if x.size == x.shape[-1]:
        x = x.reshape(-1)
    lead, length = 0, len(window)
    if center is not None:
        x = extend(x, nfft // 2, nfft // 2, center, -1)
        lead, length = (nfft - len(window)) // 2, nfft
    frames = np.lib.stride_tricks.sliding_window_view(x, length, axis=-1)[..., ::hop, lead:lead + len(window)]
    if detrend:
        frames = frames - frames.mean(axis=-1, keepdims=True)
    frames = np.concatenate([np.zeros(frames.shape[:-1] + (lead,)), frames * window], axis=-1)
    if np.iscomplexobj(x):
        y = fft.fftshift(fft.fft(frames, nfft), axes=-1)
    else:
        y = fft.rfft(frames, nfft)
    if scaling in ('density', 'spectrum'):
        y = np.abs(y) ** 2 / (rate * np.sum(window ** 2) if scaling == 'density' else np.sum(window) ** 2)
        if not np.iscomplexobj(x):
            y[..., 1:nfft // 2 + nfft % 2] *= 2
    elif scaling == 'power':
        y = np.abs(y) ** 2
    elif scaling == 'magnitude':
        y = np.abs(y)
    return np.moveaxis(y, -1, -2)
)";

}  // namespace

Python spectrogram_python(const Params& p, const Flow& in, const Planned&) {
    namespace py = python;
    if (p.text("frequency-scale") != "linear")
        return {{}, "it has no " + p.text("frequency-scale") + " bands of frequencies"};
    if (p.given("average")) return {{}, "it has no averages over columns"};
    spectrum::Problem problem;
    problem.shape = in.shape;
    problem.rate = in.rate.value_or(1);
    problem.complex = in.complex;
    read_spectrogram(p, problem);
    const std::string nfft = to_text(problem.nfft);
    std::string code = "window = signal.get_window(" + py::window(p.text("window")) + ", " +
                       to_text(problem.window_length()) + ")\nx = spectrogram(x, rate, window, nfft=" + nfft +
                       ", hop=" + to_text(problem.hop) + ", scaling=" + py::quoted(p.text("scaling")) +
                       ", axis=" + std::to_string(in.time_axis);
    if (problem.centered) code += ", center=" + py::quoted(p.text("padding"));
    code += problem.detrend ? ", detrend=True)\n" : ")\n";
    if (!problem.bands.empty()) {  // a part of the bins
        const std::string frequencies = in.complex ? "fft.fftshift(fft.fftfreq(" + nfft + ", 1 / rate))"
                                                   : "fft.rfftfreq(" + nfft + ", 1 / rate)";
        code += "f = " + frequencies + "\nslack = 1e-9 * rate / " + nfft +
                "\nx = x[..., (f >= " + (p.given("fmin") ? to_text(p.number("fmin")) : "-np.inf") +
                " - slack) & (f <= " + (p.given("fmax") ? to_text(p.number("fmax")) : "np.inf") +
                " + slack), :]\n";
    }
    if (const auto& db = problem.decibels) {
        const std::string factor = spectrum::is_power(problem.quantity) ? "10" : "20";
        code += "with np.errstate(divide='ignore'):\n    x = " + factor + " * np.log10(x / " +
                to_text(db->reference) + ") + " + to_text(db->offset) + "\n";
        if (p.given("db-floor")) code += "x = np.maximum(x, " + to_text(db->floor) + ")\n";
    }
    return {code, {}, {py::extend, definition}};
}

}  // namespace convoy::pipelines
