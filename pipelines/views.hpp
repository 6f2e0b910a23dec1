// Readers and writers made of others: a part of a signal, files joined in time, a result cut again.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "io/format.hpp"

namespace convoy::pipelines {

/// Frames `part` of an input, as a signal of its own. The input must outlive it.
std::unique_ptr<io::Reader> part_reader(io::Reader& input, Span part);

/// Inputs that follow one another in time, as one signal. Error (naming the file) where channels, type, rate
/// or scaling differ from the first one's; where start times are known, a warning where they do not follow.
std::unique_ptr<io::Reader> joined_reader(std::vector<std::unique_ptr<io::Reader>> inputs);

/// Samples from the end of `before` to the start of `next`, where both tell their start times; empty
/// elsewhere.
std::optional<double> samples_between(const io::Recording& before, const io::Recording& next);

/// A writer whose frame 0 is frame `offset` of `output`, which must outlive it. finish() does nothing.
std::unique_ptr<io::Writer> shifted_writer(io::Writer& output, Index offset);

/// One output of several: frames [0, frames[0]) go to the first, and so on. Finished together.
struct Piece {  // of a result: so many frames, and where they go
    Index frames;
    std::unique_ptr<io::Writer> writer;
};
std::unique_ptr<io::Writer> split_writer(std::vector<Piece> pieces, SampleType type);

}  // namespace convoy::pipelines
