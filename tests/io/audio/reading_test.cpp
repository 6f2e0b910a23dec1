// What audio files say, and the samples in them: the cases 01 to 24, and files written here byte by byte.
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <tuple>

#include "core/base/error.hpp"
#include "io/format.hpp"
#include "tests/catch.hpp"
#include "tests/io/temporary.hpp"

using namespace convoy;
using convoy::test::Temporary;
using convoy::test::Warnings;

namespace {

const io::Format& audio() {
    return io::catalog().at("audio");
}

std::string case_file(const std::string& name) {
    return "tests/cases/" + name + "/input.wav";
}

std::unique_ptr<io::Reader> open_audio(const std::string& path, const io::OpenOptions& options = {}) {
    REQUIRE(audio().recognizes(path));
    return audio().open(path, options);
}

/// All samples, as the values that they stand for.
std::vector<double> values(io::Reader& reader, Span span, Lanes lanes) {
    const io::Recording& r = reader.recording();
    std::vector<std::byte> bytes(static_cast<std::size_t>(span.count * lanes.count() * bytes_of(r.type)));
    reader.read(span, lanes, bytes.data(), span.count);
    const double gain = r.scaling.gain.empty() ? 1 : r.scaling.gain[0];
    std::vector<double> result;
    dispatch(r.type, [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
            T value;
            std::memcpy(&value, &bytes[i], sizeof value);
            result.push_back(static_cast<double>(value) * gain);
        }
    });
    return result;
}
std::vector<double> values(io::Reader& reader) {
    return values(reader, {0, reader.recording().shape.frames}, Lanes::all(reader.recording().shape));
}

/// The samples as SoX-like readers see them: by Python's struct, from the bytes of the data chunk.
std::vector<double> by_python(const std::string& path, Index skip, Index bytes, const std::string& kind) {
    return test::python_numbers(
        "import sys, numpy as np\n"
        "b = open('" +
        path + "', 'rb').read()[" + std::to_string(skip) + ":][:" + std::to_string(bytes) +
        "]\n"
        "kind = '" +
        kind +
        "'\n"
        "if kind == 'i3':\n"
        "    x = np.frombuffer(b, np.uint8).reshape(-1, 3)\n"
        "    x = np.pad(x, ((0, 0), (1, 0))).copy().view('<i4').ravel() / 2**31\n"
        "elif kind == 'u1': x = (np.frombuffer(b, np.uint8) - 128.0) / 128\n"
        "elif kind[0] == 'i': x = np.frombuffer(b, '<' + kind) / 2.0**(8 * int(kind[1]) - 1)\n"
        "else: x = np.frombuffer(b, '<' + kind).astype(float)\n");
}

std::string problem(const std::string& path) {
    try {
        open_audio(path);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("the cases say what they are") {
    struct Expected {
        std::string name;
        Index frames, channels;
        double rate;
        SampleType type;
        bool wide;
        std::string warning;
    };
    const auto expected = GENERATE(
        Expected{"01-wav-rf64-ds64", 700, 2, 48000, SampleType::int16, false, ""},
        Expected{"03-wav-bw64", 500, 1, 48000, SampleType::int32, false, ""},
        Expected{"04-wav-size-ffffffff", 900, 1, 16000, SampleType::int16, false, "size"},
        Expected{"05-wav-size-zero", 640, 2, 44100, SampleType::int16, false, "size"},
        Expected{"06-wav-truncated", 480, 2, 44100, SampleType::int16, false, "2000 frames, and 480"},
        Expected{"07-wav-odd-chunks-24bit", 333, 1, 32000, SampleType::int32, false, ""},
        Expected{"08-wav-extensible-24in32", 300, 4, 48000, SampleType::int32, false, ""},
        Expected{"09-wav-pcm8-unsigned", 555, 1, 8000, SampleType::int16, false, ""},
        Expected{"11-wav-float32-over-one", 500, 1, 8000, SampleType::float32, false, ""},
        Expected{"12-wav-float64", 400, 1, 500, SampleType::float64, true, ""},
        Expected{"13-wav-mulaw-odd", 777, 1, 8000, SampleType::int16, false, ""},
        Expected{"17-wav-one-frame", 1, 2, 44100, SampleType::int16, false, ""},
        Expected{"21-wav-nan-inf", 2600, 2, 8000, SampleType::float32, false, ""},
        Expected{"22-aiff-named-wav", 260, 1, 11025, SampleType::int16, false, ""});
    INFO(expected.name);
    Warnings warnings;
    const auto reader = open_audio(case_file(expected.name));
    const io::Recording& r = reader->recording();
    CHECK(r.shape == Shape{1, expected.frames, expected.channels});
    CHECK(r.dims == std::vector<Index>{expected.frames, expected.channels});
    CHECK(r.rate == expected.rate);
    CHECK(r.type == expected.type);
    CHECK(r.wide == expected.wide);
    if (expected.warning.empty()) {
        CHECK(warnings.all.empty());
    } else {
        REQUIRE(warnings.all.size() == 1);
        CHECK(warnings.all[0].find(case_file(expected.name)) == 0);
        CHECK(warnings.all[0].find(expected.warning) != std::string::npos);
    }
    CHECK(static_cast<Index>(values(*reader).size()) == expected.frames * expected.channels);
}

TEST_CASE("samples are those in the file") {
    const auto [name, skip, bytes, kind] = GENERATE(
        std::tuple<std::string, Index, Index, std::string>{"04-wav-size-ffffffff", 70, 1800, "i2"},
        std::tuple<std::string, Index, Index, std::string>{"05-wav-size-zero", 44, 2560, "i2"},
        std::tuple<std::string, Index, Index, std::string>{"03-wav-bw64", 80, 1500, "i3"},
        std::tuple<std::string, Index, Index, std::string>{"07-wav-odd-chunks-24bit", 60, 999, "i3"},
        std::tuple<std::string, Index, Index, std::string>{"08-wav-extensible-24in32", 68, 4800, "i4"});
    INFO(name);
    Warnings warnings;
    const auto reader = open_audio(case_file(name));
    CHECK(values(*reader) == by_python(case_file(name), skip, bytes, kind));
}

TEST_CASE("parts and channels are the same samples as the whole") {
    const std::string name =
        GENERATE(as<std::string>{}, "08-wav-extensible-24in32", "21-wav-nan-inf", "01-wav-rf64-ds64");
    Warnings warnings;
    const auto reader = open_audio(case_file(name));
    const Shape shape = reader->recording().shape;
    const auto all = values(*reader);
    for (const Span span : {Span{0, 1}, Span{7, 100}, Span{shape.frames - 3, 3}}) {
        for (Index lane = 0; lane < shape.inner; ++lane) {
            const auto part = values(*reader, span, {0, 1, lane, 1});
            for (Index n = 0; n < span.count; ++n) {
                const double a = part[n], b = all[(span.first + n) * shape.inner + lane];
                CHECK((a == b || (std::isnan(a) && std::isnan(b))));
            }
        }
    }
    io::OpenOptions options;
    options.channels = "1,0,1";
    const auto picked = open_audio(case_file(name), options);
    CHECK(picked->recording().shape == Shape{1, shape.frames, 3});
    const auto some = values(*picked, {10, 5}, Lanes::all(picked->recording().shape));
    for (Index n = 0; n < 5; ++n)
        for (Index c = 0; c < 3; ++c)
            CHECK(some[n * 3 + c] == all[(10 + n) * shape.inner + (c == 1 ? 0 : 1)]);
}

TEST_CASE("broken headers are errors that name file and fault") {
    CHECK(problem(case_file("16-wav-zero-frames")).find("no samples") != std::string::npos);
    CHECK(problem(case_file("18-wav-zero-channels")).find("0 channels") != std::string::npos);
    CHECK(problem(case_file("20-wav-rate-zero")).find("sample rate of 0 Hz") != std::string::npos);
    CHECK(problem(case_file("18-wav-zero-channels")).find("input.wav") != std::string::npos);
    CHECK_FALSE(audio().recognizes(case_file("24-text-named-wav")));
}

TEST_CASE("a file cut while it is open is an error, not silence") {
    Temporary folder;
    const std::string path = folder.file("cut.wav");
    test::copy_file(case_file("08-wav-extensible-24in32"), path);
    const auto reader = open_audio(path);
    test::cut_file(path, 1000);
    CHECK_THROWS_AS(values(*reader), Error);
}

TEST_CASE("start times come from bext, GUANO, comments and names") {
    Temporary folder;
    const auto wav = [&](const std::string& name, const std::string& id, const std::string& contents) {
        const std::string path = folder.file(name);
        test::write_wav(path, 8000, 1, std::vector<std::int16_t>(100, 5), {{id, contents}});
        return path;
    };
    std::string bext(602, '\0');
    bext.replace(320, 18,
                 "2021-03-04"
                 "05:06:07");
    const std::string plain = bext;
    const std::uint32_t count = ((5 * 60 + 6) * 60 + 7) * 8000 + 4000;
    std::memcpy(&bext[338], &count, 4);
    CHECK(open_audio(wav("a.wav", "bext", bext))->recording().start_time ==
          std::string("2021-03-04T05:06:07.500"));
    CHECK(open_audio(wav("b.wav", "bext", plain))->recording().start_time ==
          std::string("2021-03-04T05:06:07"));
    const std::string guano = "GUANO|Version: 1.0\nTimestamp: 2019-05-01T20:15:00.25+02:00\nLength: 1\n";
    CHECK(open_audio(wav("c.wav", "guan", guano))->recording().start_time ==
          std::string("2019-05-01T18:15:00.250Z"));
    std::string info("INFOICMT\0\0\0\0", 12);
    info += std::string("Recorded at 13:45:00 15/06/2020 (UTC+1) by AudioMoth 24") + '\0';
    info[8] = static_cast<char>(info.size() - 12);
    const auto reader = open_audio(wav("d.wav", "LIST", info));
    CHECK(reader->recording().start_time == std::string("2020-06-15T12:45:00Z"));
    CHECK(reader->recording().start_time_source == "comment");
    io::OpenOptions options;
    options.filename_time = "%Y%m%d_%H%M%S";
    const std::string named = wav("SITE7_20200102_030405.wav", "junk", "x");
    CHECK(open_audio(named, options)->recording().start_time == std::string("2020-01-02T03:04:05"));
    options.filename_time = "%Y-%m-%d";
    CHECK_THROWS_AS(audio().open(named, options), Error);
    options.filename_time = "%Q";
    CHECK_THROWS_AS(audio().open(named, options), Error);
}

TEST_CASE("a size that is 0 and true is an empty file, behind chunks too") {
    Temporary folder;
    const std::string path = folder.file("empty.wav");
    test::write_wav(path, 8000, 1, {}, {}, {{"LIST", "INFOIART\4\0\0\0abc\0"}});
    CHECK(problem(path).find("no samples") != std::string::npos);
}
