// The audio format: WAV, RF64, BW64, W64, AIFF, FLAC and everything else that libsndfile reads, told by
// content.
#include "io/audio/audio.hpp"

#include <chrono>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/audio/writer.hpp"

namespace convoy::io {
namespace audio {

void AudioReader::set_extents(Index frames, Index channels, const OpenOptions& options) {
    Recording& r = recording_;
    if (options.image)
        throw failed(r.path, "holds a signal, and an image is needed", "make one of it: convoy spectrogram");
    if (options.time_axis && *options.time_axis != 0)
        throw usage_error(
            "--time-axis " + to_text(Index{*options.time_axis}) + ": the time axis of audio is 0", {},
            r.path);
    if (!options.dataset.empty()) throw usage_error("audio has no datasets", "leave out --dataset", r.path);
    if (frames <= 0) throw failed(r.path, "has no samples (0 frames)", "leave it out");
    if (!options.channels.empty()) r.selected = parse_channels(options.channels, channels, r.path);
    const Index kept = r.selected.empty() ? channels : static_cast<Index>(r.selected.size());
    r.dims = {frames, kept};
    r.time_axis = 0;
    r.time_axis_source = "audio: frames x channels";
    r.shape = {1, frames, kept};
}

void AudioReader::set_times(double rate, const OpenOptions& options) {
    Recording& r = recording_;
    r.tags = metadata_.tags;
    const auto written = std::filesystem::last_write_time(r.path);
    r.modified = to_iso8601({std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::file_clock::to_sys(written).time_since_epoch())
                                 .count(),
                             true});
    r.rate = options.rate ? *options.rate : rate;
    r.rate_source = options.rate ? "--rate" : "header";
    if (!options.filename_time.empty()) {
        if (const auto time = time_in_name(r.path, options.filename_time)) {
            r.start_time = to_iso8601(*time);
            r.start_time_source = "file name";
            return;
        }
        throw failed(r.path,
                     "its name has no time that fits --filename-time '" + options.filename_time + "'");
    }
    if (const auto start = start_of(metadata_, rate)) {
        r.start_time = start->time;
        r.start_time_source = start->source;
    }
}

namespace {

bool recognizes(const std::string& path) {
    const File file = File::reading(path);
    char head[16] = {};
    const Index got = file.read_some(path, 0, head, sizeof head);
    return is_riff({head, static_cast<std::size_t>(got)}) || sndfile_recognizes(path);
}

std::unique_ptr<Reader> open(const std::string& path, const OpenOptions& options) {
    File file = File::reading(path);
    char head[16] = {};
    const Index got = file.read_some(path, 0, head, sizeof head);
    if (!is_riff({head, static_cast<std::size_t>(got)})) return open_sndfile(path, nullptr, options);
    Riff riff = parse_riff(file, path);
    if (riff.format.plain()) return open_plain(std::move(file), std::move(riff), path, options);
    return open_sndfile(path, &riff, options);
}

}  // namespace
}  // namespace audio

extern constinit const Format audio_format{
    .name = "audio",
    .summary = "WAV, RF64, BW64, W64, AIFF, FLAC and what else libsndfile reads",
    .extensions = ".wav .w64 .aiff .aif .flac .rf64 .wave",
    .recognizes = audio::recognizes,
    .open = audio::open,
    .create = audio::create,
    .identity = audio::identity_in,
    .signals = [](const std::string& path) { return std::vector{path}; },
};

}  // namespace convoy::io
