// What a result's file is to hold: known before its first sample.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipelines/chain_plan.hpp"

namespace convoy::pipelines {

/// Frames `part` of what flows there, in samples of type `computed`, as the options of output_params ask.
/// `source`: the input, whose metadata travel.
io::OutputSpec describe(const Flow& flow, SampleType computed, Span part, const std::string& path,
                        const Params& options, const io::Reader& source);

/// The same for the last result of a job, whose name, dataset and type the options may change. Error where
/// an option is of no use to the format.
io::OutputSpec describe_result(const Flow& flow, SampleType computed, Span part, const std::string& path,
                               const Params& options, const io::Reader& source);

/// Inputs that were joined: the first frame of each in the whole signal, and its reader.
struct Joined {
    std::vector<Index> firsts;
    std::vector<const io::Reader*> readers;
};

/// The files that --split makes of the result `whole`, which is frames `wanted` of `flow`: cut where their
/// input frames are. `split`: `input` (named by `outputs`, one for each input) or a time.
std::vector<io::OutputSpec> split_result(const io::OutputSpec& whole, const Flow& flow, Span wanted,
                                         const std::string& split, const std::vector<std::string>& outputs,
                                         const io::Recording& input, const Joined& joined);

}  // namespace convoy::pipelines
