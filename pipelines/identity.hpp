// Of which job an output is: kept in /convoy and in journals, and compared before a run goes on from either.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/params.hpp"
#include "io/format.hpp"
#include "pipelines/json.hpp"

namespace convoy::pipelines {

/// Named texts; two jobs whose texts are equal give the same bits for the same input.
using JobTexts = std::vector<std::pair<std::string, std::string>>;

/// The given parameters of `params` as "name=value name=value", with the checksum of each file that one
/// names; without those named in `but`.
std::string described(const Params& params, const std::vector<std::string_view>& but = {});

/// Size and time of a file, as a text that changes with them.
std::string file_state(const std::string& path);

/// Identity of a job on an input: {"job": {...}, "input": {...}}. `joined`: the files behind the input's
/// first. `probed`: some of the input's samples are read, so that an input that was appended to can be told
/// from one that was changed.
Json identity_of(const JobTexts& job, io::Reader& input, const std::vector<std::string>& joined, bool probed);

/// How an earlier identity compares with that of now.
enum class Likeness { same, appended, input_changed, job_changed };
struct Resemblance {
    Likeness likeness = Likeness::same;
    std::string difference;   // for people: "strategy was direct, now fft"
    Index frames_before = 0;  // of the input
};
Resemblance resemblance(const Json& before, const Json& now, io::Reader& input);

}  // namespace convoy::pipelines
