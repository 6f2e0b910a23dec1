// Audio outputs, read back here and by Python's wave module: values, widths, clipping, what travels, and what
// is left after a failure.
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "io/audio/writer.hpp"
#include "io/format.hpp"
#include "tests/catch.hpp"
#include "tests/io/temporary.hpp"

using namespace convoy;
using convoy::test::Temporary;
using convoy::test::Warnings;

namespace {

io::OutputSpec spec_of(const std::string& path, Index frames, Index channels, double rate = 8000) {
    io::OutputSpec spec;
    spec.path = path;
    spec.dims = {frames, channels};
    spec.shape = {1, frames, channels};
    spec.rate = rate;
    return spec;
}

template <class T>
void write_all(io::Writer& writer, const std::vector<T>& samples, Shape shape, Index piece = 1 << 20) {
    for (Index first = 0; first < shape.frames; first += piece) {
        const Index count = std::min(piece, shape.frames - first);
        writer.write({first, count}, Lanes::all(shape),
                     reinterpret_cast<const std::byte*>(samples.data() + first * shape.inner), count);
    }
}

std::vector<float> noise(Index n) {
    std::vector<float> x(static_cast<std::size_t>(n));
    std::uint32_t state = 1;
    for (float& v : x) {
        state = state * 1664525 + 1013904223;
        v = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
    }
    return x;
}

std::vector<double> read_back(const std::string& path) {
    const auto reader = io::catalog().at("audio").open(path, {});
    const io::Recording& r = reader->recording();
    std::vector<std::byte> bytes(static_cast<std::size_t>(r.shape.samples() * bytes_of(r.type)));
    reader->read({0, r.shape.frames}, Lanes::all(r.shape), bytes.data(), r.shape.frames);
    const double gain = r.scaling.gain.empty() ? 1 : r.scaling.gain[0];
    std::vector<double> x;
    dispatch(r.type, [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
            T v;
            std::memcpy(&v, &bytes[i], sizeof v);
            x.push_back(static_cast<double>(v) * gain);
        }
    });
    return x;
}

}  // namespace

TEST_CASE("every ending and width comes back as it was written") {
    const auto [name, bits, full] =
        GENERATE(table<std::string, std::string, double>({{"a.wav", "16", 0x1p15},
                                                          {"a.wav", "24", 0x1p23},
                                                          {"a.wav", "32", 0x1p31},
                                                          {"a.wav", "32f", 0},
                                                          {"a.wav", "64f", 0},
                                                          {"a.w64", "16", 0x1p15},
                                                          {"a.w64", "32f", 0},
                                                          {"a.rf64", "24", 0x1p23},
                                                          {"a.aiff", "16", 0x1p15},
                                                          {"a.aiff", "24", 0x1p23},
                                                          {"a.aif", "32f", 0},
                                                          {"a.flac", "16", 0x1p15},
                                                          {"a.flac", "24", 0x1p23}}));
    INFO(name << " " << bits);
    Temporary folder;
    const Index frames = 777, channels = 3;
    io::OutputSpec spec = spec_of(folder.file(name), frames, channels);
    spec.bits = bits;
    const auto x = noise(frames * channels);
    const auto writer = io::create(spec);
    write_all(*writer, x, spec.shape, 100);
    CHECK(folder.names() == std::vector<std::string>{name + ".part"});
    writer->finish();
    CHECK(folder.names() == std::vector<std::string>{name});
    const auto got = read_back(spec.path);
    REQUIRE(got.size() == x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double wanted = full == 0 ? x[i] : std::min(std::nearbyint(x[i] * full), full - 1) / full;
        if (got[i] != wanted) FAIL_CHECK("sample " << i << ": " << got[i] << ", expected " << wanted);
    }
}

TEST_CASE("16 bits are a plain RIFF file with format tag 1") {
    Temporary folder;
    io::OutputSpec spec = spec_of(folder.file("a.wav"), 1000, 2, 44100);
    spec.bits = "16";
    const auto x = noise(2000);
    const auto writer = io::create(spec);
    write_all(*writer, x, spec.shape);
    writer->finish();
    CHECK(std::filesystem::file_size(spec.path) == 44 + 4000);
    const auto got = test::python_numbers(
        "import wave, numpy as np\nf = wave.open('" + spec.path +
        "')\n"
        "assert (f.getframerate(), f.getsampwidth(), f.getnchannels()) == (44100, 2, 2)\n"
        "x = np.frombuffer(f.readframes(f.getnframes()), '<i2')\n");
    const auto back = read_back(spec.path);
    REQUIRE(got.size() == 2000);
    for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == back[i] * 32768);
}

TEST_CASE("values out of range stop at full scale and are counted") {
    Temporary folder;
    Warnings warnings;
    io::OutputSpec spec = spec_of(folder.file("a.wav"), 9, 1);
    spec.bits = "16";
    const float inf = std::numeric_limits<float>::infinity(), u = 0x1p-15F;
    // Halves go to the even neighbour.
    const std::vector<float> x{1.0F, -1.0F, 1 - u, -1 - u, inf, std::nanf(""), 0.5F * u, 1.5F * u, -2.5F * u};
    const auto writer = io::create(spec);
    write_all(*writer, x, spec.shape);
    writer->finish();
    CHECK(writer->clipped() == 3);  // 1, -1 - u and infinity
    CHECK(warnings.all.size() == 1);
    const std::vector<double> wanted{32767, -32768, 32767, -32768, 32767, 0, 0, 2, -2};
    const auto got = read_back(spec.path);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        CHECK(got[i] * 32768 == wanted[i]);
}

TEST_CASE("channels in groups and channel rows land where they belong") {
    Temporary folder;
    const Index frames = 500, channels = 6;
    const auto x = noise(frames * channels);  // [frame][channel]
    const bool rows = GENERATE(false, true);
    io::OutputSpec spec = spec_of(folder.file("a.wav"), frames, channels);
    if (rows) {
        spec.dims = {channels, frames};
        spec.time_axis = 1;
        spec.shape = {channels, frames, 1};
    }
    const auto writer = io::create(spec);
    for (Index c = 0; c < channels; c += 2) {  // two channels a pass, frames back to front
        for (Index first = 400; first >= 0; first -= 100) {
            std::vector<float> part(2 * 120);  // a pitch wider than the span
            for (Index n = 0; n < 100; ++n)
                for (Index k = 0; k < 2; ++k)
                    part[rows ? k * 120 + n : 2 * n + k] = x[(first + n) * channels + c + k];
            const Lanes lanes = rows ? Lanes{c, 2, 0, 1} : Lanes{0, 1, c, 2};
            writer->write({first, 100}, lanes, reinterpret_cast<const std::byte*>(part.data()), 120);
        }
    }
    writer->finish();
    const auto got = read_back(spec.path);
    for (std::size_t i = 0; i < x.size(); ++i)
        CHECK(got[i] == x[i]);
}

TEST_CASE("tags, bext, GUANO and markers travel, moved to the frames that are written") {
    Temporary folder;
    std::string bext(602, '\0');
    bext.replace(0, 5, "a pond");
    bext.replace(320, 18,
                 "2021-03-04"
                 "00:00:10");
    const std::uint32_t count = 10 * 8000;
    std::memcpy(&bext[338], &count, 4);
    const std::string info("INFOINAM\x06\0\0\0title\0", 18);
    std::string cues(4 + 48, '\0');
    cues[0] = 2;
    cues[4] = 1, cues[24] = 100;                        // frame 100: before what is written
    cues[28] = 2, cues[48] = char(0x90), cues[49] = 1;  // frame 400
    test::write_wav(folder.file("in.wav"), 8000, 1, std::vector<std::int16_t>(1000, 7),
                    {{"bext", bext}, {"guan", "Timestamp: 2021-03-04T00:00:10Z\nSamplerate: 8000\nX: 1"}},
                    {{"LIST", info}, {"cue ", cues}, {"iXML", "<a/>"}});
    const std::string name = GENERATE(as<std::string>{}, "out.wav", "out.w64", "out.aiff", "out.flac");
    INFO(name);
    const auto source = io::catalog().at("audio").open(folder.file("in.wav"), {});
    io::OutputSpec spec = spec_of(folder.file(name), 400, 1, 4000);
    spec.source = source.get();
    spec.time_first = 200;
    spec.time_step = 2;
    const auto writer = io::create(spec);
    write_all(*writer, noise(400), spec.shape);
    writer->finish();
    const auto back = io::catalog().at("audio").open(spec.path, {});
    const io::Recording& r = back->recording();
    CHECK(r.stored_bits == 16);
    CHECK(r.start_time == std::string("2021-03-04T00:00:10.025"));
    const auto& metadata = dynamic_cast<const io::audio::AudioReader&>(*back).metadata();
    CHECK(std::find(metadata.tags.begin(), metadata.tags.end(),
                    std::pair<std::string, std::string>("title", "title")) != metadata.tags.end());
    if (name != "out.flac") {
        REQUIRE(metadata.cues.size() == 1);
        CHECK(metadata.cues[0].frame == 100);
    }
    for (const auto& [id, contents] : metadata.chunks) {
        CHECK(id != "iXML");
        if (id == "guan") CHECK(contents == "Timestamp: 2021-03-04T00:00:10.025Z\nSamplerate: 4000\nX: 1");
    }
}

TEST_CASE("past 4 GiB the header is RF64, and sizes are 64-bit") {
    io::OutputSpec spec = spec_of("a.wav", (Index{1} << 31) + 5, 2, 48000);
    const std::string header = io::audio::wave_header(spec, io::audio::Encoding::int16, {});
    CHECK(header.substr(0, 4) == "RF64");
    std::uint64_t data = 0, riff = 0;
    std::memcpy(&riff, &header[20], 8);
    std::memcpy(&data, &header[28], 8);
    CHECK(data == ((std::uint64_t{1} << 31) + 5) * 4);
    CHECK(riff == header.size() - 8 + data);
    spec.shape.frames = 1000;
    CHECK(io::audio::wave_header(spec, io::audio::Encoding::int16, {}).substr(0, 4) == "RIFF");
}

TEST_CASE("what does not fit an audio file is an error") {
    Temporary folder;
    io::OutputSpec spec = spec_of(folder.file("a.wav"), 10, 1, 193.5);
    CHECK_THROWS_WITH(io::create(spec), containing("193.5"));
    spec.rate.reset();
    CHECK_THROWS_WITH(io::create(spec), containing("--rate"));
    spec = spec_of(folder.file("a.flac"), 10, 9);
    CHECK_THROWS_WITH(io::create(spec), containing("9 channels"));
    spec = spec_of(folder.file("a.wav"), 10, 1);
    spec.bits = "12";
    CHECK_THROWS_AS(io::create(spec), Error);
    spec.bits.clear();
    spec.complex = true;
    CHECK_THROWS_AS(io::create(spec), Error);
    CHECK(folder.names().empty());
}

TEST_CASE("an output is refused before anything is written") {
    Temporary folder;
    const std::string in = folder.file("in.wav");
    test::write_wav(in, 8000, 1, std::vector<std::int16_t>(10, 7));
    const std::string before = test::file_bytes(in);
    std::filesystem::create_symlink(in, folder.file("link.wav"));
    std::filesystem::create_hard_link(in, folder.file("hard.wav"));
    const auto source = io::catalog().at("audio").open(in, {});
    const auto message = [&](const std::string& name, bool overwrite, Index frames = 10) -> std::string {
        io::OutputSpec spec = spec_of(folder.file(name), frames, 1);
        spec.source = source.get();
        spec.overwrite = overwrite;
        try {
            io::create(spec);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    for (const std::string name : {"in.wav", "./in.wav", "link.wav", "hard.wav"})
        CHECK_THAT(message(name, true), containing("input itself"));
    test::copy_file(in, folder.file("other.wav"));
    CHECK_THAT(message("other.wav", false), containing("exists already"));
    CHECK(message("other.wav", true).empty());
    CHECK_THAT(message("no/where.wav", false), containing("not there"));
    std::filesystem::create_directory(folder.file("sub.wav"));
    CHECK_THAT(message("sub.wav", true), containing("is a folder"));
    CHECK_THAT(message("x.mp3", true), containing("not written"));
    CHECK_THAT(message("big.w64", true, Index{1} << 52), containing("are free"));
    CHECK(test::file_bytes(in) == before);
    for (const std::string& name : folder.names())
        CHECK(name.find(".part") == std::string::npos);
}

TEST_CASE("two runs to one output: the second is told, and a killed run's rest does no harm") {
    Temporary folder;
    const io::OutputSpec spec = spec_of(folder.file("a.wav"), 10, 1);
    {
        std::vector<std::int16_t> rest(100000, 3);
        test::write_wav(folder.file("a.wav.part"), 8000, 1, rest);
    }
    auto first = io::create(spec);
    CHECK_THROWS_WITH(io::create(spec), containing("another run"));
    write_all(*first, noise(10), spec.shape);
    first->finish();
    CHECK(std::filesystem::file_size(spec.path) < 200);
    CHECK_THROWS_AS(io::create(spec), Error);  // exists
    io::OutputSpec again = spec;
    again.overwrite = true;
    auto dropped = io::create(again);
    dropped.reset();
    CHECK(folder.names() == std::vector<std::string>{"a.wav"});
}
