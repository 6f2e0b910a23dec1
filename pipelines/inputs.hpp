// Which files a batch works on, and what each result is called.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace convoy::pipelines {

/// Words from the command line or a pipeline file, as inputs in order: files, quoted globs (with ** for any
/// folders), either with ":/dataset" behind. Error (a wrong request) where a glob matches nothing. A plain
/// name is kept whether it exists or not: opening it tells.
std::vector<std::string> expand_inputs(const std::vector<std::string>& words);

/// Whether a glob (":/dataset" behind it or not) matches any file.
bool matches_any(const std::string& pattern);

/// The names in a list file (`-`: standard input), one a line or NUL-separated.
std::vector<std::string> read_list(const std::string& path, bool nul_separated);

/// What a name template may hold.
struct NameParts {
    std::string stem, name, reldir;
    std::string date;     // YYYY-MM-DD of the recording's start, or of the file
    std::string channel;  // its number in the input
};

/// How outputs are named from -o.
struct Naming {
    std::string output;                      // file, folder or template
    std::string extension = ".h5";           // of results in a folder
    bool several = false;                    // more than one input: a plain name is a folder
    std::vector<std::string> channels = {};  // for {channel}, one for each input; empty: it has no place here
};

/// Whether the naming makes one name for one input: a file, neither a folder nor a template.
bool names_one_file(const Naming& naming);

/// The error where several inputs would write one file; `what` else it is, with its own hint.
Error several_into_one(const std::string& output);
Error several_into_one(const std::string& output, const std::string& what, const std::string& hint);

/// The outputs of `inputs`, in order; the tree below the inputs' common parent is kept. `date_of` is asked
/// only where the template has {date}. Error (a wrong request) where two inputs would write one output, or
/// the template has an unknown part.
std::vector<std::string> name_outputs(const std::vector<std::string>& inputs, const Naming& naming,
                                      const std::function<std::string(const std::string& input)>& date_of);

/// Splits "file.h5:/path" where the whole is not itself a file.
struct InputName {
    std::string path, dataset;
};
InputName split_dataset(const std::string& input);

}  // namespace convoy::pipelines
