// What a job holds between planning and its report. For the job's own sources: job_planning.cpp,
// job_output.cpp, job_estimate.cpp, job_warnings.cpp and job.cpp, which runs it.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "pipelines/gaps.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/job.hpp"
#include "pipelines/placement.hpp"
#include "pipelines/result.hpp"
#include "pipelines/saving.hpp"
#include "pipelines/survival.hpp"

namespace convoy::pipelines {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Whether a file is there that tells which of convoy's jobs made it.
bool is_ours(const std::string& path);

/// Warnings that name a job's files, for its report; other jobs may run beside it.
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
    void look_around();  // at the result, and then at what is written beside it
    void look_at_result();
    bool lacks_files_beside() const;             // pictures, intermediate results
    std::vector<io::OutputSpec> pieces() const;  // of a result that is cut

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

}  // namespace convoy::pipelines
