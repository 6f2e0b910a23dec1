// Which audio file is written: container and width, and what does not fit one.
#include "io/audio/writer.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::io::audio {

Encoding choose_encoding(const OutputSpec& spec, bool integers_only) {
    std::string bits = spec.bits;
    const Recording* in = spec.source ? &spec.source->recording() : nullptr;
    if (bits.empty() && in && in->stored_bits > 0) {
        bits = in->stored_bits <= 16 ? "16" : in->stored_bits <= 24 || integers_only ? "24" : "32";
    } else if (bits.empty()) {
        bits = spec.type == SampleType::int16 ? "16" : integers_only ? "24" : in && in->wide ? "64f" : "32f";
    }
    const auto is = [&](std::string_view word) { return bits == word; };
    if (is("16")) return Encoding::int16;
    if (is("24")) return Encoding::int24;
    if (integers_only) throw usage_error("--bits " + bits + ": FLAC holds 16 or 24 bits", {}, spec.path);
    if (is("32")) return Encoding::int32;
    if (is("32f")) return Encoding::float32;
    if (is("64f")) return Encoding::float64;
    throw usage_error("--bits " + bits + " is not known", "choose one of 16, 24, 32, 32f, 64f", spec.path);
}

void Losses::report(const std::string& path) const {
    if (not_finite > 0)
        warn(path, to_text(Index{not_finite}) +
                       " samples are NaN, which integers cannot hold; they are written as 0");
}

std::unique_ptr<Writer> create(const OutputSpec& spec) {
    const Index channels = spec.shape.lanes();
    if (spec.complex)
        throw usage_error("complex samples do not fit an audio file", "write HDF5 (.h5)", spec.path);
    if (!spec.signal || spec.dims.size() > 2)
        throw usage_error("only signals of one or more channels fit an audio file", "write HDF5 (.h5)",
                          spec.path);
    const std::string ending = ending_of(spec);
    const bool flac = ending == "flac", aiff = ending == "aiff" || ending == "aif";
    const Index most = flac ? 8 : 65535;
    if (channels > most)
        throw failed(spec.path,
                     to_text(channels) + " channels, and at most " + to_text(most) + " fit this format",
                     "write HDF5 (.h5), or pick some with --channels");
    if (!spec.rate)
        throw failed(spec.path, "an audio file needs a sample rate, and none is known", "give --rate HZ");
    const double rate = *spec.rate, whole = std::round(rate);
    if (!(whole >= 1 && whole <= 4294967295.0) || std::abs(rate - whole) > 1e-6 * rate)
        throw failed(spec.path, "an audio file holds whole rates, and this is " + to_text(rate) + " Hz",
                     "write HDF5 (.h5)");
    const Encoding encoding = choose_encoding(spec, flac);
    if (aiff && spec.shape.samples() * bytes_of(encoding) > Index{0xFFFF0000})
        throw failed(spec.path, "more than 4 GiB do not fit an AIFF file", "write WAV or W64");
    return flac || aiff ? create_encoder(spec, encoding) : create_wave(spec, encoding);
}

}  // namespace convoy::io::audio

namespace convoy::io {

FullScale full_scale(const OutputSpec& spec) {
    const audio::Encoding encoding = audio::choose_encoding(spec, ending_of(spec) == "flac");
    const double step = audio::is_integer(encoding) ? std::exp2(1 - audio::bits_of(encoding)) : 0;
    return {audio::full_scale_gain(spec), 1 - step};
}

}  // namespace convoy::io
