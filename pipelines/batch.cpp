#include "pipelines/batch.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "core/device/threads.hpp"
#include "pipelines/cancel.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::pipelines {

namespace {

constexpr Param list[] = {
    {.name = "files-from", .value = "FILE", .help = "more inputs, one a line; - is standard input"},
    {.name = "null", .kind = Kind::flag, .help = "--files-from is separated by NUL", .also = "0"},
    {.name = "join", .kind = Kind::flag, .help = "inputs that follow one another in time are one signal"},
    {.name = "split",
     .value = "WHERE",
     .help = "cut the result again: `input` (with --join, one output an input) or a time"},
    {.name = "jobs",
     .kind = Kind::integer,
     .value = "N",
     .help = "files at once; default: short ones a thread each, long ones one by one"},
    {.name = "fail-fast", .kind = Kind::flag, .help = "stop at the first file that fails"},
    {.name = "failed-to", .value = "FILE", .help = "write the names of files that failed, one a line"},
    {.name = "shard", .value = "I/N", .help = "take one of N parts of the inputs; slurm: an array job's own"},
};

Outcome run_one(JobRequest request, bool several) {
    Outcome outcome;
    outcome.input = request.input;
    outcome.output = request.output;
    try {
        request.make_folders |= several || !request.split_outputs.empty();
        outcome.report = Job(std::move(request)).run();
    } catch (const Error& error) {
        outcome.error = error.what();
        outcome.fault = error.fault();
    } catch (const Cancelled& cancelled) {
        outcome.stopped = true;
        outcome.kept = cancelled.kept();
    } catch (const std::bad_alloc&) {
        outcome.error = outcome.input + ": not enough memory; use a smaller --chunk or fewer --jobs";
    }
    return outcome;
}

Index file_bytes(const std::string& input) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(split_dataset(input).path, error);
    return error ? 0 : static_cast<Index>(bytes);
}

Index bytes_of(const JobRequest& request) {
    Index bytes = file_bytes(request.input);
    for (const std::string& input : request.joined)
        bytes += file_bytes(input);
    return bytes;
}

Index environment(const char* name) {
    const char* text = std::getenv(name);
    const auto value = text == nullptr ? std::nullopt : parse_integer(text);
    if (!value)
        throw usage_error("--shard slurm needs the variable " + std::string(name) + " of a Slurm array job",
                          "run it with sbatch --array, or give --shard I/N");
    return *value;
}

// Sums up how far the jobs are, each by its input's bytes.
class Meter {
  public:
    Meter(std::vector<JobRequest>& requests, const BatchOptions& options) : options_(options) {
        state_.all = requests.size();
        if (!options.progress) return;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            weights_.push_back(static_cast<double>(std::max<Index>(1, bytes_of(requests[i]))));
            total_ += weights_.back();
            requests[i].progress = [this, i](Index done, Index total) { at_work(i, done, total); };
        }
        parts_.resize(weights_.size());
        samples_.resize(weights_.size());
    }

    void finished(std::size_t i, const Outcome& outcome) {
        const std::scoped_lock lock(mutex_);
        ++state_.done;
        if (options_.finished) options_.finished(outcome);
        if (options_.progress) tell(i, 1, samples_[i]);
    }

  private:
    void at_work(std::size_t i, Index done, Index total) {
        const std::scoped_lock lock(mutex_);
        if (total > 0) tell(i, static_cast<double>(done) / static_cast<double>(total), done);
    }
    void tell(std::size_t i, double part, Index samples) {
        state_.part += (part - parts_[i]) * weights_[i] / total_;
        state_.samples += samples - samples_[i];
        parts_[i] = part, samples_[i] = samples;
        options_.progress(state_);
    }

    const BatchOptions& options_;
    std::mutex mutex_;
    BatchProgress state_;
    std::vector<double> weights_, parts_;
    std::vector<Index> samples_;
    double total_ = 0;
};

}  // namespace

int files_at_once(const std::vector<JobRequest>& requests, Index threads) {
    constexpr Index most = 8, short_file = 16 << 20;  // HDF5 does one thing at a time: more would wait for it
    if (requests.size() < 2) return 1;
    Index bytes = 0;
    for (const JobRequest& request : requests)
        bytes += bytes_of(request);
    const auto files = static_cast<Index>(requests.size());
    if (bytes / files > short_file) return 1;
    if (device::select(requests.front().options.text("device")).backend != device::Backend::cpu) return 1;
    return static_cast<int>(std::min({threads, most, files}));
}

std::span<const Param> batch_params() {
    return list;
}

std::vector<Outcome> run_batch(std::vector<JobRequest> requests, const BatchOptions& options) {
    const std::size_t all = requests.size();
    const Index threads = device::threads_here();
    const int jobs = options.jobs > 0 ? options.jobs : files_at_once(requests, threads);
    std::vector<Outcome> outcomes(all);
    Meter meter(requests, options);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};
    const auto work = [&] {
        for (std::size_t i; (i = next++) < all;) {
            if (stop || signal_received() != 0) {
                outcomes[i] = {requests[i].input, requests[i].output, {}, {}, Fault::failed, true};
                continue;
            }
            requests[i].share = jobs;
            outcomes[i] = run_one(std::move(requests[i]), all > 1);
            if (options.fail_fast && !outcomes[i].error.empty()) stop = true;
            meter.finished(i, outcomes[i]);
        }
    };
    // Each job at work has its part of the threads.
    const auto apart = [&] {
        tbb::task_arena arena(static_cast<int>(std::max<Index>(1, threads / jobs)));
        arena.execute(work);
    };
    {
        std::vector<std::jthread> others;
        for (int j = 1; j < jobs; ++j)
            others.emplace_back(apart);
        jobs > 1 ? apart() : work();
    }
    return outcomes;
}

void check_cancelled(const std::vector<Outcome>& outcomes) {
    const bool kept = std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.kept; });
    if (kept && signal_received() != 0) throw Cancelled(signal_received(), true);
    check_cancelled();
}

Json batch_report(Json files, Index failed) {
    Json whole;
    whole["schema"] = "convoy.batch/1";
    whole["files"] = std::move(files);
    whole["failed"] = failed;
    return whole;
}

Json to_json(const std::vector<Outcome>& outcomes) {
    Json files = Json::array();
    Index failures = 0;
    for (const Outcome& o : outcomes) {
        Json file = o.report ? to_json(*o.report) : Json::object();
        if (!o.report) {
            file["input"]["path"] = o.input;
            file["output"]["path"] = o.output;
            file["error"] = o.error.empty() ? Json("not started") : Json(o.error);
            ++failures;
        }
        files.push(std::move(file));
    }
    return batch_report(std::move(files), failures);
}

Shard parse_shard(const std::string& text) {
    if (text == "slurm") {
        const Index step = std::getenv("SLURM_ARRAY_TASK_STEP")
                               ? std::max<Index>(1, environment("SLURM_ARRAY_TASK_STEP"))
                               : 1;
        const Index first = environment("SLURM_ARRAY_TASK_MIN");
        return {(environment("SLURM_ARRAY_TASK_ID") - first) / step + 1,
                environment("SLURM_ARRAY_TASK_COUNT")};
    }
    const auto words = split(text, '/');
    const auto part = words.size() == 2 ? parse_integer(words[0]) : std::nullopt;
    const auto of = words.size() == 2 ? parse_integer(words[1]) : std::nullopt;
    if (!part || !of || *of < 1 || *part < 1 || *part > *of)
        throw usage_error("--shard '" + text + "' is not I/N with I from 1 to N", "write 2/8, or slurm");
    return {*part, *of};
}

std::vector<std::string> shard_of(std::vector<std::string> inputs, const Shard& shard) {
    std::sort(inputs.begin(), inputs.end());
    std::vector<double> ends;  // bytes up to and with each input; an empty file counts as one byte
    double total = 0;
    for (const std::string& input : inputs)
        ends.push_back(total += static_cast<double>(std::max<Index>(1, file_bytes(input))));
    std::vector<std::string> mine;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double before = i == 0 ? 0 : ends[i - 1];
        const double middle = (before + ends[i]) / 2;
        const auto part = static_cast<Index>(middle / total * static_cast<double>(shard.of));
        if (std::min(part, shard.of - 1) == shard.part - 1) mine.push_back(inputs[i]);
    }
    return mine;
}

}  // namespace convoy::pipelines
