// The filters that nearly all files use, undone without the library so that chunks are decoded in parallel:
// gzip (libdeflate), shuffle, Fletcher-32.
#pragma once

#include <span>

#include "io/hdf5/source.hpp"

namespace convoy::io::h5 {

/// Memory of the calling thread that is used again and again: what was in it is lost at the next call with
/// this slot. trim_scratch() gives back what is larger than most chunks.
std::span<std::byte> scratch(int slot, std::size_t bytes);
void trim_scratch();

/// Whether all filters are among those of decode().
bool can_decode(const std::vector<Storage::Filter>& filters);

/// Undoes the filters of one raw chunk, but those whose bit is set in `skipped`. `chunk` has the size of a
/// decoded chunk. Error where the raw bytes are damaged.
void decode(std::span<const std::byte> raw, std::uint32_t skipped,
            const std::vector<Storage::Filter>& filters, Index element_bytes, std::span<std::byte> chunk,
            const std::string& where);

}  // namespace convoy::io::h5
