#include "io/audio/riff.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::io::audio {
namespace {

using Bytes = std::vector<unsigned char>;
constexpr Index open_size = 0xFFFFFFFF;  // of a writer that could not go back, or whose size is in ds64

// Wave64 names chunks by GUIDs whose first four bytes are the RIFF letters.
constexpr std::string_view w64_riff("riff\x2E\x91\xCF\x11\xA5\xD6\x28\xDB\x04\xC1\x00\x00", 16);

Index little(const unsigned char* p, int bytes) {
    std::uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; --i)
        value = value << 8 | p[i];
    return static_cast<Index>(value);
}

Bytes contents(const File& file, const std::string& path, Index offset, Index bytes) {
    Bytes data(static_cast<std::size_t>(bytes));
    data.resize(static_cast<std::size_t>(file.read_some(path, offset, data.data(), bytes)));
    return data;
}

/// Steps from chunk to chunk.
struct Walk {
    const File& file;
    const std::string& path;
    bool w64;
    Index end;  // of the file
    Index at;   // of the next header

    Index header() const { return w64 ? 24 : 8; }

    /// The chunk at `at`, with the size that it declares; empty at the end, or where no chunk can be.
    std::optional<ChunkPlace> look() const {
        const Bytes head = contents(file, path, at, header());
        if (static_cast<Index>(head.size()) < header()) return std::nullopt;
        if (!std::all_of(head.begin(), head.begin() + 4, [](unsigned char c) { return c >= 32 && c < 127; }))
            return std::nullopt;
        const Index size = w64 ? little(&head[16], 8) - 24 : little(&head[4], 4);
        if (size < 0) return std::nullopt;
        return ChunkPlace{std::string(head.begin(), head.begin() + 4), at + header(), size};
    }

    void pass(const ChunkPlace& chunk) {
        const Index align = w64 ? 8 : 2;
        at = chunk.offset + (chunk.bytes + align - 1) / align * align;
    }

    /// Whether nothing but whole chunks lies from `at` to the end of the file.
    bool only_chunks() const {
        Walk ahead = *this;
        while (ahead.at < end) {
            const auto chunk = ahead.look();
            if (!chunk || chunk->offset + chunk->bytes > end) return false;
            ahead.pass(*chunk);
        }
        return true;
    }
};

WaveFormat parse_format(const std::string& path, const Bytes& b) {
    if (b.size() < 14) throw failed(path, "its fmt chunk is too short", "the header is broken");
    WaveFormat f;
    f.tag = static_cast<int>(little(&b[0], 2));
    f.channels = static_cast<int>(little(&b[2], 2));
    f.rate = little(&b[4], 4);
    f.block_align = static_cast<int>(little(&b[12], 2));
    f.bits = f.valid = b.size() >= 16 ? static_cast<int>(little(&b[14], 2)) : 8;
    if (f.tag == 0xFFFE && b.size() >= 40) {
        f.tag = static_cast<int>(little(&b[24], 2));
        const int valid = static_cast<int>(little(&b[18], 2));
        if (valid > 0 && valid <= f.bits) f.valid = valid;
    }
    if (f.channels == 0) throw failed(path, "its fmt chunk says 0 channels", "the header is broken");
    if (f.rate == 0)
        throw failed(path, "its header says a sample rate of 0 Hz",
                     "the header is broken: write the rate into it");
    return f;
}

struct Sizes {  // of ds64
    Index riff = -1, data = -1;
};

/// How much of the data chunk is there, with a warning where that is not what was declared.
void settle_data(Riff& riff, const std::string& path, const Walk& walk, const ChunkPlace& data,
                 Index riff_size, Sizes sizes) {
    const Index present = walk.end - data.offset, align = std::max(1, riff.format.block_align);
    const bool sample_by_sample = riff.format.plain() || riff.format.tag == 6 || riff.format.tag == 7;
    const auto amount = [&](Index bytes) {
        return sample_by_sample ? to_text(bytes / align) + " frames" : to_text(bytes) + " bytes";
    };
    const bool unknown = !walk.w64 && data.bytes == open_size && sizes.data <= 0;
    Index declared = !walk.w64 && data.bytes == open_size && sizes.data > 0 ? sizes.data : data.bytes;
    const bool open = unknown || (declared == 0 && present > 0 && (riff_size == 0 || !walk.only_chunks()));
    if (!open) riff.declared_bytes = declared;
    if (open && present > 0) {
        warn(path, "its header declares a size of " + std::string(declared == 0 ? "0" : "0xFFFFFFFF") +
                       " for the samples (its writer was stopped, or wrote to a pipe); read to the end of "
                       "the file, " +
                       amount(present));
    } else if (!open && declared > present) {
        warn(path, "its header declares " + amount(declared) + ", and " + amount(present) +
                       " are there: the file was cut; these are read");
    } else if (!open && declared < present && !walk.only_chunks()) {
        const Index more = present - declared;
        if (!walk.w64 && more > (Index{1} << 32) - 65536) {
            warn(path, "its header declares a size of " + amount(declared) + ", and " + amount(present) +
                           " are there: the size wrapped at 4 GiB; all are read");
            declared = present;
        } else {
            warn(path, to_text(more) + " bytes behind the declared size of " + amount(declared) +
                           " are no chunks; they are left out");
        }
    }
    riff.data_offset = data.offset;
    riff.data_bytes = (open ? present : std::min(declared, present)) / align * align;
}

}  // namespace

bool WaveFormat::plain() const {
    const bool integers = integer() && bits >= 1 && bits <= 32;
    const bool floats = ieee_float() && (bits == 32 || bits == 64);
    return (integers || floats) && block_align == channels * ((bits + 7) / 8);
}

bool is_riff(std::string_view head) {
    if (head.size() < 16) return false;
    if (head.substr(0, 16) == w64_riff) return true;
    const std::string_view letters = head.substr(0, 4);
    return (letters == "RIFF" || letters == "RF64" || letters == "BW64") && head.substr(8, 4) == "WAVE";
}

Riff parse_riff(const File& file, const std::string& path) {
    const Bytes head = contents(file, path, 0, 40);
    const std::string letters(head.begin(), head.begin() + 4);
    Riff riff;
    riff.container = letters == "riff" ? "W64" : letters == "RIFF" ? "WAV" : letters;
    const bool w64 = riff.container == "W64";
    const Index riff_size = little(&head[4], 4);
    Walk walk{file, path, w64, file.size(), w64 ? 40 : 12};
    Sizes sizes;
    bool format = false, data = false;
    while (const auto chunk = walk.look()) {
        const bool is_data = chunk->id == "data";
        if (chunk->id == "ds64" && !w64) {
            const Bytes b = contents(file, path, chunk->offset, 16);
            if (b.size() == 16) sizes = {little(&b[0], 8), little(&b[8], 8)};
        } else if (chunk->id == "fmt ") {
            riff.format =
                parse_format(path, contents(file, path, chunk->offset, std::min<Index>(chunk->bytes, 64)));
            format = true;
        } else if (is_data && !data) {
            if (!format) throw failed(path, "its samples come before any fmt chunk", "the header is broken");
            const Index align = w64 ? 8 : 2;
            Index declared = chunk->bytes == open_size && !w64 && sizes.data > 0 ? sizes.data : chunk->bytes;
            walk.at = std::min(walk.end, chunk->offset + (declared + align - 1) / align * align);
            // A size that no file has: what lies behind are samples to the end.
            settle_data(riff, path, walk, *chunk, riff_size, sizes);
            data = true;
            if (!riff.declared_bytes) break;
            continue;
        } else if (chunk->offset + chunk->bytes <= walk.end && riff.chunks.size() < 4096) {
            riff.chunks.push_back(*chunk);
        }
        walk.pass(*chunk);
    }
    if (!format) throw failed(path, "has no fmt chunk", "the header is broken");
    if (!data)
        throw failed(path, "has no samples (no data chunk)", "the file was cut, or its header is broken");
    return riff;
}

}  // namespace convoy::io::audio
