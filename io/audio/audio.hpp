// What the parts of the audio format share: readers know the metadata that travels from file to file.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/audio/riff.hpp"
#include "io/format.hpp"
#include "io/timestamp.hpp"

namespace convoy::io::audio {

/// A marker: a name for one frame.
struct Cue {
    std::uint32_t id = 0;
    Index frame = 0;
};

/// What an audio file says beside its samples. Raw chunks (bext, LIST, cue, guan, iXML) come as RIFF stores
/// them.
struct Metadata {
    std::vector<std::pair<std::string, std::string>>
        tags;  // title, artist, comment, ...: UTF-8 as in the file
    std::vector<std::pair<std::string, std::string>> chunks;  // (id, contents)
    std::vector<Cue> cues;
};

/// A reader of audio: what a writer of audio finds its metadata in.
class AudioReader : public Reader {
  public:
    const Metadata& metadata() const { return metadata_; }

  protected:
    /// Sets what follows from frames and channels: dims, shape, selection. Error where either is missing.
    void set_extents(Index frames, Index channels, const OpenOptions& options);
    /// Sets rate and start time, from options or what the file says.
    void set_times(double rate, const OpenOptions& options);
    /// Column of the file that lane `inner` of the signal comes from.
    Index column(Index inner) const {
        return recording_.selected.empty() ? inner : recording_.selected[static_cast<std::size_t>(inner)];
    }

    Metadata metadata_;
};

/// Readers: of plain samples in the RIFF family, straight from the file, and of all that libsndfile decodes.
std::unique_ptr<Reader> open_plain(File file, Riff riff, const std::string& path, const OpenOptions& options);
std::unique_ptr<Reader> open_sndfile(const std::string& path, const Riff* riff, const OpenOptions& options);
/// Whether libsndfile knows the file's content.
bool sndfile_recognizes(const std::string& path);

/// Reads the chunks that travel, and the tags and cues in them.
Metadata read_metadata(const File& file, const std::string& path, const Riff& riff);

/// Time of the first sample and where it was found: bext, GUANO, then text among the tags.
struct Start {
    std::string time, source;
};
std::optional<Start> start_of(const Metadata& metadata, double rate);

/// Numbers in the contents of chunks, little-endian.
std::uint32_t get32(const std::string& bytes, std::size_t at);
void put32(std::string& bytes, std::size_t at, std::uint32_t value);
/// A text field of fixed length, up to its first NUL.
std::string fixed_text(const std::string& bytes, std::size_t at, std::size_t length);

/// The fields of a bext chunk (EBU Tech 3285) that say when.
struct Bext {
    static constexpr std::size_t description = 0, originator = 256, date = 320, time = 330, reference = 338,
                                 length = 602;
    std::optional<Timestamp> origin;  // date and time of origination, to the second
    std::uint64_t count = 0;          // samples since midnight
    /// The time of the first sample: that of origination, refined by `count` where the two agree within two
    /// seconds.
    std::optional<Timestamp> start;
    bool refined = false;
    Bext(const std::string& chunk, double rate);
};

}  // namespace convoy::io::audio
