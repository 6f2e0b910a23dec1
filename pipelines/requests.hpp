// From what a user names to one request an input: expanded inputs, named outputs, the part of a shard.
#pragma once

#include <string>
#include <vector>

#include "pipelines/job.hpp"

namespace convoy::pipelines {

/// The requests of a batch, in order. `words` are names and globs, `batch` values of batch_params()
/// (--files-from adds inputs, --shard takes a part), `common` is the job on any of them with the output as
/// the user named it. Error (a wrong request) where there is no input or two results would go to one file.
std::vector<JobRequest> requests_for(std::vector<std::string> words, const Params& batch,
                                     const JobRequest& common);

}  // namespace convoy::pipelines
