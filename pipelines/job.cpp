#include "pipelines/job.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "pipelines/gaps.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/placement.hpp"
#include "pipelines/provenance.hpp"
#include "pipelines/result.hpp"
#include "pipelines/saving.hpp"
#include "pipelines/sinks.hpp"
#include "pipelines/survival.hpp"
#include "pipelines/views.hpp"

namespace convoy::pipelines {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
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

// Whether a file is there that tells which of convoy's jobs made it.
bool is_ours(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && !io::identity_in(path).empty();
}

}  // namespace

struct Job::State {
    explicit State(JobRequest r)
        : request(std::move(r)), warnings({split_dataset(request.input).path, request.output}) {}

    JobRequest request;
    WarningLog warnings;
    std::unique_ptr<io::Reader> reader;
    Joined joined;
    ChainPlan plan;                 // between gaps: of the piece at work
    std::optional<GapSplit> split;  // where --gaps split found any
    io::OutputSpec spec;
    std::vector<io::OutputSpec> saved;  // of intermediate results
    StreamOptions stream;
    std::unique_ptr<Survival> survival;
    io::Writer* file = nullptr;  // the writer behind those that convert and draw
    Cuts cuts;
    JobReport report;

    // Planning, in this order.
    void open();
    void plan_steps(const device::Device& device);
    void plan_stream(const DeviceChoice& device);
    void plan_output();

    // What earlier runs left.
    void look_around();

    // The work.
    SampleType computed() const { return plan.chain.back()->type(); }
    Index outputs() const { return spec.shape.frames; }
    StreamReport pass(io::Writer& writer);
    bool told_by_what_is_stored() const;
    bool scaled_by_peak() const;
    struct Extremes {
        double peak = 0;
        bool nan = false;
    };
    Extremes extremes();
    double guard_scale();
    double output_scale();
    std::unique_ptr<io::Writer> create_file();
    std::unique_ptr<io::Writer> create();
    std::unique_ptr<io::Writer> illustrated(std::unique_ptr<io::Writer> writer);
    std::unique_ptr<Saving> save(bool ordered);
    void warn_of_samples();
    void warn_of_range() const;
    double trial(Index items);
};

void Job::State::open() {
    const auto start = Clock::now();
    io::OpenOptions options = open_options(request.options);
    open_as_image(options, request.steps);
    reader = io::open(request.input, options);
    joined = {{0}, {reader.get()}};
    if (!request.joined.empty()) {
        std::vector<std::unique_ptr<io::Reader>> all;
        all.push_back(std::move(reader));
        for (const std::string& input : request.joined) {
            joined.firsts.push_back(joined.firsts.back() + all.back()->recording().shape.frames);
            all.push_back(io::open(input, options));
            joined.readers.push_back(all.back().get());
        }
        reader = joined_reader(std::move(all));
    }
    if (request.scope != Scope::file) reader = request.ram->reader(std::move(reader), request.scope);
    if ((!request.joined.empty() || !request.split.empty()) && request.options.flag("resume"))
        throw usage_error("--resume does not go with --join and --split", "leave one of them out",
                          request.input);
    warn_of_idle_options(request.options, reader->recording());
    report.command = request.command;
    report.request = request_json(request);
    report.input = reader->recording();
    report.lanes_per_channel = report.input.complex ? 2 : 1;
    report.open_s = seconds_since(start);
}

void Job::State::plan_steps(const device::Device& device) {
    const Params& o = request.options;
    Execution execution;
    execution.device = device;
    execution.strategy = o.text("strategy");
    execution.dtype = o.text("dtype");
    execution.explain = o.flag("explain");
    const io::Recording& in = reader->recording();
    const Part part = part_of(o, in);
    if (in.gaps.empty() || o.text("gaps") != "split") {
        plan = plan_chain(*reader, request.steps, execution, part);
        return;
    }
    if (o.flag("resume"))
        throw usage_error("--resume does not go with --gaps split", "leave one of them out", in.label());
    if (!request.split.empty())
        throw usage_error("--split does not go with --gaps split", "give --gaps ignore", request.input);
    split = cut_at_gaps(
        in,
        [this, execution, part](Span piece) {
            return plan_piece(*reader, piece, request.steps, execution, part);
        },
        plan);
}

void Job::State::plan_stream(const DeviceChoice& device) {
    const std::string asked = request.options.text("memory");
    const memory::Choice choice = memory::choose(asked, device.device);
    report.device = device.device.id();
    report.device_name = device.device.attributes.name;
    report.device_remark = device.remark;
    report.memory_asked = asked;
    report.memory = choice.mode->name;
    report.memory_reason = choice.reason;
    stream = stream_options(request.options, device.device, request.share, report.input, plan.flow);
    stream.memory = choice.mode;
    stream.hash = request.hash;
    stream.levels = request.scope != Scope::link;
    stream.one_pass = std::any_of(plan.saved.begin(), plan.saved.end(),
                                  [](const Saved& s) { return io::writes_audio(s.path); });
    stream.progress = request.progress;
}

void Job::State::plan_output() {
    const Flow& flow = split ? split->whole : plan.flow;
    const Span part = split ? Span{0, flow.shape.frames} : plan.wanted;
    spec = describe_result(flow, computed(), part, request.output, request.options, *reader);
    spec.taps = plan.taps;
    report.steps = plan.steps;
    report.output = spec.path;
    report.out_dataset = io::writes_audio(spec.path) ? "" : spec.dataset;
    if (split && io::writes_audio(spec.path))
        warn(spec.path, "audio has no place for times: the pieces between " +
                            to_text(static_cast<Index>(report.input.gaps.size())) +
                            " gaps follow one another as if there were none; HDF5 keeps the times");
    report.out_dims = spec.dims;
    report.out_type = std::string(spec.complex ? "complex " : "") + std::string(name_of(spec.type));
    report.out_first = part.first;
    report.out_rate = plan.flow.rate;
    cuts = stream_cuts(*plan.input, plan.chain, plan.wanted, io::writes_audio(spec.path), stream);
    if (cuts.total_bytes() > stream.memory_limit && !request.options.given("chunk"))
        warn(report.input.label(), "the smallest chunk takes " +
                                       bytes_text(static_cast<double>(cuts.total_bytes())) +
                                       " of memory: what one output uses is not divided");
    spec.provenance = provenance(report, request);
    for (const Saved& s : plan.saved) {
        saved.push_back(describe(s.flow, s.flow.type, s.wanted, s.path, request.options, *reader));
        saved.back().provenance = spec.provenance;
        report.saved.push_back({s.path, saved.back().dims, {}});
    }
}

void Job::State::look_around() {
    const Params& o = request.options;
    survival = std::make_unique<Survival>(*reader, plan.chain, plan.wanted);
    if (spec.path == "null") return;
    const bool resume = o.flag("resume"), single_pass = plan.picture.file.empty() && !split;
    if (resume && !single_pass)
        warn(
            spec.path,
            "is made with a picture or in pieces, and cannot be taken up: a run that is stopped starts anew");
    survival->look(job_texts(report, request, plan.taps), spec,
                   {resume && single_pass, resume || request.skip_finished, o.flag("overwrite")},
                   single_pass && !scaled_by_peak() && !io::writes_audio(spec.path) && plan.saved.empty() &&
                       !plan.learns() && told_by_what_is_stored());
    // Plain recordings go out without a chunk that only a later run would read.
    if (io::writes_audio(spec.path) && !resume && !request.skip_finished) spec.identity.clear();
}

StreamReport Job::State::pass(io::Writer& writer) {
    if (split) return run_pieces(*split, plan, writer, stream);
    return run_stream(*plan.input, plan.chain, plan.wanted, writer, stream);
}

// The largest magnitude of the result, and whether NaN are in it, by a pass that writes nothing.
Job::State::Extremes Job::State::extremes() {
    const auto nothing = null_writer();
    Extremes found;
    for (const stats::Level& level : pass(*nothing).output) {
        found.peak = std::max(found.peak, level.peak);
        found.nan |= level.nan > 0;
    }
    return found;
}

// Whether levels and hash of what was computed can be had from what was stored: not from less precision.
bool Job::State::told_by_what_is_stored() const {
    return spec.type == computed() || (computed() == SampleType::float32 && spec.type == SampleType::float64);
}

// Whether the peak of the whole result decides how it is written: audio that must not clip, integers in steps
// that the peak fills. Integers that came as such go out in the steps they came in.
bool Job::State::scaled_by_peak() const {
    if (io::writes_audio(spec.path)) return request.options.flag("guard");
    const io::Recording& in = report.input;
    return spec.type == SampleType::int16 &&
           !(plan.flow.signal && in.type == SampleType::int16 && in.scaling.gain.size() <= 1);
}

// What samples are divided by so that audio holds the largest of them.
double Job::State::guard_scale() {
    io::OutputSpec written = spec;
    written.type = computed();  // audio writers convert themselves
    const auto [gain, most] = io::full_scale(written);
    // In float32 the largest sample must not be rounded up to full scale.
    const double largest = most < 1 && computed() == SampleType::float32 ? std::min(most, 1 - 0x1p-24) : most;
    const double peak = extremes().peak * gain;
    return peak > 0.5 * (1 + most) ? peak / largest : 1;  // less than half a step beyond is rounded
}

// What samples are divided by on their way to the file; integers that may have to stand for NaN set one
// aside.
double Job::State::output_scale() {
    if (io::writes_audio(spec.path)) return scaled_by_peak() ? guard_scale() : 1;
    if (spec.type != SampleType::int16) return 1;
    if (scaled_by_peak()) {
        const Extremes found = extremes();
        spec.marks_nan = found.nan;
        return std::max(found.peak, 1e-300) / 32767;
    }
    const std::vector<double>& gain = report.input.scaling.gain;
    return gain.empty() ? 1 : std::abs(gain.front());
}

std::unique_ptr<io::Writer> Job::State::create_file() {
    if (request.split.empty()) return io::create(spec);
    std::vector<Piece> files;
    for (const io::OutputSpec& s : split_result(spec, plan.flow, plan.wanted, request.split,
                                                request.split_outputs, report.input, joined)) {
        report.out_files.push_back(s.path);
        files.push_back({s.shape.frames, io::create(s)});
    }
    return split_writer(std::move(files), spec.type);
}

std::unique_ptr<io::Writer> Job::State::create() {
    if (request.scope != Scope::file) return request.ram->writer(spec.shape, computed(), request.scope);
    if (spec.path == "null") return null_writer();
    const bool audio = io::writes_audio(spec.path);
    const double scale = output_scale();
    if (!audio && spec.type == SampleType::int16) spec.scale_factor = scale;
    survival->prepare(spec, stream);
    auto writer = create_file();
    file = writer.get();
    const SampleType stored = audio ? computed() : spec.type;  // audio writers convert themselves
    if (stored == computed() && scale == 1) return writer;
    return converting_writer(std::move(writer), computed(), stored, scale, spec.marks_nan);
}

std::unique_ptr<io::Writer> Job::State::illustrated(std::unique_ptr<io::Writer> writer) {
    if (plan.picture.file.empty()) return writer;
    if (std::filesystem::exists(plan.picture.file) && !spec.overwrite)
        throw failed(plan.picture.file, "the picture exists already", "give --overwrite or another name");
    const auto folder = std::filesystem::path(plan.picture.file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        throw failed(plan.picture.file, "the folder of the picture does not exist",
                     "make it, or draw elsewhere");
    io::OutputSpec drawn = spec;
    drawn.type = computed();
    return illustrating_writer(std::move(writer), drawn,
                               std::filesystem::path(report.input.path).filename().string(), plan.picture,
                               stream.device);
}

// Intermediate results come out of the pass that makes the result, where that passes all of it.
std::unique_ptr<Saving> Job::State::save(bool ordered) {
    for (io::OutputSpec& s : saved) {  // one that an earlier run left is made again
        s.overwrite =
            s.overwrite || ((request.skip_finished || request.options.flag("resume")) && is_ours(s.path));
        s.identity = "{\"saved_by\":" + (spec.identity.empty() ? "{}" : spec.identity) + "}";
    }
    const bool whole = survival->ending() == Ending::done && stream.device.backend == device::Backend::cpu;
    const Cuts as_run = stream_cuts(*plan.input, plan.chain, plan.wanted, ordered, stream);
    auto saving = std::make_unique<Saving>(plan, saved, whole && !split ? &as_run : nullptr);
    saving->begin(stream);
    stream.taps = saving->taps();
    return saving;
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
    if (spec.marks_nan) warn(spec.path, "NaN is written as -32768, which _FillValue names; int16 has no NaN");
    if (report.clipped > 0)
        warn(spec.path,
             to_text(report.clipped) + " samples were beyond the range of the output and were clipped");
}

bool in_decibels(const StepCall& call) {
    return call.step->name == "spectrogram" && (call.params.given("db") || call.params.given("calibration"));
}

// Decibels of sums of powers: the powers themselves must be held.
bool sums_powers(const StepCall& call) {
    return in_decibels(call) && call.params.text("scaling") != "magnitude" &&
           (call.params.given("average") || call.params.text("frequency-scale") != "linear");
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
    else if (narrow && out.peak > 0 && out.peak < 1e-30)
        warn(spec.path, "the largest value of the result is " + to_text(out.peak) +
                            ", and what is below 1e-38 loses its digits in float32" + hint);
    else if (computed() == SampleType::float32 && !request.steps.empty() &&
             sums_powers(request.steps.front()) && in.peak > 0 && (in.peak < 1e-15 || in.peak > 1e15))
        warn(spec.path, "bands and averages are of powers, and those of samples of at most " +
                            to_text(in.peak) + " are beyond what float32 holds" + hint);
}

void make_folders(const JobRequest& request) {
    std::vector<std::string> paths = request.split_outputs;
    if (request.output != "null") paths.push_back(request.output);
    for (const StepCall& call : request.steps)
        if (call.step->name == "save") paths.push_back(call.params.text("path"));
    for (const std::string& path : paths) {
        const auto folder = std::filesystem::path(path).parent_path();
        std::error_code error;
        if (!folder.empty()) std::filesystem::create_directories(folder, error);
        if (error) throw failed(folder.string(), "cannot be made: " + error.message());
    }
}

Job::Job(JobRequest request) : state_(std::make_unique<State>(std::move(request))) {
    State& s = *state_;
    const DeviceChoice device =
        choose_device(s.request.options.text("device"), s.request.steps, s.request.input);
    s.open();
    const auto start = Clock::now();
    s.plan_steps(device.device);
    s.plan_stream(device);
    s.plan_output();
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

// Intermediate results and the result go where the trial's writers take them.
double Job::State::trial(Index items) {
    std::vector<std::unique_ptr<io::Writer>> writers;
    StreamOptions options = stream;
    options.progress = {};
    options.items_most = items;
    for (const Saved& s : plan.saved) {
        writers.push_back(trial_writer(s.flow.shape, s.flow.type));
        if (options.device.backend == device::Backend::cpu)
            options.taps.push_back({s.stages, {0, s.flow.shape.frames}, 0, writers.back().get()});
    }
    const bool written = spec.path != "null";
    writers.push_back(written ? trial_writer(spec.shape, computed()) : null_writer());
    const auto start = Clock::now();
    run_stream(*plan.input, plan.chain, plan.wanted, *writers.back(), options);
    return seconds_since(start);
}

Estimate Job::estimate() {
    State& s = *state_;
    constexpr double enough = 0.2;  // seconds of trial
    constexpr double creating =
        0.5e-3;  // an HDF5 file and its name, as measured; part of a millisecond anywhere
    Estimate e{s.report.open_s + s.report.plan_s, 0};
    if (s.spec.path != "null") e.fixed += creating * static_cast<double>(1 + s.saved.size());
    const auto start = Clock::now();
    learn(s.plan, s.stream);
    e.stream = seconds_since(start);
    const Cuts cuts =
        stream_cuts(*s.plan.input, s.plan.chain, s.plan.wanted, false, s.stream);  // as trials go
    const Index all = cuts.chunks() * static_cast<Index>(cuts.groups.size());
    Index before = 0;
    double spent = 0;
    for (Index items = 1;; items = std::min(4 * items, all)) {
        const double seconds = s.trial(items);
        if (seconds < enough && items < all) {
            before = items, spent = seconds;
            continue;
        }
        // What each trial begins with is in both: their difference tells what the rest costs.
        const double each =
            items > before ? std::max(0.0, seconds - spent) / static_cast<double>(items - before) : 0;
        e.stream += seconds + each * static_cast<double>(all - items);
        if (s.split)
            e.stream *= static_cast<double>(s.outputs()) /
                        static_cast<double>(std::max<Index>(1, s.plan.wanted.count));
        return e;
    }
}

Ending Job::check_output() {
    State& s = *state_;
    std::error_code ignored;
    const bool there = std::filesystem::exists(s.spec.path, ignored) ||
                       std::filesystem::exists(s.spec.path + ".part", ignored);
    if (!there) {
        if (s.spec.path != "null") io::check_output(s.spec);
        return Ending::done;
    }
    s.look_around();
    io::OutputSpec checked = s.spec;
    checked.overwrite = checked.overwrite || is_ours(checked.path);  // that was looked at
    if (checked.path != "null" && s.survival->ending() == Ending::done) io::check_output(checked);
    return s.survival->ending();
}

JobReport Job::run() {
    State& s = *state_;
    const auto start = Clock::now();
    s.look_around();
    s.report.ending = s.survival->ending();
    if (s.report.ending == Ending::skipped) return s.report;
    if (!s.split) learn(s.plan, s.stream);
    if (s.request.make_folders)  // not before: what cannot be opened or planned leaves no empty ones
        make_folders(s.request);
    const auto writer = s.illustrated(s.create());
    const auto saving = s.save(writer->ordered());
    const auto journal = s.file ? s.survival->begin(*s.file, s.computed(), s.stream) : nullptr;
    s.report.stream = s.pass(*writer);
    s.report.samples_kept = s.survival->samples_kept();
    const auto closing = Clock::now();
    saving->finish(s.stream);
    for (std::size_t i = 0; i < s.saved.size(); ++i)
        s.report.saved[i].hash = saving->hash(i);
    writer->finish();
    s.report.finish_s = seconds_since(closing);
    s.report.clipped = writer->clipped() + s.survival->from().clipped;
    for (std::size_t i = 0; i < s.plan.chain.size(); ++i) {
        StepReport& step = s.report.steps[s.plan.step_of[i]];
        step.facts = s.plan.chain[i]->facts();
        step.seconds = s.report.stream.stage_s[i];
    }
    s.warn_of_samples();
    s.warn_of_range();
    s.report.warnings = s.warnings.lines();
    s.report.total_s = seconds_since(start) + s.report.open_s + s.report.plan_s;
    return s.report;
}

}  // namespace convoy::pipelines
