// The words that every command with inputs and outputs shares, declared once: inputs, outputs, execution.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/params.hpp"
#include "io/format.hpp"
#include "pipelines/step.hpp"

namespace convoy::pipelines {

std::span<const Param> input_params();      // --dataset, --rate, --channels, --start, ...
std::span<const Param> output_params();     // --out-dataset, --compression, --overwrite, ...
std::span<const Param> execution_params();  // --device, --memory, --strategy, --chunk, ...

/// Several declarations as one list.
std::vector<Param> joined(std::initializer_list<std::span<const Param>> lists);

io::OpenOptions open_options(const Params& input);
/// Warns, once a run, of options that are given and have no meaning for an input of this format.
void warn_of_idle_options(const Params& input, const io::Recording& recording);

/// The part of an input that --start, --end and --duration pick, in input frames: [first, end), with first 0
/// and end `frames` where nothing is said. Error where it is empty or beyond the input, or a rate is needed
/// and not known.
struct Part {
    Index first = 0, end = 0;
    bool from_start = true, to_end = true;  // not cut at this side
};
Part part_of(const Params& input, const io::Recording& recording);

/// Input frames or bytes a chunk, from --chunk; both 0 where nothing is said.
struct ChunkRequest {
    Index frames = 0;
    Index bytes = 0;
};
ChunkRequest chunk_request(const Params& execution, const std::optional<double>& rate);

}  // namespace convoy::pipelines
