#include "pipelines/plan.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/device/threads.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/cancel.hpp"

namespace convoy::pipelines {

namespace {

double samples_of(const FilePlan& file) {
    return static_cast<double>(file.job.input.shape.samples());
}

// Files of one kind differ in their length only: one trial speaks for all of them.
std::string kind_of(const JobReport& job) {
    std::string kind =
        job.input.format + job.input.stored_type + (job.input.rate ? to_text(*job.input.rate) : "");
    kind += "/" + to_text(job.input.shape.outer) + "/" + to_text(job.input.shape.inner);
    for (const Index n : job.input.chunk)
        kind += "," + to_text(n);
    return kind;
}

FilePlan plan_one(const JobRequest& request) {
    FilePlan file;
    file.input = request.input;
    file.output = request.output;
    try {
        Job job(request);
        file.ending = job.check_output();
        file.job = job.planned();
        file.output = file.job.output;
        file.cuts = job.cuts();
        const io::Recording& in = file.job.input;
        file.read_bytes = static_cast<double>(in.shape.samples() * bytes_of(in.type));
        const io::OutputSpec& out = job.spec();
        if (out.path != "null")
            file.write_bytes = static_cast<double>(out.shape.samples() * bytes_of(out.type));
        file.memory_bytes = static_cast<double>(file.cuts.total_bytes());
    } catch (const Error& e) {
        file.error = e.what();
        file.fault = e.fault();
    }
    return file;
}

// Seconds for every file, from one trial a kind. The first file of a kind is planned from nothing; those
// after it find filters and tables made, and their files are opened and made beside the work on others.
void estimate(const std::vector<JobRequest>& requests, double started, BatchPlan& plan) {
    struct Trial {
        double fixed, per_sample;
    };
    std::map<std::string, Trial> trials;
    const int at_once = files_at_once(requests, device::threads_here());
    for (std::size_t i = 0; i < plan.files.size(); ++i) {
        FilePlan& file = plan.files[i];
        if (!file.error.empty() || file.ending == Ending::skipped) continue;
        const double samples = std::max(1.0, samples_of(file));
        const std::string kind = kind_of(file.job);
        auto known = trials.find(kind);
        const bool fresh = known == trials.end();
        if (fresh && trials.size() < 8) {
            JobRequest request = requests[i];
            request.share = at_once;
            Estimate e;
            tbb::task_arena part(static_cast<int>(std::max<Index>(1, device::threads_here() / at_once)));
            part.execute([&] { e = Job(std::move(request)).estimate(); });
            known = trials.emplace(kind, Trial{e.fixed, e.stream / at_once / samples}).first;
        }
        const Trial& trial = known != trials.end() ? known->second : trials.begin()->second;
        file.seconds = trial.fixed / at_once + trial.per_sample * samples;
        // A run is loaded, checks its first file before it does anything, and then has nothing planned yet.
        constexpr double loading = 4e-3;
        if (i == 0)
            file.seconds = loading + started + file.job.open_s + file.job.plan_s + trial.fixed +
                           trial.per_sample * samples;
        plan.seconds += file.seconds;
    }
}

std::string shape_text(const Shape& shape, const std::optional<double>& rate) {
    std::string text = to_text(shape.frames) + " x " + to_text(shape.lanes());
    return text + (rate ? " at " + to_text(*rate) + " Hz" : "");
}

std::string seconds_text(double seconds) {
    const double scale = std::pow(10, 1 - std::floor(std::log10(std::max(seconds, 1e-9))));
    return to_text(std::round(seconds * scale) / scale) + " s";
}

void line(std::string& text, const std::string& key, const std::string& value) {
    text += "  " + key + std::string(key.size() < 16 ? 16 - key.size() : 1, ' ') + value + "\n";
}

std::string ending_text(const FilePlan& file) {
    switch (file.ending) {
        case Ending::skipped:
            return " (finished already: nothing to do)";
        case Ending::extended:
            return " (its input was appended to: only the tail is computed)";
        case Ending::resumed:
            return " (goes on where an earlier run was)";
        default:
            return "";
    }
}

std::string in_full(const FilePlan& file) {
    const JobReport& job = file.job;
    std::string text = job.input.label() + " -> " + file.output + ending_text(file) + "\n";
    line(text, "input",
         extents_text(job.input.dims) + ", " + job.input.stored_type +
             (job.input.rate ? " at " + to_text(*job.input.rate) + " Hz" : ""));
    for (std::size_t i = 0; i < job.steps.size(); ++i) {
        const StepReport& step = job.steps[i];
        std::string told = shape_text(step.shape, step.rate) + ", halo " + to_text(step.halo);
        if (!step.strategy.empty()) told += ", " + step.strategy + " (" + step.reason + ")";
        line(text, std::to_string(i + 1) + " " + step.name, told);
    }
    for (const SavedReport& saved : job.saved)
        line(text, "saved", saved.path + ", " + extents_text(saved.dims));
    line(text, "output", extents_text(job.out_dims) + ", " + job.out_type);
    line(text, "device", job.device + (job.device_remark.empty() ? "" : " (" + job.device_remark + ")"));
    line(text, "memory mode", job.memory + " (" + job.memory_reason + ")");
    const Index halo = file.cuts.frames.empty() ? 0 : file.cuts.frames.front();
    line(text, "chunk",
         to_text(file.cuts.chunk_frames) + " output frames from " + to_text(halo) + " input frames, " +
             to_text(file.cuts.chunks()) + " chunks, " + std::to_string(file.cuts.groups.size()) +
             (file.cuts.groups.size() == 1 ? " pass" : " passes"));
    line(text, "memory", bytes_text(file.memory_bytes));
    line(text, "reads", bytes_text(file.read_bytes));
    line(text, "writes", bytes_text(file.write_bytes));
    line(text, "time", "about " + seconds_text(file.seconds));
    return text;
}

Json file_json(const FilePlan& file) {
    Json j;
    j["input"] = file.input;
    j["output"] = file.output;
    if (!file.error.empty()) {
        j["error"] = file.error;
        return j;
    }
    j["ending"] = name_of(file.ending);
    j["dims"] = Json::Array(file.job.input.dims.begin(), file.job.input.dims.end());
    j["output_dims"] = Json::Array(file.job.out_dims.begin(), file.job.out_dims.end());
    for (const StepReport& step : file.job.steps) {
        Json s;
        s["step"] = step.name;
        s["frames"] = step.shape.frames;
        s["lanes"] = step.shape.lanes();
        s["sampling_rate"] = step.rate ? Json(*step.rate) : Json();
        s["halo"] = step.halo;
        s["strategy"] = step.strategy.empty() ? Json() : Json(step.strategy);
        s["strategy_reason"] = step.reason.empty() ? Json() : Json(step.reason);
        j["steps"].push(std::move(s));
    }
    j["device"] = file.job.device;
    j["memory_mode"] = file.job.memory;
    j["memory_reason"] = file.job.memory_reason;
    j["chunk_frames"] = file.cuts.chunk_frames;
    j["chunks"] = file.cuts.chunks();
    j["memory_bytes"] = file.memory_bytes;
    j["read_bytes"] = file.read_bytes;
    j["write_bytes"] = file.write_bytes;
    j["seconds"] = file.seconds;
    return j;
}

}  // namespace

int BatchPlan::status() const {
    const auto bad =
        std::find_if(files.begin(), files.end(), [](const FilePlan& f) { return !f.error.empty(); });
    if (bad == files.end()) return 0;
    if (files.size() > 1) return 3;
    return bad->fault == Fault::usage ? 2 : 1;
}

BatchPlan plan_batch(const std::vector<JobRequest>& requests) {
    // What the program has done until here it will do again.
    const double started = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    BatchPlan plan;
    plan.files.resize(requests.size());
    tbb::parallel_for(std::size_t{0}, requests.size(), [&](std::size_t i) {
        if (signal_received() == 0) plan.files[i] = plan_one(requests[i]);
    });
    check_cancelled();
    estimate(requests, started, plan);
    return plan;
}

std::string described(const BatchPlan& plan) {
    std::string text;
    std::size_t failed = 0;
    double read = 0, write = 0, memory = 0;
    bool first = true;
    for (const FilePlan& file : plan.files) {
        if (!file.error.empty()) {
            ++failed;
            continue;
        }
        read += file.read_bytes, write += file.write_bytes, memory = std::max(memory, file.memory_bytes);
        text += first ? in_full(file)
                      : file.job.input.label() + " -> " + file.output + "  " +
                            extents_text(file.job.input.dims) + " -> " + extents_text(file.job.out_dims) +
                            ending_text(file) + "\n";
        first = false;
    }
    if (plan.files.size() > 1)
        text += std::to_string(plan.files.size()) + " files (" + std::to_string(failed) +
                " cannot be done): reads " + bytes_text(read) + ", writes " + bytes_text(write) +
                ", memory " + bytes_text(memory) + " for each at once, about " + seconds_text(plan.seconds) +
                "\n";
    return text;
}

Json to_json(const BatchPlan& plan) {
    Json j;
    j["schema"] = "convoy.plan/1";
    j["version"] = version;
    j["files"] = Json::array();
    for (const FilePlan& file : plan.files)
        j["files"].push(file_json(file));
    j["seconds"] = plan.seconds;
    j["status"] = plan.status();
    return j;
}

}  // namespace convoy::pipelines
