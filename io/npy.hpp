// NumPy's .npy files: small arrays of taps and kernels, read whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::io {

/// An array read whole, as float64 in C order.
struct Array {
    std::vector<Index> shape;
    std::vector<double> values;
};

/// Whether the file starts as a .npy file does.
bool is_npy(const std::string& path);
/// Whether the contents of a file do.
bool is_npy_text(std::string_view bytes);

/// Reads real numbers of any NumPy type, either byte order and either memory order. Error (naming the file)
/// for anything else. Format: numpy.lib.format, versions 1 to 3.
Array read_npy(const std::string& path);
/// The same from a file's contents; `name` is what messages call it.
Array parse_npy(const std::string& bytes, const std::string& name);

/// Writes float64 in C order, version 1. Error where the file cannot be written.
void write_npy(const std::string& path, const Array& array);

}  // namespace convoy::io
