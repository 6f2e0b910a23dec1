// Writers that are no files: results thrown away, and results converted on their way to a file.
#pragma once

#include <memory>

#include "io/format.hpp"

namespace convoy::pipelines {

/// Takes everything and keeps nothing.
std::unique_ptr<io::Writer> null_writer();

/// Passes samples of type `from` on to `inner` as `to`: rounded to nearest and clipped (counted) for
/// integers, divided by `scale` first.
std::unique_ptr<io::Writer> converting_writer(std::unique_ptr<io::Writer> inner, SampleType from,
                                              SampleType to, double scale);

}  // namespace convoy::pipelines
