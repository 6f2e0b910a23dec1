// A job: one input, a list of steps, one output. Prepared (everything checked and planned, nothing written),
// then run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipelines/chain_plan.hpp"
#include "pipelines/json.hpp"
#include "pipelines/scope.hpp"
#include "pipelines/survival.hpp"

namespace convoy::pipelines {

struct JobRequest {
    std::string input;   // path or file.h5:/dataset
    std::string output;  // path; "null": computed and thrown away
    Params options;      // of input_params, output_params and execution_params
    std::vector<StepCall> steps;
    std::string command;  // the command line, for /convoy
    bool hash = false;
    std::function<void(Index done, Index total)> progress;
    int share = 1;                         // of how many jobs at once: each takes its part of the memory
    std::vector<std::string> joined = {};  // inputs that follow the first in time: all are one signal
    Scope scope = Scope::file;             // what is less leaves input and result in `ram`
    std::shared_ptr<RamFiles> ram = {};    // of all jobs that are compared
    std::string split = {};                // cuts the result: `input`, or a time
    std::vector<std::string> split_outputs = {};  // one for each input, where it is cut at inputs
    bool skip_finished =
        false;  // an output of this very job is left as it is, or extended where its input has grown
    bool make_folders = false;  // of outputs, whose names nobody typed
};

/// Makes the folders that a job's outputs go to.
void make_folders(const JobRequest& request);

/// An intermediate result that is written too.
struct SavedReport {
    std::string path;
    std::vector<Index> dims;
    std::string hash;
};

struct JobReport {
    std::string command;
    Ending ending = Ending::done;
    Index samples_kept = 0;  // of the output, from an earlier run
    io::Recording input;
    std::string output, out_dataset;
    std::vector<Index> out_dims;
    std::vector<std::string> out_files;  // where the result is cut
    std::string out_type;
    Index out_first = 0;  // of the whole result's frames, where only a part was written
    std::optional<double> out_rate;
    std::vector<StepReport> steps;
    std::vector<SavedReport> saved;
    std::string device, device_name, device_remark;
    std::string memory_asked, memory, memory_reason;
    Index lanes_per_channel = 1;  // 2 for complex samples
    StreamReport stream;
    Index clipped = 0;
    double open_s = 0, plan_s = 0, finish_s = 0, total_s = 0;
    std::vector<std::string> warnings;
    Json request;  // what was asked for, for another run
};

/// Seconds that a job takes: to open, plan and make files, which other threads may do beside other jobs'
/// work, and in its passes over the samples.
struct Estimate {
    double fixed = 0, stream = 0;
};

/// A checked and planned job: the input is open, nothing has been written.
class Job {
  public:
    explicit Job(JobRequest request);
    Job(Job&&) noexcept;
    ~Job();
    /// What is known before the work: shapes, strategies, memory mode, geometry.
    const JobReport& planned() const;
    const Cuts& cuts() const;
    const io::OutputSpec& spec() const;
    const io::Recording& recording() const;
    /// How long run() will take, from a trial on a part of the input that writes no file.
    Estimate estimate();
    /// What run() would make of an output that is there already; throws what it would.
    Ending check_output();
    /// Does the work and writes the output.
    JobReport run();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// What was asked for, for another run: input, steps and options with their values.
Json request_json(const JobRequest& request);

/// The report as JSON, schema convoy.report/1.
Json to_json(const JobReport& report);

}  // namespace convoy::pipelines
