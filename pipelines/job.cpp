#include "pipelines/job.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "pipelines/digest.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/sinks.hpp"
#include "pipelines/survival.hpp"

namespace convoy::pipelines {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Index ceil_div(Index a, Index b) {  // b > 0
    return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

// Output frames whose input frame lies in the part.
Span wanted_frames(const Flow& flow, const Part& part) {
    Index first = 0, end = flow.shape.frames;
    if (!part.from_start) first = std::max(first, ceil_div(part.first - flow.time_first, flow.time_step));
    if (!part.to_end) end = std::min(end, ceil_div(part.end - flow.time_first, flow.time_step));
    if (end <= first)
        throw usage_error("the part that is asked for holds no output", "ask for a longer one", flow.label);
    return {first, end - first};
}

// Warnings that name a job's files, for its report; other jobs may run beside it.
class WarningLog {
  public:
    explicit WarningLog(std::vector<std::string> files)
        : files_(std::move(files)), listener_([this](const std::string& where, const std::string& text) {
              const auto ours = [&](const std::string& file) { return where.starts_with(file); };
              if (where.empty() || std::any_of(files_.begin(), files_.end(), ours))
                  lines_.push_back(where.empty() ? text : where + ": " + text);
          }) {}
    const std::vector<std::string>& lines() const { return lines_; }

  private:
    std::vector<std::string> files_, lines_;
    WarningListener listener_;
};

bool is_audio_name(const std::string& path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    return !ending.empty() && ending != ".h5" && ending != ".hdf5" && ending != ".nwb" && ending != ".nc";
}

}  // namespace

struct Job::State {
    explicit State(JobRequest r) : request(std::move(r)), warnings({split_dataset(request.input).path, request.output}) {}

    JobRequest request;
    WarningLog warnings;
    std::unique_ptr<io::Reader> reader;
    Flow flow;
    Chain chain;
    std::vector<double> taps;  // of a single filter step
    PictureRequest picture;    // of the result
    Span wanted;
    io::OutputSpec spec;
    StreamOptions stream;
    std::unique_ptr<Survival> survival;
    io::Writer* file = nullptr;  // the writer behind those that convert and draw
    Cuts cuts;
    JobReport report;

    void open();
    void plan_steps();
    void plan_stream();
    void describe_output();
    void provenance();
    StreamReport pass(io::Writer& writer);
    double full_scale();
    std::unique_ptr<io::Writer> create();
    std::unique_ptr<io::Writer> illustrated(std::unique_ptr<io::Writer> writer);
    void warn_of_samples();
    JobTexts texts() const;
    bool scaled_by_peak() const;
    void look_around();
};

void Job::State::open() {
    const auto start = Clock::now();
    io::OpenOptions options = open_options(request.options);
    options.image = !request.steps.empty() && request.steps.front().step->image;
    reader = io::open(request.input, options);
    report.command = request.command;
    report.input = reader->recording();
    report.lanes_per_channel = report.input.complex ? 2 : 1;
    report.open_s = seconds_since(start);
}

void Job::State::plan_steps() {
    Execution execution;
    execution.device = stream.device;
    execution.strategy = request.options.text("strategy");
    execution.dtype = request.options.text("dtype");
    flow = flow_of(reader->recording());
    for (const StepCall& call : request.steps) {
        Planned planned = call.step->plan(call.params, flow, execution);
        StepReport step{std::string(call.step->name), planned.strategy, planned.reason, planned.notes, planned.explanation,
                        {}, planned.stage->shape(), planned.stage->type()};
        report.steps.push_back(std::move(step));
        if (!picture.file.empty())
            throw usage_error("a picture is drawn of the result of the last step", "move --png there, or leave it out");
        picture = std::move(planned.picture);
        chain.push_back(std::move(planned.stage));
        taps = std::move(planned.taps);
    }
    wanted = wanted_frames(flow, part_of(request.options, reader->recording()));
}

void Job::State::plan_stream() {
    const std::string asked = request.options.text("memory");
    const memory::Choice choice = memory::choose(asked, stream.device);
    stream.memory = choice.mode;
    report.device = stream.device.id();
    report.device_name = stream.device.attributes.name;
    if (stream.device.backend == device::Backend::cpu && request.options.text("device") == "auto")
        report.device_remark = device::gpu_remark();
    report.memory_asked = asked;
    report.memory = choice.mode->name;
    report.memory_reason = choice.reason;
    const bool gpu = stream.device.backend == device::Backend::cuda;
    if (gpu) {
        stream.chunk_bytes = 64u << 20;
        stream.memory_limit = std::size_t{1} << 30;
    }
    stream.memory_limit /= static_cast<std::size_t>(request.share);
    const ChunkRequest chunk = chunk_request(request.options, reader->recording().rate);
    if (chunk.frames > 0) {
        const double ratio = static_cast<double>(flow.shape.frames) / static_cast<double>(report.input.shape.frames);
        stream.chunk_frames = std::max<Index>(1, std::llround(static_cast<double>(chunk.frames) * ratio));
    }
    if (chunk.bytes > 0) {
        stream.chunk_bytes = static_cast<std::size_t>(chunk.bytes);
        stream.memory_limit = std::max(stream.memory_limit, 16 * stream.chunk_bytes);
    }
    stream.hash = request.hash;
    stream.progress = request.progress;
}

void Job::State::describe_output() {
    const Params& o = request.options;
    spec.path = request.output;
    if (std::string ending = o.text("format"); !ending.empty() && request.output != "null") {
        if (!ending.starts_with('.')) ending = "." + ending;
        if (std::filesystem::path(spec.path).extension() != ending) spec.path += ending;
    }
    spec.dataset = o.has("out-dataset") ? o.text("out-dataset") : flow.dataset;
    if (!spec.dataset.starts_with('/')) spec.dataset = "/" + spec.dataset;
    spec.dims = flow.dims;
    spec.dims[static_cast<std::size_t>(flow.time_axis)] = wanted.count;
    spec.time_axis = flow.time_axis;
    spec.shape = flow.shape;
    spec.shape.frames = wanted.count;
    spec.type = chain.back()->type();
    if (const std::string type = o.text("output-dtype"); !type.empty())
        spec.type = type == "int16" ? SampleType::int16 : type == "float64" ? SampleType::float64 : SampleType::float32;
    spec.complex = flow.complex;
    spec.rate = flow.rate;
    spec.axes = flow.axes;
    io::Axis& time = spec.axes[static_cast<std::size_t>(flow.time_axis)];
    time.first += static_cast<double>(wanted.first) * time.step;
    spec.signal = flow.signal;
    spec.time_first = flow.time_first + wanted.first * flow.time_step;
    spec.time_step = flow.time_step;
    spec.source = reader.get();
    spec.raw = o.flag("raw");
    spec.attributes = flow.attributes;
    spec.compression = o.text("compression");
    spec.chunks = o.integers("hdf5-chunks");
    spec.bits = o.text("bits");
    spec.overwrite = o.flag("overwrite");
    spec.sync = o.flag("sync") || o.flag("resume");
    spec.taps = taps;
    report.output = spec.path;
    report.out_dataset = is_audio_name(spec.path) ? "" : spec.dataset;
    report.out_dims = spec.dims;
    report.out_type = std::string(spec.complex ? "complex " : "") + std::string(name_of(spec.type));
    report.out_first = wanted.first;
    report.out_rate = flow.rate;
    if (o.flag("guard") && !is_audio_name(spec.path))
        throw usage_error("--guard is for audio output", "let the output's name end in .wav, or leave --guard out");
    provenance();
}

void Job::State::provenance() {
    const io::Recording& in = report.input;
    const auto note = [&](std::string key, std::string value) {
        if (!value.empty()) spec.provenance.emplace_back(std::move(key), std::move(value));
    };
    note("version", version);
    note("command", request.command);
    note("input", in.path);
    note("input_dataset", in.dataset);
    note("input_bytes", to_text(in.file_bytes));
    note("input_modified", in.modified);
    note("device", report.device_name);
    note("memory", report.memory);
    std::string pipeline;
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        const StepReport& s = report.steps[i];
        pipeline += (i == 0 ? "" : " | ") + s.name;
        for (const std::string& word : request.steps[i].params.words()) pipeline += " " + word;
        const std::string prefix = report.steps.size() == 1 ? "" : s.name + "_" + std::to_string(i + 1) + "_";
        note(prefix + "strategy", s.strategy);
        for (const auto& [key, value] : s.notes) note(prefix + key, value);
    }
    note("pipeline", pipeline);
}

StreamReport Job::State::pass(io::Writer& writer) {
    return run_stream(*reader, chain, wanted, writer, stream);
}

// The largest magnitude of the result, by a pass that writes nothing.
double Job::State::full_scale() {
    const auto nothing = null_writer();
    double peak = 0;
    for (const stats::Level& level : pass(*nothing).output) peak = std::max(peak, level.peak);
    return peak;
}

// Whether the peak of the whole result decides how it is written: audio that must not clip, integers in steps that the
// peak fills. Integers that came as such go out in the steps they came in.
bool Job::State::scaled_by_peak() const {
    if (is_audio_name(spec.path)) return request.options.flag("guard");
    const io::Recording& in = report.input;
    return spec.type == SampleType::int16 &&
           !(flow.signal && in.type == SampleType::int16 && in.scaling.gain.size() <= 1);
}

// What makes the bits of the result, beside the input's samples.
JobTexts Job::State::texts() const {
    JobTexts all{{"version", version}};
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        const StepReport& s = report.steps[i];
        std::string text = s.name + " " + described(request.steps[i].params) + " " + s.strategy;
        for (const auto& [key, value] : s.notes) text += " " + key + "=" + value;
        all.emplace_back("step " + std::to_string(i + 1), text + " " + std::string(name_of(s.type)));
    }
    all.emplace_back("taps", digest_text(digest(taps.data(), taps.size() * sizeof(double))));
    all.emplace_back("options", described(request.options, {"overwrite", "sync", "resume", "device", "memory", "strategy",
                                                            "dtype", "chunk", "threads", "explain"}));
    all.emplace_back("output", spec.dataset + " " + report.out_type);
    all.emplace_back("device", stream.device.backend == device::Backend::cpu ? "cpu" : report.device_name);
    return all;
}

void Job::State::look_around() {
    const Params& o = request.options;
    survival = std::make_unique<Survival>(*reader, chain, wanted);
    if (spec.path == "null") return;
    const bool single_pass = picture.file.empty();
    survival->look(texts(), spec, {o.flag("resume") && single_pass, request.skip_finished, o.flag("overwrite")},
                   single_pass && !scaled_by_peak());
}

std::unique_ptr<io::Writer> Job::State::create() {
    if (spec.path == "null") return null_writer();
    const SampleType computed = chain.back()->type();
    double scale = 1;
    if (is_audio_name(spec.path)) {
        if (scaled_by_peak()) scale = std::max(1.0, full_scale());
    } else if (spec.type == SampleType::int16) {
        const io::Recording& in = report.input;
        if (scaled_by_peak())
            scale = std::max(full_scale(), 1e-300) / 32767;
        else
            scale = in.scaling.gain.empty() ? 1 : std::abs(in.scaling.gain.front());
        spec.scale_factor = scale;
    }
    survival->prepare(spec, stream);
    auto writer = io::create(spec);
    file = writer.get();
    if (is_audio_name(spec.path)) {
        if (scale == 1) return writer;
        return converting_writer(std::move(writer), computed, computed, scale);
    }
    if (spec.type == computed) return writer;
    return converting_writer(std::move(writer), computed, spec.type, scale);
}

std::unique_ptr<io::Writer> Job::State::illustrated(std::unique_ptr<io::Writer> writer) {
    if (picture.file.empty()) return writer;
    if (std::filesystem::exists(picture.file) && !spec.overwrite)
        throw failed(picture.file, "the picture exists already", "give --overwrite or another name");
    const auto folder = std::filesystem::path(picture.file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        throw failed(picture.file, "the folder of the picture does not exist", "make it, or draw elsewhere");
    io::OutputSpec drawn = spec;
    drawn.type = chain.back()->type();
    return illustrating_writer(std::move(writer), drawn, std::filesystem::path(report.input.path).filename().string(),
                               picture);
}

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
    if (report.clipped > 0)
        warn(spec.path, to_text(report.clipped) + " samples were beyond the range of the output and were clipped");
}

Job::Job(JobRequest request) : state_(std::make_unique<State>(std::move(request))) {
    State& s = *state_;
    s.stream.device = device::select(s.request.options.text("device"));
    s.open();
    const auto start = Clock::now();
    s.plan_steps();
    s.plan_stream();
    s.describe_output();
    s.report.plan_s = seconds_since(start);
}

Job::Job(Job&&) noexcept = default;
Job::~Job() = default;

const JobReport& Job::planned() const {
    return state_->report;
}
const Cuts& Job::cuts() const {
    return state_->cuts;
}
const io::OutputSpec& Job::spec() const {
    return state_->spec;
}
const io::Recording& Job::recording() const {
    return state_->reader->recording();
}

std::string recording_date(const std::string& input) {
    const auto reader = io::open(input, {});
    const io::Recording& r = reader->recording();
    return (r.start_time ? *r.start_time : r.modified).substr(0, 10);
}

JobReport Job::run() {
    State& s = *state_;
    const auto start = Clock::now();
    s.look_around();
    s.report.ending = s.survival->ending();
    if (s.report.ending == Ending::skipped) return s.report;
    const auto writer = s.illustrated(s.create());
    const auto journal = s.file ? s.survival->begin(*s.file, s.chain.back()->type(), s.stream) : nullptr;
    s.report.stream = s.pass(*writer);
    s.report.samples_kept = s.survival->samples_kept();
    const auto closing = Clock::now();
    writer->finish();
    s.report.finish_s = seconds_since(closing);
    s.report.clipped = writer->clipped() + s.survival->from().clipped;
    for (std::size_t i = 0; i < s.chain.size(); ++i) s.report.steps[i].facts = s.chain[i]->facts();
    s.warn_of_samples();
    s.report.warnings = s.warnings.lines();
    s.report.total_s = seconds_since(start) + s.report.open_s + s.report.plan_s;
    return s.report;
}

}  // namespace convoy::pipelines
