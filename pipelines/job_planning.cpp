// Planning a job: its input is opened, its steps and its output are worked out, nothing is written.
#include <filesystem>

#include "pipelines/job_state.hpp"
#include "pipelines/provenance.hpp"
#include "pipelines/views.hpp"

namespace convoy::pipelines {

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

bool Job::State::lacks_files_beside() const {
    std::error_code ignored;
    const auto lacking = [&](const StepCall& call) {
        const auto name = written_by(call);
        return !name.empty() && !std::filesystem::exists(call.params.text(name), ignored);
    };
    return std::any_of(request.steps.begin(), request.steps.end(), lacking);
}

void Job::State::look_around() {
    look_at_result();
    if (survival->ending() == Ending::skipped && lacks_files_beside()) survival->make_anew();
}

void Job::State::look_at_result() {
    const Params& o = request.options;
    survival = std::make_unique<Survival>(*reader, request.joined, plan.chain, plan.wanted);
    if (spec.path == "null") return;
    if (!request.split.empty()) {
        report.out_files.clear();
        for (const io::OutputSpec& piece : pieces())
            report.out_files.push_back(piece.path);
        survival->look_at_pieces(job_texts(report, request, plan.taps), spec,
                                 {false, request.skip_finished, o.flag("overwrite")}, report.out_files);
        if (io::writes_audio(spec.path) && !request.skip_finished) spec.identity.clear();
        return;
    }
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

bool is_ours(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && !io::identity_in(path).empty();
}

Ending Job::check_output() {
    State& s = *state_;
    std::error_code ignored;
    if (s.spec.path != "null" && !s.request.split.empty()) {
        s.look_around();
        if (s.survival->ending() == Ending::done)
            for (const io::OutputSpec& piece : s.pieces())
                io::check_output(piece);
        return s.survival->ending();
    }
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

}  // namespace convoy::pipelines
