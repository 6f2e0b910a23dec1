#include "pipelines/picture.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/error.hpp"
#include "pipelines/colours.hpp"
#include "pipelines/illustrate.hpp"
#include "pipelines/sinks.hpp"
#include "pipelines/ticks.hpp"
#include "tests/catch.hpp"
#include "tests/scipy.hpp"

using namespace convoy;
using namespace convoy::pipelines;

namespace {

std::string words(const std::vector<Tick>& ticks) {
    std::string all;
    for (const Tick& t : ticks)
        all += (all.empty() ? "" : " ") + t.text;
    return all;
}

// A file of its own in the temporary folder.
struct File {
    std::string path;
    explicit File(const char* name)
        : path((std::filesystem::temp_directory_path() / ("convoy-" + std::to_string(::getpid()) + name))
                   .string()) {}
    ~File() { std::filesystem::remove(path); }
};

// A spectrogram whose value says where it is: frames x bins of one or two channels.
io::OutputSpec spec_of(Index channels, Index bins, Index frames) {
    io::OutputSpec spec;
    spec.dims = channels > 1 ? std::vector<Index>{channels, bins, frames} : std::vector<Index>{bins, frames};
    spec.shape = {channels * bins, frames, 1};
    if (channels > 1) spec.axes.push_back({"channel", "", 0, 1, {}});
    io::Axis frequency{"frequency", "Hz", 0, 1, {}};
    for (Index b = 0; b < bins; ++b)
        frequency.values.push_back(static_cast<double>(b) * 10);
    spec.axes.push_back(frequency);
    spec.axes.push_back({"time", "s", 0, 0.01, {}});
    spec.attributes = {{"units", "dB re 1/Hz"}, {"scaling", "density"}};
    return spec;
}

// The brightness (0 to 255) of the picture's plot area at shares of its width and height.
std::vector<double> brightness(const std::string& path, const std::string& places) {
    return test::scipy("import zlib\nd = open('" + path + R"(', 'rb').read()
assert d[:8] == b'\x89PNG\r\n\x1a\n'
w, h = int.from_bytes(d[16:20], 'big'), int.from_bytes(d[20:24], 'big')
assert d[24:26] == b'\x08\x02'
at, data = 8, b''
while at < len(d):
  n = int.from_bytes(d[at:at + 4], 'big')
  if d[at + 4:at + 8] == b'IDAT': data += d[at + 8:at + 8 + n]
  at += n + 12
raw, rows, before = zlib.decompress(data), [], np.zeros(3 * w, int)
for y in range(h):
  kind, line = raw[y * (3 * w + 1)], np.frombuffer(raw, np.uint8, 3 * w, y * (3 * w + 1) + 1).astype(int)
  if kind == 2: line = (line + before) % 256
  elif kind == 1: line = np.cumsum(line.reshape(-1, 3), 0).ravel() % 256
  elif kind > 2:
    left = np.zeros(3, int); corner = np.zeros(3, int); done = line.copy()
    for x in range(0, 3 * w, 3):
      up = before[x:x + 3]
      if kind == 3: p = (left + up) // 2
      else:
        e = left + up - corner
        a, b, c = abs(e - left), abs(e - up), abs(e - corner)
        p = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
      left = (line[x:x + 3] + p) % 256; corner = up; done[x:x + 3] = left
    line = done
  rows.append(line.reshape(w, 3).mean(1)); before = line
image = np.array(rows)
plot = image[90:850, 180:1540]
row([plot[int((1 - y) * 759), int(x * 1359)] for x, y in )" +
                       places + "])")
        .at(0);
}

}  // namespace

TEST_CASE("ticks are round numbers within the range") {
    CHECK(words(linear_ticks(0, 24, 8)) == "0 5 10 15 20");
    CHECK(words(linear_ticks(-100, -30, 7)) ==
          "\u2212100 \u221290 \u221280 \u221270 \u221260 \u221250 \u221240 \u221230");
    CHECK(words(linear_ticks(0, 0.03, 3)) == "0.00 0.01 0.02 0.03");
    CHECK(words(linear_ticks(-0.2, 0.2, 4)) == "\u22120.2 \u22120.1 0.0 0.1 0.2");
    CHECK(linear_ticks(1, 1, 5).empty());
    CHECK(words(log_ticks(20, 20000)) == "20 50 100 200 500 1k 2k 5k 10k 20k");
    CHECK(words(log_ticks(0.02, 1)) == "0.02 0.05 0.1 0.2 0.5 1");
}

TEST_CASE("axes are in units whose numbers are short") {
    CHECK(readable_frequency(5e8).units == "MHz");
    CHECK(readable_frequency(24000).units == "kHz");
    CHECK(readable_frequency(0.5).units == "Hz");
    CHECK(readable_frequency(0.05).units == "mHz");
    CHECK(readable_frequency(5e-5).units == "µHz");
    CHECK(readable_time(86400 * 30).units == "d");
    CHECK(readable_time(0.1).units == "ms");
    CHECK(readable_time(5e-5).units == "µs");
    CHECK(readable_time(1e-7).units == "ns");
}

TEST_CASE("colours rise evenly in lightness") {
    double before = -1;
    for (const std::uint32_t c : heat_colours()) {
        const auto linear = [](std::uint32_t byte) { return std::pow((byte & 255) / 255.0, 2.2); };
        const double y = 0.2126 * linear(c >> 16) + 0.7152 * linear(c >> 8) + 0.0722 * linear(c);
        const double lightness = y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
        CHECK(lightness > before - 0.3);
        before = lightness;
    }
    CHECK(before > 95);
}

TEST_CASE("a picture shows the largest value under each pixel, however the columns come in") {
    const Index bins = 50, frames = 20000;
    const auto draw_in = [&](Index chunk, const std::string& path) {
        auto writer = illustrating_writer(null_writer(), spec_of(1, bins, frames), "test", {path, false},
                                          device::cpu());
        for (Index first = 0; first < frames; first += chunk) {
            const Index count = std::min(chunk, frames - first);
            std::vector<float> part(static_cast<std::size_t>(bins * count), -80.0f);
            for (Index b = 0; b < bins; ++b)
                for (Index i = 0; i < count; ++i) {
                    float& v = part[static_cast<std::size_t>(b * count + i)];
                    if (first + i >= frames / 2 && b >= bins / 2) v = -20;  // the upper right quarter
                    if ((first + i) % 100 == 7 && b < 10) v = -20;          // short clicks at the bottom
                }
            writer->write({first, count}, {0, bins, 0, 1}, reinterpret_cast<const std::byte*>(part.data()),
                          count);
        }
        writer->finish();
    };
    const auto bytes = [](const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const File file(".png"), other("-whole.png");
    draw_in(777, file.path);
    draw_in(frames, other.path);
    CHECK(bytes(file.path) == bytes(other.path));
    const auto seen = brightness(file.path,
                                 "[(0.25, 0.75), (0.75, 0.75), (0.75, 0.3), (0.25, 0.3)] + "
                                 "[(x / 1359, 0.1) for x in range(400, 800)]");
    CHECK(seen[1] > seen[0] + 100);
    CHECK(std::abs(seen[0] - seen[2]) < 3);
    CHECK(std::abs(seen[0] - seen[3]) < 3);
    // 14.5 columns a pixel: a click every 100 is on every seventh pixel or so, and none may be lost.
    Index bright = 0;
    for (std::size_t i = 4; i < seen.size(); ++i)
        bright += seen[i] > seen[0] + 100;
    CHECK(bright > 45);
    CHECK(bright < 75);
}

TEST_CASE("between the middles of few cells a picture goes over evenly, and what is unknown is grey") {
    const Index bins = 2, frames = 4;
    const File file("-few.png");
    auto writer =
        illustrating_writer(null_writer(), spec_of(1, bins, frames), "", {file.path, false}, device::cpu());
    const std::vector<float> values{-80, -20, NAN, -20, -80, -20, NAN, -20};
    writer->write({0, frames}, {0, bins, 0, 1}, reinterpret_cast<const std::byte*>(values.data()), frames);
    writer->finish();
    const auto seen = brightness(file.path, "[(x / 64, 0.5) for x in range(1, 64)]");
    for (std::size_t i = 8; i < 24; ++i)  // from the middle of the first cell to that of the second
        CHECK(seen[i] > seen[i - 1] + 2);
    for (std::size_t i = 33; i < 46; ++i)  // the third cell
        CHECK(std::abs(seen[i] - 0xd0) < 1);
    CHECK(seen[62] == seen[55]);
}

TEST_CASE("without its picture a result is not finished, and without its result no picture stays") {
    struct Inner : io::Writer {
        bool* finished;
        bool fails;
        Inner(bool* f, bool b) : finished(f), fails(b) {}
        void write(Span, Lanes, const std::byte*, Index) override {}
        void finish() override {
            if (fails) throw failed("out.h5", "no space");
            *finished = true;
        }
    };
    bool finished = false;
    const auto spec = spec_of(2, 4, 10);
    const File file("-both.png");
    CHECK_THROWS_AS(illustrating_writer(std::make_unique<Inner>(&finished, false), spec, "",
                                        {"/nonexistent-folder/x.png", false}, device::cpu())
                        ->finish(),
                    Error);
    CHECK_FALSE(finished);
    CHECK_THROWS_AS(illustrating_writer(std::make_unique<Inner>(&finished, true), spec, "", {file.path, true},
                                        device::cpu())
                        ->finish(),
                    Error);
    CHECK_FALSE(std::filesystem::exists(file.path));
    illustrating_writer(std::make_unique<Inner>(&finished, false), spec, "", {file.path, true}, device::cpu())
        ->finish();
    CHECK(finished);
    CHECK(std::filesystem::exists(file.path));
}

TEST_CASE("a picture that cannot be written is an error, and leaves nothing") {
    LinePicture picture{"response", "Frequency", "Gain (dB)", {{"a", {0, 1}, {0, -INFINITY}}}, -100, {}};
    try {
        draw(picture, "/nonexistent-folder/picture.png");
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.where() == "/nonexistent-folder/picture.png");
    }
    const File file("-response.png");
    draw_response(file.path, {0, 100, 200}, {0, -3, -INFINITY}, "low-pass");
    CHECK(std::filesystem::file_size(file.path) > 1000);
    CHECK_FALSE(std::filesystem::exists(file.path + ".part"));
}

TEST_CASE("lines over logarithmic axes are straight where they are powers, and begin where their data do") {
    const File file("-lines.png");
    draw(
        LinePicture{
            "lines", "x", "y", {{"up", {1, 1000}, {1, 1000}}, {"down", {1, 1000}, {1000, 1}}}, 0, {}, true},
        file.path);
    const std::vector<double> seen = brightness(
        file.path, "[(0.574, 0.5), (0.25, 0.5), (0.53, 0.94), (0.53, 0.945), (0.53, 0.95), (0.53, 0.955)]");
    CHECK(seen[0] < 200);
    for (std::size_t i = 1; i < seen.size(); ++i)
        CHECK(seen[i] > 250);
}
