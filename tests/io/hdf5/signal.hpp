// What tests of the HDF5 reader share: samples as the stored values that they stand for, and errors as their
// line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/format.hpp"

namespace convoy::test {

/// Stored values of frames `span` of `lanes`, as [outer][frames][inner]; read with a pitch that is larger
/// than needed.
std::vector<double> stored(io::Reader& reader, Span span, Lanes lanes);
std::vector<double> stored(io::Reader& reader);

/// The line of the Error that opening (and reading) gives; "" where there is none.
std::string error_of(const std::string& input, const io::OpenOptions& options = {});

std::string case_file(const std::string& name, const std::string& file = "input.h5");

}  // namespace convoy::test
