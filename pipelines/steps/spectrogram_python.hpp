// The step `spectrogram` in Python.
#pragma once

#include "pipelines/step.hpp"

namespace convoy::pipelines {

/// SciPy has no bands and no averages over columns.
Python spectrogram_python(const Params& params, const Flow& in, const Planned& planned);

}  // namespace convoy::pipelines
