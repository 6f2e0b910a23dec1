// The pass before the work for stages that need to know their whole input (Stage::learns).
#pragma once

#include <memory>

#include "core/base/stage.hpp"
#include "io/format.hpp"

namespace convoy::pipelines {

/// A writer that hands what it gets, samples of `type`, to the stage; both must outlive it.
std::unique_ptr<io::Writer> learning_writer(Stage& stage, SampleType type);

/// Passes a whole input through stage.learn(). Cancelled by signals, as the stream is.
void learn_from(io::Reader& reader, Stage& stage);

}  // namespace convoy::pipelines
