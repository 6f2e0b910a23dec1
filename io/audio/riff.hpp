// The chunks of RIFF and its 64-bit relatives RF64, BW64 and Sony Wave64: where the samples lie, what they
// are, and whether the header tells the truth about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.hpp"

namespace convoy::io::audio {

/// A chunk that is neither format nor samples; `offset` and `bytes` are those of its contents.
struct ChunkPlace {
    std::string id;  // four letters
    Index offset = 0, bytes = 0;
};

/// What the fmt chunk says.
struct WaveFormat {
    int tag = 0;  // 1 integer, 3 float, 7 mu-law, ...; of an extensible one that of its sub-format
    int channels = 0;
    std::int64_t rate = 0;
    int block_align = 0;
    int bits = 0;   // of the container
    int valid = 0;  // bits that carry the signal

    bool integer() const { return tag == 1; }
    bool ieee_float() const { return tag == 3; }
    /// Samples one after another, in whole bytes: what needs no decoder.
    bool plain() const;
};

struct Riff {
    std::string container;  // "WAV", "RF64", "BW64", "W64"
    WaveFormat format;
    Index data_offset = 0;
    Index data_bytes = 0;                 // that are there, whole frames
    std::optional<Index> declared_bytes;  // by the header; empty where it leaves the size open
    std::vector<ChunkPlace> chunks;
};

/// Whether the first bytes of a file (16 at least) begin one of these.
bool is_riff(std::string_view head);

/// Walks the chunks. Error where there is no format, no samples, or the format cannot be true; warning where
/// sizes and contents disagree and the samples can be had all the same.
Riff parse_riff(const File& file, const std::string& path);

}  // namespace convoy::io::audio
