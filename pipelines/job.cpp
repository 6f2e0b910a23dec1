#include "pipelines/job.hpp"

#include <filesystem>

#include "pipelines/job_state.hpp"

namespace convoy::pipelines {

void make_folders(const JobRequest& request) {
    std::vector<std::string> paths = request.split_outputs;
    if (request.output != "null") paths.push_back(request.output);
    for (const StepCall& call : request.steps)
        if (const auto file = written_by(call); !file.empty()) paths.push_back(call.params.text(file));
    for (const std::string& path : paths) {
        const auto folder = std::filesystem::path(path).parent_path();
        std::error_code error;
        if (!folder.empty()) std::filesystem::create_directories(folder, error);
        if (error) throw failed(folder.string(), "cannot be made: " + error.message());
    }
}

StreamReport Job::State::pass(io::Writer& writer) {
    if (split) return run_pieces(*split, plan, writer, stream);
    return run_stream(*plan.input, plan.chain, plan.wanted, writer, stream);
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
