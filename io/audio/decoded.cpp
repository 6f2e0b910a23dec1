// Everything that libsndfile decodes: FLAC, AIFF, mu-law, ADPCM, Ogg, MP3, ... One thread, from any place in
// the file.
#include <fcntl.h>
#include <unistd.h>

#include <mutex>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/audio/audio.hpp"
#include "io/audio/sndfile.hpp"

namespace convoy::io::audio {
namespace {

/// Opens by descriptor: libsndfile then has no name to take for the content.
Sndfile open_decoder(const std::string& path, SF_INFO& info) {
    File file = File::reading(path);
    return Sndfile(sf_open_fd(file.release(), SFM_READ, &info, SF_TRUE));
}

struct Stored {
    SampleType type;
    int bits;  // 0 where the samples are no integers
};

Stored stored_as(int format) {
    switch (format & SF_FORMAT_SUBMASK) {
        case SF_FORMAT_PCM_S8:
        case SF_FORMAT_PCM_U8:
        case SF_FORMAT_DPCM_8:
            return {SampleType::int16, 8};
        case SF_FORMAT_DWVW_12:
            return {SampleType::int16, 12};
        case SF_FORMAT_ALAC_20:
            return {SampleType::int32, 20};
        case SF_FORMAT_PCM_24:
        case SF_FORMAT_DWVW_24:
        case SF_FORMAT_ALAC_24:
            return {SampleType::int32, 24};
        case SF_FORMAT_PCM_32:
        case SF_FORMAT_ALAC_32:
            return {SampleType::int32, 32};
        case SF_FORMAT_FLOAT:
        case SF_FORMAT_VORBIS:
        case SF_FORMAT_OPUS:
        case SF_FORMAT_MPEG_LAYER_I:
        case SF_FORMAT_MPEG_LAYER_II:
        case SF_FORMAT_MPEG_LAYER_III:
            return {SampleType::float32, 0};
        case SF_FORMAT_DOUBLE:
            return {SampleType::float64, 0};
        default:
            return {SampleType::int16, 16};
    }
}

std::string format_name(int format) {
    SF_FORMAT_INFO major{}, minor{};
    major.format = format & SF_FORMAT_TYPEMASK;
    minor.format = format & SF_FORMAT_SUBMASK;
    sf_command(nullptr, SFC_GET_FORMAT_INFO, &major, sizeof major);
    sf_command(nullptr, SFC_GET_FORMAT_INFO, &minor, sizeof minor);
    return std::string(major.name ? major.name : "audio") + ", " +
           (minor.name ? minor.name : "unknown coding");
}

sf_count_t read_frames(SNDFILE* file, std::int16_t* to, sf_count_t n) {
    return sf_readf_short(file, to, n);
}
sf_count_t read_frames(SNDFILE* file, std::int32_t* to, sf_count_t n) {
    return sf_readf_int(file, to, n);
}
sf_count_t read_frames(SNDFILE* file, float* to, sf_count_t n) {
    return sf_readf_float(file, to, n);
}
sf_count_t read_frames(SNDFILE* file, double* to, sf_count_t n) {
    return sf_readf_double(file, to, n);
}

class DecodingReader : public AudioReader {
  public:
    DecodingReader(const std::string& path, const Riff* riff, const OpenOptions& options) {
        SF_INFO info{};
        file_ = open_decoder(path, info);
        if (!file_) {
            const std::string why = sf_strerror(nullptr);
            throw failed(path,
                         riff ? "cannot be decoded: " + why : "is of no format that is known here: " + why,
                         "audio and HDF5 are read");
        }
        channels_ = info.channels;
        const Stored stored = stored_as(info.format);
        Recording& r = recording_;
        r.path = path;
        r.format = "audio";
        r.type = stored.type;
        r.stored_type = format_name(info.format);
        r.stored_bits = stored.bits;
        if (stored.type == SampleType::int16) r.scaling.gain = {0x1p-15};
        if (stored.type == SampleType::int32) r.scaling.gain = {0x1p-31};
        r.wide = stored.type == SampleType::float64 || stored.bits > 24;
        if (info.samplerate <= 0)
            throw failed(path, "its header says a sample rate of " + to_text(Index{info.samplerate}) + " Hz");
        if (channels_ <= 0) throw failed(path, "its header says 0 channels", "the header is broken");
        seekable_ = info.seekable != 0;
        set_extents(info.frames, channels_, options);
        read_tags(path, riff);
        set_times(info.samplerate, options);
    }

    bool sequential() const override { return !seekable_; }

    void read(Span span, Lanes lanes, std::byte* dst, Index) override {
        std::scoped_lock lock(mutex_);
        if (at_ != span.first && (!seekable_ || sf_seek(file_.get(), span.first, SEEK_SET) != span.first))
            throw failed(recording_.path, "frame " + to_text(span.first) +
                                              " cannot be reached: " + std::string(sf_strerror(file_.get())));
        at_ = span.first;
        const bool whole = recording_.selected.empty() && lanes == Lanes::all(recording_.shape);
        dispatch(recording_.type, [&](auto zero) {
            using T = decltype(zero);
            T* out = reinterpret_cast<T*>(dst);
            if (whole)
                decode(out, span.count);
            else
                pick(out, span.count, lanes);
        });
    }

  private:
    template <class T>
    void decode(T* to, Index frames) {
        const sf_count_t got = read_frames(file_.get(), to, frames);
        at_ += got;
        if (got == frames) return;
        const std::string why = sf_error(file_.get()) ? sf_strerror(file_.get()) : "the samples end";
        const Index end = std::exchange(at_, -1);
        throw failed(recording_.path, "cannot be decoded beyond frame " + to_text(end) + ": " + why,
                     "the file is damaged");
    }

    /// Some of the channels, by way of a buffer with all.
    template <class T>
    void pick(T* out, Index frames, Lanes lanes) {
        const Index piece = std::max<Index>(1, (256 << 10) / (channels_ * Index{sizeof(T)}));
        buffer_.resize(static_cast<std::size_t>(piece * channels_) * sizeof(T));
        T* all = reinterpret_cast<T*>(buffer_.data());
        for (Index done = 0; done < frames; done += piece) {
            const Index count = std::min(piece, frames - done);
            decode(all, count);
            for (Index lane = 0; lane < lanes.inner_count; ++lane) {
                const T* in = all + column(lanes.inner_first + lane);
                for (Index n = 0; n < count; ++n)
                    out[(done + n) * lanes.inner_count + lane] = in[n * channels_];
            }
        }
    }

    void read_tags(const std::string& path, const Riff* riff) {
        const File file = File::reading(path);
        recording_.file_bytes = file.size();
        if (riff) {
            metadata_ = read_metadata(file, path, *riff);
            return;
        }
        for (const auto& [code, name] : sndfile_tags)
            if (const char* text = sf_get_string(file_.get(), code)) metadata_.tags.emplace_back(name, text);
        SF_CUES cues{};
        if (sf_command(file_.get(), SFC_GET_CUE, &cues, sizeof cues) == SF_TRUE)
            for (std::uint32_t i = 0; i < std::min<std::uint32_t>(cues.cue_count, 100); ++i)
                metadata_.cues.push_back({static_cast<std::uint32_t>(cues.cue_points[i].indx),
                                          static_cast<Index>(cues.cue_points[i].sample_offset)});
    }

    Sndfile file_;
    std::mutex mutex_;
    std::vector<std::byte> buffer_;
    Index channels_ = 0;
    Index at_ = 0;  // frame that comes next; -1: not known
    bool seekable_ = false;
};

}  // namespace

std::unique_ptr<Reader> open_sndfile(const std::string& path, const Riff* riff, const OpenOptions& options) {
    return std::make_unique<DecodingReader>(path, riff, options);
}

bool sndfile_recognizes(const std::string& path) {
    SF_INFO info{};
    return open_decoder(path, info) != nullptr;
}

}  // namespace convoy::io::audio
