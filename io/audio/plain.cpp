// Samples that need no decoder: integers and floats of the RIFF family, read straight from their place in the
// file, by several threads at once.
#include <fcntl.h>
#include <tbb/parallel_for.h>

#include <bit>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/audio/audio.hpp"

namespace convoy::io::audio {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are taken as they lie in the file");

// Stored samples, each with the type it is delivered in; integers are left-justified there.
struct Unsigned8 {
    static constexpr Index bytes = 1;
    using Sample = std::int16_t;
    static Sample load(const unsigned char* p) { return static_cast<Sample>((*p - 128) * 256); }
};
struct Packed24 {
    static constexpr Index bytes = 3;
    using Sample = std::int32_t;
    static Sample load(const unsigned char* p) {  // reads one byte beyond the sample
        std::uint32_t word;
        std::memcpy(&word, p, 4);
        return static_cast<Sample>(word << 8);
    }
};
template <class T>
struct Native {
    static constexpr Index bytes = sizeof(T);
    using Sample = T;
    static T load(const unsigned char* p) {
        T value;
        std::memcpy(&value, p, sizeof value);
        return value;
    }
};

/// Calls f with the stored kind of `format`.
template <class F>
void with_stored(const WaveFormat& format, F&& f) {
    if (format.ieee_float()) return format.bits == 64 ? f(Native<double>{}) : f(Native<float>{});
    if (format.bits <= 8) return f(Unsigned8{});
    if (format.bits <= 16) return f(Native<std::int16_t>{});
    if (format.bits <= 24) return f(Packed24{});
    return f(Native<std::int32_t>{});
}

class PlainReader : public AudioReader {
  public:
    PlainReader(File file, Riff riff, const std::string& path, const OpenOptions& options)
        : file_(std::move(file)), riff_(std::move(riff)) {
        const WaveFormat& f = riff_.format;
        Recording& r = recording_;
        r.path = path;
        r.format = "audio";
        set_extents(riff_.data_bytes / f.block_align, f.channels, options);
        with_stored(f, [&](auto stored) { r.type = SampleTypeOf<typename decltype(stored)::Sample>::value; });
        r.stored_type = (f.ieee_float() ? "float" : f.bits <= 8 ? "uint" : "int") + to_text(Index{f.bits});
        if (f.valid < f.bits) r.stored_type += " (" + to_text(Index{f.valid}) + " bits used)";
        if (f.integer()) {
            r.stored_bits = f.valid;
            r.scaling.gain = {r.type == SampleType::int16 ? 0x1p-15 : 0x1p-31};
        }
        r.wide = f.ieee_float() ? f.bits == 64 : f.valid > 24;
        r.file_bytes = file_.size();
        metadata_ = read_metadata(file_, path, riff_);
        set_times(static_cast<double>(f.rate), options);
        ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
    }

    bool serial() const override { return false; }

    void read(Span span, Lanes lanes, std::byte* dst, Index) override {
        const bool whole = recording_.selected.empty() && lanes == Lanes::all(recording_.shape);
        with_stored(riff_.format, [&](auto stored) {
            using Stored = decltype(stored);
            if (whole && Stored::bytes == sizeof(typename Stored::Sample))
                read_as_is(span, dst);
            else
                read_widened<Stored>(span, lanes, reinterpret_cast<typename Stored::Sample*>(dst), whole);
        });
    }

  private:
    Index offset(Index frame) const { return riff_.data_offset + frame * riff_.format.block_align; }

    void read_as_is(Span span, std::byte* dst) const {
        constexpr Index piece = 1 << 20;
        const Index first = offset(span.first), bytes = span.count * riff_.format.block_align;
        tbb::parallel_for(Index{0}, (bytes + piece - 1) / piece, [&](Index i) {
            file_.read_at(recording_.path, first + i * piece, dst + i * piece,
                          std::min(piece, bytes - i * piece));
        });
    }

    /// By way of a buffer that stays in the cache.
    template <class Stored>
    void read_widened(Span span, Lanes lanes, typename Stored::Sample* dst, bool whole) const {
        const Index align = riff_.format.block_align, width = lanes.inner_count;
        const Index piece = std::max<Index>(1, (192 << 10) / align);
        tbb::parallel_for(Index{0}, (span.count + piece - 1) / piece, [&](Index i) {
            thread_local std::vector<unsigned char> buffer;
            const Index done = i * piece, count = std::min(piece, span.count - done);
            buffer.resize(static_cast<std::size_t>(piece * align + 4));
            file_.read_at(recording_.path, offset(span.first + done), buffer.data(), count * align);
            auto* out = dst + done * width;
            if (whole) {
                for (Index n = 0; n < count * width; ++n)
                    out[n] = Stored::load(&buffer[n * Stored::bytes]);
                return;
            }
            for (Index lane = 0; lane < width; ++lane) {
                const unsigned char* in = &buffer[column(lanes.inner_first + lane) * Stored::bytes];
                for (Index n = 0; n < count; ++n)
                    out[n * width + lane] = Stored::load(in + n * align);
            }
        });
    }

    File file_;
    Riff riff_;
};

}  // namespace

std::unique_ptr<Reader> open_plain(File file, Riff riff, const std::string& path,
                                   const OpenOptions& options) {
    return std::make_unique<PlainReader>(std::move(file), std::move(riff), path, options);
}

}  // namespace convoy::io::audio
