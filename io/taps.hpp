// Filter coefficients and kernels from files.
#pragma once

#include <string>
#include <vector>

#include "io/npy.hpp"

namespace convoy::io {

/// Taps from text (one a line or separated by blanks or commas, `#` starts a comment), .npy, audio or
/// file.h5:/path, told by content; `-` (standard input) and pipes give text or .npy, and are read once
/// however often they are asked for. Error names the file, and the line of a word that is no number or not
/// finite.
std::vector<double> read_taps(const std::string& source);

/// A kernel of any rank from .npy or file.h5:/path.
Array read_kernel(const std::string& source);

}  // namespace convoy::io
