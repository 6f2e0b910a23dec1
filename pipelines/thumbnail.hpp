// Small spectrograms of files, for reports.
#pragma once

#include "io/format.hpp"
#include "pipelines/picture.hpp"

namespace convoy::pipelines {

/// Decibels of the first channel: of a signal, short spectra at places evenly spread over it (one a column,
/// so that only so much is read); of an image, its columns at such places. Empty where there is too little.
Grid thumbnail(io::Reader& reader, bool image);

}  // namespace convoy::pipelines
