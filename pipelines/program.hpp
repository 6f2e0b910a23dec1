// Another program, run to its end.
#pragma once

#include <string>
#include <vector>

namespace convoy::pipelines {

struct Ended {
    int status = -1;   // its exit status, or 128 + the signal that ended it; -1 where it could not be started
    std::string text;  // what it wrote; where it could not be started, why
};

/// Runs a program, looked for in PATH, without standard input, and takes what it writes to standard output;
/// `errors`: to standard error, too.
Ended run_program(std::vector<std::string> words, bool errors);

}  // namespace convoy::pipelines
