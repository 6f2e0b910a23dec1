// The script of a pipeline beside the pipeline itself, on the first samples of an input.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "io/file.hpp"
#include "io/npy.hpp"
#include "pipelines/chain_plan.hpp"
#include "pipelines/placement.hpp"
#include "pipelines/program.hpp"
#include "pipelines/scipy.hpp"
#include "pipelines/views.hpp"

namespace convoy::pipelines {

namespace {

namespace fs = std::filesystem;

// Both results as arrays; complex values have a last axis of two in ours.
constexpr int without_scipy = 77;
constexpr const char* comparison = R"(
import runpy, sys
try:
    import numpy as np, scipy.signal
except ImportError:
    sys.exit(77)
script, given, rate, ours, complex_in, complex_out, decibels = sys.argv[1:]
x, y = np.load(given), np.load(ours)
if complex_in == '1':
    x = x[..., 0] + 1j * x[..., 1]
if complex_out == '1':
    y = y[..., 0] + 1j * y[..., 1]
z, _ = runpy.run_path(script)['pipeline'](x, float(rate))
z = np.asarray(z)
if z.shape != y.shape:
    sys.exit(f'its result is {z.shape}, and ours {y.shape}')
both = np.isfinite(y) & np.isfinite(z)
if np.any(np.isnan(y) != np.isnan(z)):
    sys.exit('its result has NaN elsewhere than ours')
y, z = y[both], z[both]
largest = np.max(np.abs(y - z), initial=0)
peak = np.max(np.abs(z), initial=0)
if decibels != '0':
    y, z = 10 ** (y / float(decibels)), 10 ** (z / float(decibels))
top = np.max(np.abs(z), initial=0)
print(largest, peak, np.max(np.abs(y - z), initial=0) / top if top > 0 else 0.0)
)";

// A folder that goes with what is in it.
class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "convoy-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw failed(name, "cannot be made: " + system_error_text(errno),
                         "set TMPDIR to a folder with room");
        path_ = name;
    }
    Folder(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

// Runs the comparison with the first Python that has what it needs.
Ended run_python(std::vector<std::string> words, std::string& python) {
    std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
    if (const char* named = std::getenv("PYTHON"); named != nullptr && *named != '\0') candidates = {named};
    std::string tried;
    for (const std::string& candidate : candidates) {
        words.front() = python = candidate;
        Ended ended = run_program(words, true);
        if (ended.status >= 0 && ended.status != without_scipy && ended.status != 127) return ended;
        tried += (tried.empty() ? "" : ", ") + candidate;
    }
    throw failed("--check-scipy", "no Python with NumPy and SciPy was found (tried " + tried + ")",
                 "install python3-scipy, or name one by the variable PYTHON");
}

// Keeps what it is given, in double.
class ArrayWriter : public io::Writer {
  public:
    ArrayWriter(Shape shape, SampleType type)
        : values(static_cast<std::size_t>(shape.samples())), shape_(shape), type_(type) {}
    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        dispatch(type_, [&](auto zero) {
            using T = decltype(zero);
            const auto* from = reinterpret_cast<const T*>(src);
            for (Index o = 0; o < lanes.outer_count; ++o)
                for (Index f = 0; f < span.count; ++f)
                    for (Index i = 0; i < lanes.inner_count; ++i)
                        values[static_cast<std::size_t>(
                            ((lanes.outer_first + o) * shape_.frames + span.first + f) * shape_.inner +
                            lanes.inner_first + i)] =
                            static_cast<double>(from[(o * pitch + f) * lanes.inner_count + i]);
        });
    }
    void finish() override {}

    std::vector<double> values;

  private:
    Shape shape_;
    SampleType type_;
};

// Samples as steps see them: scale factors applied.
std::vector<double> read_all(io::Reader& input) {
    const io::Recording& r = input.recording();
    std::vector<std::byte> raw(static_cast<std::size_t>(r.shape.samples() * bytes_of(r.type)));
    input.read({0, r.shape.frames}, Lanes::all(r.shape), raw.data(), r.shape.frames);
    ArrayWriter values(r.shape, r.type);
    values.write({0, r.shape.frames}, Lanes::all(r.shape), raw.data(), r.shape.frames);
    const Index parts = r.complex ? 2 : 1, inner = r.shape.inner / parts;
    const auto factor = [](const std::vector<double>& list, Index channel, double none) {
        return list.empty() ? none : list[list.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
    };
    for (Index k = 0; k < r.shape.samples(); ++k) {
        const Index channel = k / (r.shape.frames * r.shape.inner) * inner + k % r.shape.inner / parts;
        double& value = values.values[static_cast<std::size_t>(k)];
        value *= factor(r.scaling.gain, channel, 1);
        if (k % parts == 0) value += factor(r.scaling.offset, channel, 0);
    }
    return std::move(values.values);
}

io::Array array_of(std::vector<Index> dims, bool complex, std::vector<double> values) {
    if (complex) dims.push_back(2);
    return {std::move(dims), std::move(values)};
}

}  // namespace

SciPyCheck check_scipy(const JobRequest& request, const SciPyScript& script) {
    if (script.steps == 0)
        throw failed("--check-scipy", "SciPy has none of the steps: " + script.missing,
                     "there is nothing to compare");
    const Folder folder;
    SciPyCheck check;
    io::OpenOptions options = open_options(request.options);
    open_as_image(options, request.steps);
    const auto reader = io::open(request.input, options);
    constexpr Index most_frames = 1 << 18, most_samples = 1 << 22;
    const Shape& all = reader->recording().shape;
    check.frames = std::min({all.frames, most_frames, std::max<Index>(4096, most_samples / all.lanes())});
    const auto slice = part_reader(*reader, {0, check.frames});
    const std::vector<StepCall> steps(request.steps.begin(),
                                      request.steps.begin() + static_cast<std::ptrdiff_t>(script.steps));
    Execution execution;
    execution.device = device::cpu();
    execution.strategy = "auto";
    execution.dtype = request.options.text("dtype");
    ChainPlan plan = plan_chain(*slice, steps, execution, {});
    StreamOptions stream;
    stream.device = execution.device;
    stream.memory = memory::choose("auto", stream.device).mode;
    ArrayWriter result(plan.chain.back()->shape(), plan.chain.back()->type());
    learn(plan, stream);
    run_stream(*plan.input, plan.chain, plan.wanted, result, stream);

    const io::Recording& r = slice->recording();
    check.shape = plan.flow.dims;
    io::write_npy(folder.file("given.npy"), array_of(r.dims, r.complex, read_all(*slice)));
    io::write_npy(folder.file("ours.npy"),
                  array_of(plan.flow.dims, plan.flow.complex, std::move(result.values)));
    std::ofstream(folder.file("script.py")) << script.text;
    std::string decibels = "0";
    for (const auto& [name, value] : plan.flow.attributes)
        if (name == "units" && value.starts_with("dB")) decibels = "10";
    for (const auto& [name, value] : plan.flow.attributes)
        if (name == "scaling" && value == "magnitude" && decibels != "0") decibels = "20";
    const Ended ended = run_python({"", "-c", comparison, folder.file("script.py"), folder.file("given.npy"),
                                    to_text(r.rate.value_or(1)), folder.file("ours.npy"),
                                    r.complex ? "1" : "0", plan.flow.complex ? "1" : "0", decibels},
                                   check.python);
    const auto words = split(ended.text.substr(0, ended.text.find_last_not_of(" \n") + 1), ' ');
    const auto number = [&](std::size_t i) {
        return words.size() == 3 ? parse_number(words[i]) : std::nullopt;
    };
    if (ended.status != 0 || !number(0) || !number(1) || !number(2)) {
        std::string last = ended.text.substr(0, ended.text.find_last_not_of(" \n") + 1);
        last = last.substr(last.rfind('\n') + 1);
        throw failed("--check-scipy", check.python + " could not run the script: " + last,
                     "write it to a file with --emit-scipy, and run it by hand");
    }
    check.largest = *number(0), check.peak = *number(1), check.relative = *number(2);
    return check;
}

}  // namespace convoy::pipelines
