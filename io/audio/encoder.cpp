// AIFF and FLAC, which libsndfile writes: frames in order, all channels at once.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/audio/sndfile.hpp"
#include "io/audio/writer.hpp"

namespace convoy::io::audio {
namespace {

int coding(Encoding encoding) {
    constexpr int codes[] = {SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
                             SF_FORMAT_DOUBLE};
    return codes[static_cast<int>(encoding)];
}

class Encoder : public Writer {
  public:
    Encoder(const OutputSpec& spec, Encoding encoding)
        : spec_(spec),
          flac_(ending_of(spec) == "flac"),
          encoding_(encoding),
          part_(spec.path, flac_ ? 0 : spec.shape.samples() * bytes_of(encoding)) {
        SF_INFO info{};
        info.samplerate = static_cast<int>(std::lround(*spec.rate));
        info.channels = static_cast<int>(spec.shape.lanes());
        info.format = (flac_ ? SF_FORMAT_FLAC : SF_FORMAT_AIFF) | coding(encoding);
        file_.reset(sf_open_fd(::dup(part_.file().descriptor()), SFM_WRITE, &info, SF_TRUE));
        if (!file_) throw failed(spec.path, "cannot be written: " + std::string(sf_strerror(nullptr)));
        write_metadata(travelling(spec));
        spec_.source = nullptr;  // may go before this does
    }

    bool ordered() const override { return true; }

    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        if (span.first != next_ || lanes != Lanes::all(spec_.shape))
            throw failed(spec_.path, "frame " + to_text(span.first) + " came out of order; " +
                                         to_text(next_) + " is due");
        const Encoding held =
            encoding_ == Encoding::int24 ? Encoding::int32 : encoding_;  // left-justified there
        const Index frame_bytes = spec_.shape.lanes() * bytes_of(held);
        const Index piece = std::max<Index>(1, (256 << 10) / frame_bytes);
        buffer_.resize(static_cast<std::size_t>(piece * frame_bytes + 8));
        for (Index done = 0; done < span.count; done += piece) {
            const Index count = std::min(piece, span.count - done);
            encode_piece({done, count}, lanes, src, pitch);
            if (write_frames(count) != count)
                throw failed(spec_.path, "cannot be written: " + std::string(sf_strerror(file_.get())),
                             "is the disk full?");
        }
        next_ = span.end();
    }

    void finish() override {
        if (next_ != spec_.shape.frames)
            throw failed(spec_.path,
                         to_text(next_) + " of " + to_text(spec_.shape.frames) + " frames were written");
        sf_write_sync(file_.get());
        if (const int code = sf_close(file_.release()))
            throw failed(spec_.path, "cannot be written: " + std::string(sf_error_number(code)));
        losses_.report(spec_.path);
        part_.commit(spec_.sync, spec_.overwrite);
    }

    Index clipped() const override { return losses_.clipped; }

  private:
    void encode_piece(Span part, Lanes lanes, const std::byte* src, Index pitch) {
        const Index channels = spec_.shape.lanes();
        if (encoding_ != Encoding::int24) {
            encode(spec_, encoding_, src, pitch, lanes, part, buffer_.data(), channels * bytes_of(encoding_),
                   losses_);
            return;
        }
        packed_.resize(static_cast<std::size_t>(3 * channels * part.count));
        encode(spec_, encoding_, src, pitch, lanes, part, packed_.data(), 3 * channels, losses_);
        for (Index i = 0; i < channels * part.count; ++i) {
            buffer_[4 * i] = 0;
            std::memcpy(&buffer_[4 * i + 1], &packed_[3 * i], 3);
        }
    }

    sf_count_t write_frames(Index count) {
        const void* data = buffer_.data();
        switch (encoding_) {
            case Encoding::int16:
                return sf_writef_short(file_.get(), static_cast<const std::int16_t*>(data), count);
            case Encoding::float32:
                return sf_writef_float(file_.get(), static_cast<const float*>(data), count);
            case Encoding::float64:
                return sf_writef_double(file_.get(), static_cast<const double*>(data), count);
            default:
                return sf_writef_int(file_.get(), static_cast<const std::int32_t*>(data), count);
        }
    }

    void write_metadata(const Metadata& metadata) {
        // Neither format has a place for bext: its time goes into the date (AIFF: the comment), where that is
        // free.
        const int time_tag = flac_ ? SF_STR_DATE : SF_STR_COMMENT;
        bool dated = false;
        for (const auto& [name, text] : metadata.tags)
            for (const auto& [code, tag] : sndfile_tags)
                if (tag == name) {
                    sf_set_string(file_.get(), code, text.c_str());
                    dated |= code == time_tag;
                }
        for (const auto& [id, contents] : metadata.chunks) {
            if (id != "bext" || dated) continue;
            if (const auto time = Bext(contents, *spec_.rate).start)
                sf_set_string(file_.get(), time_tag, to_iso8601(*time).c_str());
        }
        if (metadata.cues.empty() || flac_) return;
        SF_CUES cues{};
        cues.cue_count = static_cast<std::uint32_t>(std::min<std::size_t>(100, metadata.cues.size()));
        for (std::uint32_t i = 0; i < cues.cue_count; ++i) {
            cues.cue_points[i].indx = static_cast<std::int32_t>(metadata.cues[i].id);
            cues.cue_points[i].position = static_cast<std::uint32_t>(metadata.cues[i].frame);
            cues.cue_points[i].sample_offset = static_cast<std::uint32_t>(metadata.cues[i].frame);
            std::memcpy(&cues.cue_points[i].fcc_chunk, "data", 4);
        }
        sf_command(file_.get(), SFC_SET_CUE, &cues, sizeof cues);
    }

    OutputSpec spec_;
    bool flac_;
    Encoding encoding_;
    PartFile part_;
    Sndfile file_;
    Index next_ = 0;
    std::vector<unsigned char> buffer_, packed_;
    Losses losses_;
};

}  // namespace

std::unique_ptr<Writer> create_encoder(const OutputSpec& spec, Encoding encoding) {
    return std::make_unique<Encoder>(spec, encoding);
}

}  // namespace convoy::io::audio
