// What the writers of audio share: the encoding, samples on their way to it, and the chunks that go with
// them.
#pragma once

#include <atomic>

#include "io/audio/audio.hpp"

namespace convoy::io::audio {

/// How samples stand in an audio file.
enum class Encoding { int16, int24, int32, float32, float64 };
constexpr Index bytes_of(Encoding e) {
    constexpr Index bytes[] = {2, 3, 4, 4, 8};
    return bytes[static_cast<int>(e)];
}
constexpr int bits_of(Encoding e) {
    return static_cast<int>(8 * bytes_of(e));
}
constexpr bool is_integer(Encoding e) {
    return e <= Encoding::int32;
}

/// Samples that an integer could not hold.
struct Losses {
    std::atomic<Index> clipped{0}, not_finite{0};
    /// Warns of those that were no numbers.
    void report(const std::string& path) const;
};

/// Turns frames of `lanes` of `spec`'s signal (src as [outer][pitch][inner]) into interleaved little-endian
/// samples of `encoding`, `frame_bytes` from frame to frame; `first` is the frame of src to begin with.
/// Integers are value times 2^(b-1), rounded to nearest even, kept within range and counted. Any number of
/// threads at once.
void encode(const OutputSpec& spec, Encoding encoding, const std::byte* src, Index pitch, Lanes lanes,
            Span part, unsigned char* out, Index frame_bytes, Losses& losses);

/// Width of the output: spec.bits, else as the input. Error where the container (its name for messages) has
/// none such.
Encoding choose_encoding(const OutputSpec& spec, bool integers_only);

/// What makes a sample of the spec's type 1 at full scale.
double full_scale_gain(const OutputSpec& spec);

/// Metadata of the source, made true for the frames that are written (time_first, time_step, rate).
Metadata travelling(const OutputSpec& spec);

std::unique_ptr<Writer> create(const OutputSpec& spec);
/// OutputSpec::identity of a WAV, RF64 or W64 file; empty where there is none.
std::string identity_in(const std::string& path);
std::unique_ptr<Writer> create_wave(const OutputSpec& spec, Encoding encoding);     // WAV, RF64, W64
std::unique_ptr<Writer> create_encoder(const OutputSpec& spec, Encoding encoding);  // AIFF, FLAC

/// The header of a WAV, RF64 or W64 file, up to the first sample.
std::string wave_header(const OutputSpec& spec, Encoding encoding, const Metadata& metadata);

}  // namespace convoy::io::audio
