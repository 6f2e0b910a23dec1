// Writers that are no files: results thrown away, and results converted on their way to a file.
#pragma once

#include <memory>

#include "io/format.hpp"

namespace convoy::pipelines {

/// Takes everything and keeps nothing.
std::unique_ptr<io::Writer> null_writer();

/// Takes everything as a file would, but into the same few pages of memory again and again: a trial costs
/// what writing costs, as far as that is the processor's work. `shape` and `type` are those of the whole
/// result.
std::unique_ptr<io::Writer> trial_writer(Shape shape, SampleType type);

/// Passes samples of type `from` on to `inner` as `to`: rounded to nearest and clipped (counted) for
/// integers, divided by `scale` first. NaN is no sample that was clipped: with `marks_nan` it becomes the
/// lowest integer, which no other sample then is.
std::unique_ptr<io::Writer> converting_writer(std::unique_ptr<io::Writer> inner, SampleType from,
                                              SampleType to, double scale, bool marks_nan = false);

}  // namespace convoy::pipelines
