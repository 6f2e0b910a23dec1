// Commands: what `convoy NAME` does. One file a command; each declares its parameters, and command_line.cpp
// turns the declarations into options and help.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/catalog.hpp"
#include "core/base/params.hpp"

namespace convoy::command {

/// A command as it was called.
struct Call {
    std::vector<std::string> inputs;  // positional words
    Params params;                    // of all the command's groups, and of common_params()
    std::string words;                // the whole command line, quoted for a shell
};

/// A heading in the help, and what stands below it.
struct Group {
    std::string_view title;
    std::span<const Param> params;
};

struct Command {
    std::string_view name;
    std::string_view summary;
    std::string_view inputs;  // what the positional words are called: "INPUT"; empty: none are taken
    std::string_view inputs_help;
    bool inputs_required = false;
    std::string_view example;  // shown at the end of the help
    std::vector<Group> (*groups)();
    /// Does the work; returns the exit status. Throws Error.
    int (*run)(const Call&);
};

const Catalog<Command>& catalog();

/// --quiet, --log-level, --report: every command's.
std::span<const Param> common_params();

}  // namespace convoy::command

namespace convoy::app {

/// Parses the command line and runs what it asks for; returns the exit status. Errors are thrown.
int run_command_line(int argc, char** argv);

}  // namespace convoy::app
