#include "pipelines/scipy.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/placement.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::pipelines {

namespace {

namespace py = python;

std::string indented(const std::string& code, const std::string& by) {
    std::string text;
    for (const std::string& line : split(code, '\n'))
        if (!line.empty()) text += by + line + "\n";
    return text;
}

// Scale factors and offsets, one for all or one a channel.
std::string scaled(const io::Recording& r) {
    const auto factors = [&](const std::vector<double>& values) {
        if (values.size() < 2) return to_text(values.front());
        std::vector<Index> shape(r.dims.size(), 1);
        for (std::size_t a = 0; a < shape.size(); ++a)
            if (static_cast<int>(a) != r.time_axis) shape[a] = r.dims[a];
        return "np.reshape(" + py::list(values) + ", " + py::list(shape) + ")";
    };
    std::string code;
    if (!r.scaling.gain.empty()) code += "x = x * " + factors(r.scaling.gain) + "\n";
    if (!r.scaling.offset.empty()) code += "x = x + " + factors(r.scaling.offset) + "\n";
    return code;
}

std::string channels_taken(const io::Recording& r) {
    if (r.selected.empty() || r.dims.size() != 2) return {};
    return "x = np.take(x, " + py::list(r.selected) + ", axis=" + (r.time_axis == 0 ? "1" : "0") + ")\n";
}

std::string read_hdf5(const io::Recording& r) {
    std::string code =
        "import h5py\n"
        "file, _, path = name.partition(':/')\n"
        "with h5py.File(file, 'r') as f:\n"
        "    x = f['/' + path if path else " +
        py::quoted(r.dataset) +
        "][...]\n"
        "if x.dtype.names:\n"
        "    real, imaginary = x.dtype.names\n"
        "    x = x[real] + 1j * x[imaginary]\n"
        "x = x * 1.0\n";
    return code + channels_taken(r) + scaled(r) + "return x, " + (r.rate ? to_text(*r.rate) : "1.0") + "\n";
}

// Audio: integers of b bits are divided by 2^(b-1).
std::string read_audio(const io::Recording& r) {
    std::string code =
        "from scipy.io import wavfile\n"
        "rate, x = wavfile.read(name)\n"
        "if x.dtype == np.uint8:\n"
        "    x = (x - 128.0) / 128\n"
        "elif x.dtype.kind == 'i':\n"
        "    x = x / 2.0 ** (8 * x.dtype.itemsize - 1)\n"
        "x = x * 1.0\n";
    if (r.dims.size() == 2) code += "if x.ndim == 1:\n    x = x[:, None]\n";
    return code + channels_taken(r) + "return x, " + (r.rate ? "float(rate)" : "1.0") + "\n";
}

struct Body {
    std::string code;
    std::vector<std::string_view> helpers;
    std::size_t steps = 0;
    std::string missing;
};

// Steps one after another, as long as SciPy has them.
Body body_of(const std::vector<StepCall>& steps, Flow flow, const Execution& execution) {
    Body body;
    for (const StepCall& call : steps) {
        const Flow before = flow;
        const Planned planned = call.step->plan(call.params, flow, execution);
        const Python step = call.step->python == nullptr ? Python{{}, "it has nothing like it", {}}
                                                         : call.step->python(call.params, before, planned);
        const std::string title =
            std::string(call.step->name) + (call.place.empty() ? "" : ", " + call.place);
        if (!step.missing.empty()) {
            body.missing = title + ": " + step.missing;
            body.code += "    # " + title + ": not here, since " + step.missing + "\n";
            break;
        }
        body.code += "    # " + title + ": " + extents_text(flow.dims) + "\n" + indented(step.code, "    ");
        for (const std::string_view helper : step.helpers)
            if (std::find(body.helpers.begin(), body.helpers.end(), helper) == body.helpers.end())
                body.helpers.push_back(helper);
        ++body.steps;
    }
    return body;
}

// Of the helpers those that are called: their name is behind "def ".
std::string called(const Body& body) {
    const auto name_of = [](std::string_view helper) {
        return std::string(helper.substr(4, helper.find('(') - 3));
    };
    std::string text, code = body.code;
    for (auto helper = body.helpers.rbegin(); helper != body.helpers.rend(); ++helper)
        if (code.find(name_of(*helper)) != std::string::npos) {
            text = std::string(*helper) + "\n\n" + text;
            code += *helper;
        }
    return text;
}

std::string heading(const std::string& name) {
    return "#!/usr/bin/env python3\n"
           "\"\"\"What " +
           name +
           " asks of convoy, with NumPy and SciPy: in double, each input in memory as a whole.\n\n"
           "    python3 THIS.py [INPUT ...]      writes INPUT's result to STEM.npy in the current folder\n"
           "\"\"\"\n"
           "import sys\n"
           "from pathlib import Path\n\n"
           "import numpy as np\n"
           "from scipy import fft, signal\n\n\n";
}

}  // namespace

SciPyScript scipy_script(const std::vector<JobRequest>& requests, const std::string& name) {
    const JobRequest& first = requests.front();
    const Job job(first);  // checks it all
    const io::Recording& r = job.recording();
    Execution execution;
    execution.device = choose_device("cpu", first.steps, first.input).device;
    execution.dtype = first.options.text("dtype");
    const Body body = body_of(first.steps, flow_of(r), execution);
    std::string inputs;
    for (const JobRequest& request : requests)
        inputs += (inputs.empty() ? "" : ",\n          ") + py::quoted(request.input);
    const bool whole =
        !first.options.given("start") && !first.options.given("end") && !first.options.given("duration");
    const Index from = job.planned().out_first, to = from + job.spec().shape.frames;
    const std::string part = whole || body.steps < first.steps.size()
                                 ? ""
                                 : "    # the part that was asked for, of the first input\n    x = " +
                                       py::slice(job.spec().time_axis, to_text(from) + ":" + to_text(to)) +
                                       "\n";
    SciPyScript script;
    script.steps = body.steps;
    script.missing = body.missing;
    script.text = heading(name) + called(body) +
                  "def read(name):\n    \"\"\"Samples and their rate in Hz.\"\"\"\n" +
                  indented(r.dataset.empty() ? read_audio(r) : read_hdf5(r), "    ") +
                  "\n\ndef pipeline(x, rate):\n    \"\"\"x: " + extents_text(r.dims) +
                  ", rate in Hz.\"\"\"\n" + body.code + part + "    return x, rate\n\n\ninputs = [" + inputs +
                  "]\n\nif __name__ == '__main__':\n"
                  "    for name in sys.argv[1:] or inputs:\n"
                  "        result, rate = pipeline(*read(name))\n"
                  "        output = Path(name.partition(':/')[0]).stem + '.npy'\n"
                  "        np.save(output, result)\n"
                  "        print(f'{output}: {result.shape} at {rate} Hz')\n";
    return script;
}

}  // namespace convoy::pipelines
