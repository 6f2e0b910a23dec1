#include "pipelines/job.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "pipelines/digest.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/learn.hpp"
#include "pipelines/sinks.hpp"
#include "pipelines/survival.hpp"
#include "pipelines/views.hpp"

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
    if (!part.from_start)
        first = std::max(first, ceil_div(part.first * flow.time_up - flow.time_first, flow.time_step));
    if (!part.to_end)
        end = std::min(end, ceil_div(part.end * flow.time_up - flow.time_first, flow.time_step));
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

// Whether a file is there that tells which of convoy's jobs made it.
bool is_ours(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && !io::identity_in(path).empty();
}

bool is_audio_name(const std::string& path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    return !ending.empty() && ending != ".h5" && ending != ".hdf5" && ending != ".nwb" && ending != ".nc";
}

}  // namespace

struct Job::State {
    explicit State(JobRequest r)
        : request(std::move(r)), warnings({split_dataset(request.input).path, request.output}) {}

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

    // An intermediate result that is written too: what flows behind the first `stages` of the chain.
    struct Saved {
        std::size_t stages;
        Flow flow;
        Span wanted;
        io::OutputSpec spec;
    };
    std::vector<Saved> saved;
    std::vector<std::size_t> step_of;  // of each stage of the chain

    std::vector<Index> firsts;             // first frame of each input, where several are joined
    std::vector<const io::Reader*> parts;  // and its reader
    std::vector<io::OutputSpec> split_specs() const;
    std::unique_ptr<io::Writer> create_file();

    // A piece between gaps, filtered on its own (--gaps split); the chain is planned anew for each.
    struct Piece {
        Span input;    // of the whole signal
        double late;   // seconds that are missing before it
        Index offset;  // of its output frames in the result
        Index outputs;
    };
    std::vector<Piece> pieces;            // empty where the signal is one
    std::unique_ptr<io::Reader> current;  // the piece that the chain is planned for
    io::Reader& source() { return current ? *current : *reader; }
    Span piece_input;
    Flow whole;  // of the results of all pieces
    Span wanted_of(const Flow& of);
    void cut_at_gaps();
    void plan_piece(const Piece& piece);
    StreamReport pass_of_pieces(io::Writer& writer);

    void choose_device();
    void open();
    void plan_steps();
    void plan_step(const StepCall& call, const Execution& execution);
    void plan_stream();
    void describe_output();
    io::OutputSpec describe(const Flow& of, SampleType computed, Span part, const std::string& path) const;
    void refuse_options_of_other_formats();
    void provenance();
    StreamReport pass(io::Writer& writer);
    StreamReport pass(std::size_t stages, Span frames, io::Writer& writer);
    bool learns() const {
        return std::any_of(chain.begin(), chain.end(), [](const auto& stage) { return stage->learns(); });
    }
    void learn();
    void save(std::vector<std::unique_ptr<io::Writer>>& writers);
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
    firsts = {0};
    parts = {reader.get()};
    if (!request.joined.empty()) {
        std::vector<std::unique_ptr<io::Reader>> all;
        all.push_back(std::move(reader));
        for (const std::string& input : request.joined) {
            firsts.push_back(firsts.back() + all.back()->recording().shape.frames);
            all.push_back(io::open(input, options));
            parts.push_back(all.back().get());
        }
        reader = joined_reader(std::move(all));
    }
    if ((!request.joined.empty() || !request.split.empty()) && request.options.flag("resume"))
        throw usage_error("--resume does not go with --join and --split", "leave one of them out",
                          request.input);
    report.command = request.command;
    report.request = request_json(request);
    report.input = reader->recording();
    report.lanes_per_channel = report.input.complex ? 2 : 1;
    report.open_s = seconds_since(start);
}

// Steps that have no stage for a GPU take the whole job to the CPU.
void Job::State::choose_device() {
    const std::string asked = request.options.text("device");
    stream.device = device::select(asked);
    if (stream.device.backend == device::Backend::cpu) {
        if (asked == "auto") report.device_remark = device::gpu_remark();
        return;
    }
    for (const StepCall& call : request.steps) {
        if (!call.step->cpu_only) continue;
        const std::string name(call.step->name);
        if (asked != "auto")
            throw usage_error("the step " + name + " runs on the CPU only", "give --device auto or cpu",
                              call.place);
        report.device_remark = "the step " + name + " runs on the CPU only, and so does the whole job";
        warn(request.input, report.device_remark);
        stream.device = device::cpu();
        return;
    }
}

void Job::State::plan_step(const StepCall& call, const Execution& execution) {
    Planned planned = call.step->plan(call.params, flow, execution);
    const bool computes = planned.stage != nullptr;
    report.steps.push_back({std::string(call.step->name),
                            planned.strategy,
                            planned.reason,
                            planned.notes,
                            planned.explanation,
                            {},
                            flow.shape,
                            flow.type,
                            flow.rate,
                            0,
                            planned.taps,
                            computes ? planned.stage->needed_at_most(1) - 1 : 0});
    if (!planned.save.empty()) saved.push_back({chain.size(), flow, wanted_of(flow), {}});
    if (!planned.save.empty()) saved.back().spec.path = planned.save;
    if (!computes) return;
    if (!picture.file.empty())
        throw usage_error("a picture is drawn of the result of the last step",
                          "move png there, or leave it out");
    picture = std::move(planned.picture);
    step_of.push_back(report.steps.size() - 1);
    chain.push_back(std::move(planned.stage));
    taps = std::move(planned.taps);
}

void Job::State::plan_steps() {
    Execution execution;
    execution.device = stream.device;
    execution.strategy = request.options.text("strategy");
    execution.dtype = request.options.text("dtype");
    execution.explain = request.options.flag("explain");
    flow = flow_of(source().recording());
    for (const StepCall& call : request.steps) {
        const std::string label = flow.label;
        try {
            plan_step(call, execution);
        } catch (const Error& e) {
            if (call.place.empty()) throw;
            throw Error(e.fault(), call.place + ": " + (e.where().empty() ? label : e.where()), e.problem(),
                        e.hint());
        }
    }
    for (const Saved& s : saved)
        if (s.stages == 0)
            throw usage_error("save before the first step would copy the input",
                              "put it behind a step that computes");
    if (chain.empty()) throw usage_error("there is nothing to compute", "list at least one step");
    if ((!saved.empty() || learns()) && reader->sequential())
        throw failed(
            flow.label,
            "can be read only once, and save, normalize and detrend read their input before the rest",
            "copy it to a file first");
    if (!saved.empty() && !pieces.empty())
        throw usage_error("save does not go with --gaps split",
                          "give --gaps ignore, or save in a run of its own", flow.label);
    wanted = wanted_of(flow);
}

// What --start and --end leave of the frames; nothing where a piece lies outside.
Span Job::State::wanted_of(const Flow& of) {
    Part asked = part_of(request.options, reader->recording());
    if (!current) return wanted_frames(of, asked);
    const Span piece = piece_input;
    asked.from_start = asked.from_start || asked.first <= piece.first;
    asked.to_end = asked.to_end || asked.end >= piece.end();
    asked.first -= piece.first, asked.end -= piece.first;
    if ((!asked.to_end && asked.end <= 0) || (!asked.from_start && asked.first >= piece.count)) return {0, 0};
    return wanted_frames(of, asked);
}

void Job::State::plan_piece(const Piece& piece) {
    chain.clear(), step_of.clear(), report.steps.clear();
    picture = {};
    piece_input = piece.input;
    current = part_reader(*reader, piece.input);
    plan_steps();
}

// Pieces between gaps. Results of them lie one behind another, and a scale of their own says when each sample
// is.
void Job::State::cut_at_gaps() {
    const io::Recording& in = reader->recording();
    if (in.gaps.empty() || request.options.text("gaps") != "split") return;
    if (request.options.flag("resume"))
        throw usage_error("--resume does not go with --gaps split", "leave one of them out", in.label());
    Index first = 0;
    double late = 0;
    for (std::size_t i = 0; i <= in.gaps.size(); ++i) {
        const Index end = i < in.gaps.size() ? in.gaps[i].at : in.shape.frames;
        if (end > first) pieces.push_back({{first, end - first}, late, 0, 0});
        first = end;
        if (i < in.gaps.size()) late += in.gaps[i].seconds;
    }
    std::vector<double> times;
    Index outputs = 0, own_frames = 0;
    for (Piece& piece : pieces) {
        plan_piece(piece);
        piece.offset = outputs;
        piece.outputs = wanted.count;
        outputs += wanted.count;
        own_frames += flow.shape.frames;
        const io::Axis& time = flow.axes[static_cast<std::size_t>(flow.time_axis)];
        const double start = in.rate ? static_cast<double>(piece.input.first) / *in.rate + piece.late
                                     : static_cast<double>(piece.input.first);
        for (Index m = 0; m < wanted.count; ++m)
            times.push_back(start + time.first + static_cast<double>(wanted.first + m) * time.step);
    }
    if (outputs == 0)
        throw usage_error("the part that is asked for holds no output", "ask for a longer one", flow.label);
    whole = flow;
    whole.shape.frames = outputs;
    whole.axes[static_cast<std::size_t>(flow.time_axis)].values = std::move(times);
    whole.time_first = 0;
    if (own_frames != in.shape.frames || outputs != own_frames) whole.own_axes = whole.signal;
}

void Job::State::plan_stream() {
    const std::string asked = request.options.text("memory");
    const memory::Choice choice = memory::choose(asked, stream.device);
    stream.memory = choice.mode;
    report.device = stream.device.id();
    report.device_name = stream.device.attributes.name;
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
        const double ratio =
            static_cast<double>(flow.shape.frames) / static_cast<double>(report.input.shape.frames);
        stream.chunk_frames = std::max<Index>(1, std::llround(static_cast<double>(chunk.frames) * ratio));
    }
    if (chunk.bytes > 0) {
        stream.chunk_bytes = static_cast<std::size_t>(chunk.bytes);
        stream.memory_limit = std::max(stream.memory_limit, 16 * stream.chunk_bytes);
    }
    stream.hash = request.hash;
    stream.progress = request.progress;
}

// What is known of an output before its first sample: frames `part` of what flows there.
io::OutputSpec Job::State::describe(const Flow& of, SampleType computed, Span part,
                                    const std::string& path) const {
    const Params& o = request.options;
    io::OutputSpec s;
    s.path = path;
    s.dims = of.dims;
    s.dims[static_cast<std::size_t>(of.time_axis)] = part.count;
    s.time_axis = of.time_axis;
    s.shape = of.shape;
    s.shape.frames = part.count;
    s.dataset = of.dataset;
    s.type = computed;
    s.complex = of.complex;
    s.rate = of.rate;
    s.axes = of.axes;
    io::Axis& time = s.axes[static_cast<std::size_t>(of.time_axis)];
    time.first += static_cast<double>(part.first) * time.step;
    s.signal = of.signal;
    s.own_axes = of.own_axes;
    s.selected = of.selected;
    s.time_first = of.time_first + part.first * of.time_step;
    s.time_step = of.time_step;
    s.time_up = of.time_up;
    s.source = reader.get();
    s.raw = o.flag("raw");
    s.attributes = of.attributes;
    s.compression = o.text("compression");
    s.overwrite = o.flag("overwrite");
    s.sync = o.flag("sync") || o.flag("resume");
    return s;
}

void Job::State::describe_output() {
    const Params& o = request.options;
    const Span all{0, whole.shape.frames};
    spec = pieces.empty() ? describe(flow, chain.back()->type(), wanted, request.output)
                          : describe(whole, chain.back()->type(), all, request.output);
    if (std::string ending = o.text("format"); !ending.empty() && request.output != "null") {
        if (!ending.starts_with('.')) ending = "." + ending;
        if (std::filesystem::path(spec.path).extension() != ending) spec.path += ending;
    }
    if (o.has("out-dataset")) spec.dataset = o.text("out-dataset");
    if (!spec.dataset.starts_with('/')) spec.dataset = "/" + spec.dataset;
    if (const std::string type = o.text("output-dtype"); !type.empty())
        spec.type = type == "int16"     ? SampleType::int16
                    : type == "float64" ? SampleType::float64
                                        : SampleType::float32;
    spec.chunks = o.integers("hdf5-chunks");
    spec.bits = o.text("bits");
    spec.taps = taps;
    report.output = spec.path;
    report.out_dataset = is_audio_name(spec.path) ? "" : spec.dataset;
    report.out_dims = spec.dims;
    report.out_type = std::string(spec.complex ? "complex " : "") + std::string(name_of(spec.type));
    report.out_first = pieces.empty() ? wanted.first : 0;
    report.out_rate = flow.rate;
    refuse_options_of_other_formats();
    cuts = stream_cuts(source(), chain, wanted, is_audio_name(spec.path), stream);
    provenance();
    for (Saved& s : saved) {
        s.spec = describe(s.flow, s.flow.type, s.wanted, s.spec.path);
        s.spec.provenance = spec.provenance;
        report.saved.push_back({s.spec.path, s.spec.dims, {}});
    }
}

// An option that the output's format has no use for is a mistake, not something to pass over.
void Job::State::refuse_options_of_other_formats() {
    if (spec.path == "null") return;
    const bool audio = is_audio_name(spec.path);
    const auto refuse = [&](std::string_view option, const std::string& kind, const std::string& hint) {
        if (request.options.given(option))
            throw usage_error(
                "--" + std::string(option) + " is for " + kind + " output, and " + spec.path + " is not",
                hint);
    };
    for (const char* option : {"output-dtype", "compression", "hdf5-chunks", "out-dataset"})
        if (audio) refuse(option, "HDF5", "leave it out; --bits sets the width of audio samples");
    for (const char* option : {"bits", "guard"})
        if (!audio) refuse(option, "audio", "leave it out, or let the output's name end in .wav");
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
        for (const std::string& word : request.steps[i].params.words())
            pipeline += " " + word;
        const std::string prefix = report.steps.size() == 1 ? "" : s.name + "_" + std::to_string(i + 1) + "_";
        note(prefix + "strategy", s.strategy);
        for (const auto& [key, value] : s.notes)
            note(prefix + key, value);
    }
    note("pipeline", pipeline);
}

StreamReport Job::State::pass(io::Writer& writer) {
    if (!pieces.empty()) return pass_of_pieces(writer);
    return run_stream(*reader, chain, wanted, writer, stream);
}

// One piece after another; the report is of all of them.
StreamReport Job::State::pass_of_pieces(io::Writer& writer) {
    StreamReport sum;
    std::string hashes;
    for (const Piece& piece : pieces) {
        if (piece.outputs == 0) continue;
        plan_piece(piece);
        learn();
        const auto shifted = shifted_writer(writer, piece.offset);
        StreamReport done = run_stream(*current, chain, wanted, *shifted, stream);
        hashes += done.hash;
        done.add(sum);
        sum = std::move(done);
    }
    if (stream.hash) sum.hash = digest_text(digest(hashes.data(), hashes.size()));
    return sum;
}

// A pass through the first stages of the chain only.
StreamReport Job::State::pass(std::size_t stages, Span frames, io::Writer& writer) {
    Chain rest;
    while (chain.size() > stages) {
        rest.push_back(std::move(chain.back()));
        chain.pop_back();
    }
    StreamOptions options = stream;
    options.chunk_frames = options.group = options.kept_frames = 0;
    options.from = nullptr;
    options.journal = nullptr;
    options.progress = {};
    const auto restore = [&] {
        for (; !rest.empty(); rest.pop_back())
            chain.push_back(std::move(rest.back()));
    };
    try {
        StreamReport done = run_stream(source(), chain, frames, writer, options);
        restore();
        return done;
    } catch (...) {
        restore();
        throw;
    }
}

// Stages that need to know their whole input see it in a pass of their own.
void Job::State::learn() {
    for (std::size_t i = 0; i < chain.size(); ++i) {
        if (!chain[i]->learns()) continue;
        if (i == 0) {
            learn_from(source(), *chain[0]);
            continue;
        }
        const auto learner = learning_writer(*chain[i], chain[i - 1]->type());
        pass(i, {0, chain[i - 1]->shape().frames}, *learner);
    }
}

// Intermediate results in passes of their own: whole, with the bits that the step alone gives.
void Job::State::save(std::vector<std::unique_ptr<io::Writer>>& writers) {
    for (std::size_t i = 0; i < saved.size(); ++i) {
        io::OutputSpec& s = saved[i].spec;  // one that an earlier run left is made again
        s.overwrite =
            s.overwrite || ((request.skip_finished || request.options.flag("resume")) && is_ours(s.path));
        s.identity = "{\"saved_by\":" + (spec.identity.empty() ? "{}" : spec.identity) + "}";
        writers.push_back(io::create(s));
        report.saved[i].hash = pass(saved[i].stages, saved[i].wanted, *writers.back()).hash;
    }
}

// The largest magnitude of the result, by a pass that writes nothing.
double Job::State::full_scale() {
    const auto nothing = null_writer();
    double peak = 0;
    for (const stats::Level& level : pass(*nothing).output)
        peak = std::max(peak, level.peak);
    return peak;
}

// Whether the peak of the whole result decides how it is written: audio that must not clip, integers in steps
// that the peak fills. Integers that came as such go out in the steps they came in.
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
        std::string text = s.name + " " + described(request.steps[i].params, {"path"}) + " " + s.strategy;
        for (const auto& [key, value] : s.notes)
            text += " " + key + "=" + value;
        all.emplace_back("step " + std::to_string(i + 1), text + " " + std::string(name_of(s.type)));
    }
    all.emplace_back("taps", digest_text(digest(taps.data(), taps.size() * sizeof(double))));
    all.emplace_back(
        "options", described(request.options, {"overwrite", "sync", "resume", "device", "memory", "strategy",
                                               "dtype", "chunk", "threads", "explain"}));
    for (const std::string& input : request.joined)
        all.emplace_back("joined " + input, file_state(split_dataset(input).path));
    all.emplace_back("output", spec.dataset + " " + report.out_type);
    all.emplace_back("device", stream.device.backend == device::Backend::cpu ? "cpu" : report.device_name);
    return all;
}

void Job::State::look_around() {
    const Params& o = request.options;
    survival = std::make_unique<Survival>(*reader, chain, wanted);
    if (spec.path == "null") return;
    const bool resume = o.flag("resume"), single_pass = picture.file.empty() && pieces.empty();
    if (resume && !single_pass)
        warn(
            spec.path,
            "is made with a picture or in pieces, and cannot be taken up: a run that is stopped starts anew");
    survival->look(
        texts(), spec, {resume && single_pass, resume || request.skip_finished, o.flag("overwrite")},
        single_pass && !scaled_by_peak() && !is_audio_name(spec.path) && saved.empty() && !learns());
    // Plain recordings go out without a chunk that only a later run would read.
    if (is_audio_name(spec.path) && !resume && !request.skip_finished) spec.identity.clear();
}

// The outputs that --split makes: frames of the result by where their input frames lie.
std::vector<io::OutputSpec> Job::State::split_specs() const {
    if (!pieces.empty())
        throw usage_error("--split does not go with --gaps split", "give --gaps ignore", request.input);
    const Index frames = report.input.shape.frames;
    std::vector<Index> starts = firsts;
    if (request.split != "input") {
        const auto time = parse_time(request.split);
        if (!time || time->unit == Time::Unit::absolute || !(time->value > 0))
            throw usage_error("--split '" + request.split + "' is neither `input` nor a length of time",
                              "write 1h");
        if (time->unit == Time::Unit::seconds && !report.input.rate)
            throw usage_error("--split by time needs the sample rate", "give --rate HZ", request.input);
        const double step = time->value * (time->unit == Time::Unit::seconds ? *report.input.rate : 1);
        if (step < 1 || static_cast<double>(frames) / step > 1e5)
            throw usage_error("--split " + request.split + " makes too many files", "give a longer time");
        starts.clear();
        for (Index k = 0; static_cast<double>(k) * step < static_cast<double>(frames); ++k)
            starts.push_back(std::llround(static_cast<double>(k) * step));
    }
    const auto output_frame = [&](Index input) {
        return std::clamp(ceil_div(input * flow.time_up - flow.time_first, flow.time_step), wanted.first,
                          wanted.end());
    };
    std::vector<io::OutputSpec> specs;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const Index first = i == 0 ? wanted.first : output_frame(starts[i]);
        const Index end = i + 1 < starts.size() ? output_frame(starts[i + 1]) : wanted.end();
        if (end <= first) continue;
        io::OutputSpec& s = specs.emplace_back(spec);
        s.shape.frames = s.dims[static_cast<std::size_t>(s.time_axis)] = end - first;
        s.time_first = flow.time_first + first * flow.time_step;
        io::Axis& time = s.axes[static_cast<std::size_t>(s.time_axis)];
        time.first = flow.axes[static_cast<std::size_t>(flow.time_axis)].first +
                     static_cast<double>(first) * time.step;
        if (request.split == "input") {  // counted from that input's own first sample
            s.path = request.split_outputs[i];
            s.source = parts[i];
            s.time_first -= starts[i] * flow.time_up;
            if (report.input.rate) time.first -= static_cast<double>(starts[i]) / *report.input.rate;
        } else {
            const std::filesystem::path path(spec.path);
            std::string number = to_text(static_cast<Index>(i + 1));
            number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
            s.path = (path.parent_path() / (path.stem().string() + "_" + number + path.extension().string()))
                         .string();
        }
    }
    return specs;
}

std::unique_ptr<io::Writer> Job::State::create_file() {
    if (request.split.empty()) return io::create(spec);
    std::vector<pipelines::Piece> files;
    for (const io::OutputSpec& s : split_specs()) {
        report.out_files.push_back(s.path);
        files.push_back({s.shape.frames, io::create(s)});
    }
    return split_writer(std::move(files), spec.type);
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
    auto writer = create_file();
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
    return illustrating_writer(std::move(writer), drawn,
                               std::filesystem::path(report.input.path).filename().string(), picture);
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
        warn(spec.path,
             to_text(report.clipped) + " samples were beyond the range of the output and were clipped");
}

Job::Job(JobRequest request) : state_(std::make_unique<State>(std::move(request))) {
    State& s = *state_;
    s.choose_device();
    s.open();
    const auto start = Clock::now();
    s.cut_at_gaps();
    if (s.pieces.empty()) s.plan_steps();
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

double Job::estimate() {
    State& s = *state_;
    constexpr double enough = 0.2;  // seconds of trial
    const double whole = static_cast<double>(s.pieces.empty() ? s.wanted.count : s.whole.shape.frames);
    const auto start = Clock::now();
    s.learn();
    const double before = seconds_since(start);
    for (Index frames = std::min(s.wanted.count, s.cuts.chunk_frames);;
         frames = std::min(4 * frames, s.wanted.count)) {
        const auto nothing = null_writer();
        StreamOptions options = s.stream;
        options.progress = {};
        const auto trial = Clock::now();
        const StreamReport done =
            run_stream(s.source(), s.chain, {s.wanted.first, frames}, *nothing, options);
        const double seconds = seconds_since(trial);
        if (seconds < enough && frames < s.wanted.count) continue;
        const double steady = std::max(0.0, seconds - done.setup_s);
        return s.report.open_s + s.report.plan_s + before + done.setup_s +
               steady * whole / static_cast<double>(frames);
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
    if (s.pieces.empty()) s.learn();
    const auto writer = s.illustrated(s.create());
    std::vector<std::unique_ptr<io::Writer>> others;
    s.save(others);
    const auto journal = s.file ? s.survival->begin(*s.file, s.chain.back()->type(), s.stream) : nullptr;
    s.report.stream = s.pass(*writer);
    s.report.samples_kept = s.survival->samples_kept();
    const auto closing = Clock::now();
    for (const auto& other : others)
        other->finish();
    writer->finish();
    s.report.finish_s = seconds_since(closing);
    s.report.clipped = writer->clipped() + s.survival->from().clipped;
    for (std::size_t i = 0; i < s.chain.size(); ++i) {
        StepReport& step = s.report.steps[s.step_of[i]];
        step.facts = s.chain[i]->facts();
        step.seconds = s.report.stream.stage_s[i];
    }
    s.warn_of_samples();
    s.report.warnings = s.warnings.lines();
    s.report.total_s = seconds_since(start) + s.report.open_s + s.report.plan_s;
    return s.report;
}

}  // namespace convoy::pipelines
