// Reports read back: a run repeated from its report, the reports of parts made one.
#pragma once

#include <string>
#include <vector>

#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// The job that request_json() described; its output is "null", and it is hashed.
JobRequest request_from(const Json& json, const std::string& where);

/// A file of a report, run again.
struct Replay {
    std::string input;
    std::string before, now;  // hashes of the result
    std::string error;        // why it could not be run again
    bool same() const { return error.empty() && before == now; }
};

/// Repeats every job of a report (of one file or of a batch) and writes nothing. Error where the file is no
/// such report.
std::vector<Replay> replay(const std::string& report);

/// Hashes before and now, of every file: schema convoy.replay/1.
Json to_json(const std::vector<Replay>& replays);

/// The files of several reports as one batch (convoy.batch/1), in the order given. Error where a file is no
/// report.
Json merged_reports(const std::vector<std::string>& reports);

}  // namespace convoy::pipelines
