// Clip tables: Raven selection tables and Audacity labels, one clip a row.
#pragma once

#include <string>
#include <vector>

#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// One row: a part of a recording, in seconds from its first sample.
struct Region {
    double start = 0, end = 0;
    std::string label;
    std::string file;  // the recording's name, where the table tells it
    Index row = 0;     // its line in the table, from 1
};

/// Reads a table: Raven's where the first line names its columns (Begin Time (s), End Time (s), and Begin
/// File with File Offset (s) where it is of several files; the rows of one selection in several views are
/// one), else Audacity's (start, end, label). Labels of a moment are left out, with a warning. Error (naming
/// the line) for what is neither.
std::vector<Region> read_regions(const std::string& path);

/// One request a row: that part of the result, in a file whose name has _0001, _0002, ... (the row's place)
/// before its ending. Rows go to the input that they name, or to the only one. Error (a wrong request) where
/// that is none.
std::vector<JobRequest> clips(const std::vector<JobRequest>& requests, const std::vector<Region>& regions,
                              const std::string& table);

}  // namespace convoy::pipelines
