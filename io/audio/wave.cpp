// WAV, RF64 and Wave64 files: the header is known before the first sample, and samples go to their places in
// any order.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/audio/riff.hpp"
#include "io/audio/writer.hpp"

namespace convoy::io::audio {
namespace {

constexpr const char* identity_chunk = "cnvy";

std::string number(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
}

std::string format_chunk(const OutputSpec& spec, Encoding encoding) {
    const auto channels = static_cast<std::uint64_t>(spec.shape.lanes());
    const auto rate = static_cast<std::uint64_t>(std::llround(*spec.rate));
    const auto align = channels * static_cast<std::uint64_t>(bytes_of(encoding));
    const std::string common = number(channels, 2) + number(rate, 4) + number(rate * align, 4) +
                               number(align, 2) + number(static_cast<std::uint64_t>(bits_of(encoding)), 2);
    if (is_integer(encoding)) return number(1, 2) + common;
    return number(3, 2) + common + number(0, 2);  // other tags carry the size of an extension: none
}

/// Chunks in the spelling of RIFF or Wave64.
class Chunks {
  public:
    explicit Chunks(bool w64) : w64_(w64) {}
    void add(const std::string& id, const std::string& contents) {
        text_ += head(id, contents.size()) + contents;
        const std::size_t align = w64_ ? 8 : 2;
        text_.append((align - text_.size() % align) % align, '\0');
    }
    /// A chunk's name and size alone.
    std::string head(const std::string& id, std::uint64_t bytes) const {
        if (!w64_) return id + number(std::min<std::uint64_t>(bytes, 0xFFFFFFFF), 4);
        const bool list = id == "LIST";
        const std::string_view rest =
            list ? std::string_view("\x2F\x91\xCF\x11\xA5\xD6\x28\xDB\x04\xC1\x00\x00", 12)
                 : std::string_view("\xF3\xAC\xD3\x11\x8C\xD1\x00\xC0\x4F\x8E\xDB\x8A", 12);
        return (list ? "list" : id) + std::string(rest) + number(bytes + 24, 8);
    }
    const std::string& text() const { return text_; }

  private:
    bool w64_;
    std::string text_;
};

std::uint64_t data_bytes(const OutputSpec& spec, Encoding encoding) {
    return static_cast<std::uint64_t>(spec.shape.samples() * bytes_of(encoding));
}

class WaveWriter : public Writer {
  public:
    WaveWriter(const OutputSpec& spec, Encoding encoding)
        : spec_(spec),
          encoding_(encoding),
          part_(spec.path, spec.shape.samples() * bytes_of(encoding), spec.resume.has_value()),
          frame_bytes_(spec.shape.lanes() * bytes_of(encoding)) {
        const std::string header = wave_header(spec, encoding, travelling(spec));
        spec_.source = nullptr;  // may go before this does
        offset_ = static_cast<Index>(header.size());
        if (spec.resume) {
            check_header(header);
            return;
        }
        const Index align = ending_of(spec) == "w64" ? 8 : 2;
        part_.resize((offset_ + spec.shape.frames * frame_bytes_ + align - 1) / align * align);
        part_.write_at(0, header.data(), offset_);
    }

    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        const Index piece = std::max<Index>(1, (512 << 10) / frame_bytes_);
        const bool whole = lanes == Lanes::all(spec_.shape);
        if (whole && stored_as_is()) return write_as_is(span, src);
        tbb::parallel_for(Index{0}, (span.count + piece - 1) / piece, [&](Index i) {
            thread_local std::vector<unsigned char> buffer;
            const Span part{i * piece, std::min(piece, span.count - i * piece)};
            const Index at = offset_ + (span.first + part.first) * frame_bytes_,
                        bytes = part.count * frame_bytes_;
            buffer.resize(static_cast<std::size_t>(piece * frame_bytes_ + 8));
            if (whole) {
                encode(spec_, encoding_, src, pitch, lanes, part, buffer.data(), frame_bytes_, losses_);
                part_.write_at(at, buffer.data(), bytes);
            } else {
                write_some_channels({at, bytes}, lanes, src, pitch, part, buffer);
            }
        });
    }

    bool resumable() const override { return true; }
    void flush() override { part_.flush(); }
    void keep() override { part_.keep(); }

    void finish() override {
        losses_.report(spec_.path);
        part_.commit(spec_.sync, spec_.overwrite);
    }

    Index clipped() const override { return losses_.clipped; }

  private:
    bool stored_as_is() const {
        if (spec_.shape.outer != 1) return false;
        if (spec_.type == SampleType::int16) return encoding_ == Encoding::int16 && spec_.scale_factor == 0;
        return (spec_.type == SampleType::float32 && encoding_ == Encoding::float32) ||
               (spec_.type == SampleType::float64 && encoding_ == Encoding::float64) ||
               (spec_.type == SampleType::int32 && encoding_ == Encoding::int32);
    }

    void check_header(const std::string& header) const {
        std::string there(header.size(), '\0');
        const auto bytes = static_cast<Index>(header.size());
        if (part_.file().read_some(part_.path(), 0, there.data(), bytes) != bytes || there != header)
            throw failed(spec_.path, part_.path() + " is not what its journal tells",
                         "--overwrite starts anew");
    }

    void write_as_is(Span span, const std::byte* src) {
        constexpr Index piece = 1 << 20;
        const Index at = offset_ + span.first * frame_bytes_, bytes = span.count * frame_bytes_;
        tbb::parallel_for(Index{0}, (bytes + piece - 1) / piece, [&](Index i) {
            part_.write_at(at + i * piece, src + i * piece, std::min(piece, bytes - i * piece));
        });
    }

    /// Channels that lie between those of other passes: one thread at a time reads, fills in and writes.
    void write_some_channels(Span bytes, Lanes lanes, const std::byte* src, Index pitch, Span part,
                             std::vector<unsigned char>& buffer) {
        std::scoped_lock lock(mutex_);
        part_.file().read_at(part_.path(), bytes.first, buffer.data(), bytes.count);
        for (Index o = 0; o < lanes.outer_count; ++o) {
            const Lanes row{lanes.outer_first + o, 1, lanes.inner_first, lanes.inner_count};
            const Index channel = row.outer_first * spec_.shape.inner + row.inner_first;
            encode(spec_, encoding_, src + o * pitch * lanes.inner_count * convoy::bytes_of(spec_.type),
                   pitch, row, part, buffer.data() + channel * bytes_of(encoding_), frame_bytes_, losses_);
        }
        part_.write_at(bytes.first, buffer.data(), bytes.count);
    }

    OutputSpec spec_;
    Encoding encoding_;
    PartFile part_;
    Index frame_bytes_, offset_ = 0;
    Losses losses_;
    std::mutex mutex_;
};

}  // namespace

std::string wave_header(const OutputSpec& spec, Encoding encoding, const Metadata& metadata) {
    const bool w64 = ending_of(spec) == "w64";
    const std::uint64_t samples = data_bytes(spec, encoding);
    Chunks chunks(w64);
    chunks.add("fmt ", format_chunk(spec, encoding));
    if (!is_integer(encoding)) {
        const auto frames = static_cast<std::uint64_t>(spec.shape.frames);
        chunks.add("fact", number(w64 ? frames : std::min<std::uint64_t>(frames, 0xFFFFFFFF), w64 ? 8 : 4));
    }
    for (const auto& [id, contents] : metadata.chunks)
        chunks.add(id, contents);
    if (!spec.identity.empty()) chunks.add(identity_chunk, spec.identity);
    const std::string tail = chunks.text() + chunks.head("data", samples);
    if (w64) {
        const std::string riff("riff\x2E\x91\xCF\x11\xA5\xD6\x28\xDB\x04\xC1\x00\x00", 16);
        const std::string wave("wave\xF3\xAC\xD3\x11\x8C\xD1\x00\xC0\x4F\x8E\xDB\x8A", 16);
        return riff + number(40 + tail.size() + samples, 8) + wave + tail;
    }
    const std::uint64_t size = 4 + tail.size() + samples + samples % 2;
    if (size <= 0xFFFFFFFE && ending_of(spec) != "rf64") return "RIFF" + number(size, 4) + "WAVE" + tail;
    const std::string ds64 = number(size + 36, 8) + number(samples, 8) +
                             number(static_cast<std::uint64_t>(spec.shape.frames), 8) + number(0, 4);
    std::string open = tail;
    open.replace(open.size() - 4, 4, number(0xFFFFFFFF, 4));
    return "RF64" + number(0xFFFFFFFF, 4) + "WAVEds64" + number(ds64.size(), 4) + ds64 + open;
}

std::string identity_in(const std::string& path) {
    const File file = File::reading(path);
    std::string head(16, '\0');
    file.read_some(path, 0, head.data(), 16);
    if (!is_riff(head)) return {};
    for (const ChunkPlace& chunk : parse_riff(file, path).chunks) {
        if (chunk.id != identity_chunk) continue;
        std::string text(static_cast<std::size_t>(chunk.bytes), '\0');
        file.read_at(path, chunk.offset, text.data(), chunk.bytes);
        return text;
    }
    return {};
}

std::unique_ptr<Writer> create_wave(const OutputSpec& spec, Encoding encoding) {
    return std::make_unique<WaveWriter>(spec, encoding);
}

}  // namespace convoy::io::audio
