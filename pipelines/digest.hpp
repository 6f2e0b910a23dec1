// A short checksum of bytes, which tells changes from one another but not from forgeries: FNV-1a of 64 bits,
// in lanes of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace convoy::pipelines {

/// The checksum of `bytes` bytes, going on from that of bytes before them.
std::uint64_t digest(const void* data, std::size_t bytes, std::uint64_t before = 0xcbf29ce484222325);
/// As 16 hexadecimal digits.
std::string digest_text(std::uint64_t value);

}  // namespace convoy::pipelines
