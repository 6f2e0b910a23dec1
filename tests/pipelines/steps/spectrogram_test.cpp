#include <cmath>

#include "core/base/error.hpp"
#include "pipelines/step.hpp"
#include "tests/catch.hpp"

using namespace convoy;
using namespace convoy::pipelines;

namespace {

Flow audio(Index frames, Index channels) {
    Flow f;
    f.label = "song.wav";
    f.dims = {frames, channels};
    f.time_axis = 0;
    f.shape = {1, frames, channels};
    f.rate = 8000;
    f.axes = {{"time", "s", 0, 1.0 / 8000, {}}, {"channel", "", 0, 1, {}}};
    return f;
}

using Words = std::vector<std::pair<std::string, std::string>>;

Planned plan(Flow& flow, const Words& words) {
    const Step& step = step::catalog().at("spectrogram");
    Params params({step.params.begin(), step.params.end()});
    for (const auto& [name, value] : words)
        params.set(name, value);
    Execution execution;
    execution.device = device::cpu();
    return step.plan(params, flow, execution);
}

std::string attribute(const Flow& flow, std::string_view name) {
    for (const auto& [key, value] : flow.attributes)
        if (key == name) return value;
    return "none";
}

std::string message_of(const Words& words, Flow flow = audio(10000, 1)) {
    try {
        plan(flow, words);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

bool has(const std::string& text, const char* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

std::string units_for(const Words& words) {
    Flow flow = audio(10000, 1);
    plan(flow, words);
    return attribute(flow, "units");
}

}  // namespace

TEST_CASE("a spectrogram of one channel is frequency x time, of several channel x frequency x time") {
    Flow one = audio(10000, 1);
    const Planned planned = plan(one, {{"nfft", "256"}, {"hop", "64"}});
    const Index frames = (10000 - 256) / 64 + 1;
    CHECK(one.dims == std::vector<Index>{129, frames});
    CHECK(one.time_axis == 1);
    CHECK(one.shape == Shape{129, frames, 1});
    CHECK(planned.stage->shape() == one.shape);
    CHECK(one.dataset == "/spectrogram");
    CHECK_FALSE(one.signal);
    CHECK(one.axes[0].name == "frequency");
    CHECK(one.axes[0].values.size() == 129);
    CHECK(one.axes[0].values[1] == 31.25);
    CHECK(one.axes[1].name == "time");
    CHECK(one.axes[1].first == 128.0 / 8000);
    CHECK(one.axes[1].step == 64.0 / 8000);
    CHECK(one.time_first == 128);
    CHECK(one.time_step == 64);
    CHECK(one.rate == 8000);

    Flow three = audio(10000, 3);
    plan(three, {{"nfft", "256"}, {"center", ""}, {"scaling", "complex"}});
    CHECK(three.dims == std::vector<Index>{3, 129, 157});
    CHECK(three.shape == Shape{387, 157, 2});
    CHECK(three.complex);
    CHECK(three.axes[0].name == "channel");
    CHECK(three.axes[2].first == 0);
}

TEST_CASE("every way of naming the frames means what its tradition means") {
    const auto geometry = [](const Words& words) {
        Flow flow = audio(10000, 1);
        plan(flow, words);
        return attribute(flow, "nfft") + " " + attribute(flow, "window_length") + " " +
               attribute(flow, "hop");
    };
    CHECK(geometry({}) == "1024 1024 256");
    CHECK(geometry({{"n_fft", "512"}, {"hop_length", "100"}, {"win_length", "400"}}) == "512 400 100");
    CHECK(geometry({{"nperseg", "300"}, {"noverlap", "200"}}) == "300 300 100");
    CHECK(geometry({{"nperseg", "300"}, {"nfft", "512"}}) == "512 300 128");
    CHECK(geometry({{"nfft", "512"}, {"overlap", "75%"}}) == "512 512 128");
    CHECK(geometry({{"nfft", "512"}, {"overlap", "0.5"}}) == "512 512 256");
}

TEST_CASE("units say what the values are") {
    CHECK(units_for({}) == "1/Hz");
    CHECK(units_for({{"scaling", "power"}}) == "1");
    CHECK(units_for({{"units", "m/s"}, {"scaling", "magnitude"}}) == "m/s");
    CHECK(units_for({{"units", "Pa"}}) == "Pa²/Hz");
    CHECK(units_for({{"units", "m/s"}}) == "(m/s)²/Hz");
    CHECK(units_for({{"units", "m s^-2"}, {"db", "1e-12"}}) == "dB re 1e-12 (m s^-2)²/Hz");
    CHECK(units_for({{"units", "m²"}, {"scaling", "power"}}) == "(m²)²");
    CHECK(units_for({{"db", ""}}) == "dB re 1/Hz");
    CHECK(units_for({{"db", "true"}, {"scaling", "magnitude"}}) == "dB re 1");
    CHECK(units_for({{"calibration", "170"}}) == "dB re 1 µPa²/Hz");
    CHECK(units_for({{"calibration", "94"}, {"units", "Pa"}, {"db", "4e-10"}}) == "dB re 4e-10 Pa²/Hz");
    CHECK(units_for({{"calibration", "170"}, {"frequency-scale", "decidecade"}}) == "dB re 1 µPa²");
}

TEST_CASE("averages and bands shape the result") {
    Flow flow = audio(80000, 1);
    plan(flow,
         {{"nfft", "256"}, {"hop", "80"}, {"average", "1s"}, {"frequency-scale", "mel"}, {"bins", "40"}});
    CHECK(flow.dims == std::vector<Index>{40, 10});
    CHECK(flow.axes[1].step == 1);
    CHECK(flow.axes[1].first == (128.0 + 99 * 40) / 8000);
    CHECK(attribute(flow, "average_frames") == "100");
    Flow cut = audio(10000, 1);
    plan(cut, {{"nfft", "800"}, {"fmin", "1000"}, {"fmax", "2000"}});
    CHECK(cut.dims[0] == 101);
    CHECK(cut.axes[0].values.front() == 1000);
}

TEST_CASE("bands that see no bin are told") {
    std::vector<std::string> told;
    const auto before = on_warning(
        [&](const std::string& where, const std::string& text) { told.push_back(where + ": " + text); });
    Flow full = audio(10000, 1), empty = audio(10000, 1);
    plan(full, {{"nfft", "1024"}, {"frequency-scale", "mel"}, {"bins", "40"}});
    CHECK(told.empty());
    plan(empty, {{"nfft", "128"}, {"frequency-scale", "mel"}, {"bins", "128"}});
    on_warning(before);
    REQUIRE(told.size() == 1);
    CHECK(has(told[0], "of 128 bands lie between bins"));
}

TEST_CASE("a spectrogram after a decimating step counts in the input's own frames") {
    Flow flow = audio(10000, 1);
    flow.rate = 2000;
    flow.time_first = 3;
    flow.time_step = 4;
    flow.axes[0] = {"time", "s", 3.0 / 8000, 1.0 / 2000, {}};
    plan(flow, {{"nfft", "64"}, {"hop", "16"}});
    CHECK(flow.time_first == 3 + 32 * 4);
    CHECK(flow.time_step == 64);
    CHECK(flow.axes[1].first == 3.0 / 8000 + 32.0 / 2000);
    CHECK(flow.axes[1].step == 16.0 / 2000);
}

TEST_CASE("bad requests are one clear line") {
    CHECK(has(message_of({{"hop", "0"}}), "--hop 0"));
    CHECK(has(message_of({{"window-length", "2048"}}), "does not fit into --nfft 1024"));
    CHECK(has(message_of({}, audio(1000, 1)),
              "song.wav: the signal of 1000 samples is shorter than one frame"));
    CHECK(has(message_of({{"scaling", "complex"}, {"db", ""}}), "decibels of complex values"));
    CHECK(has(message_of({{"hop", "10"}, {"overlap", "50%"}}), "--hop and --overlap exclude each other"));
    CHECK(has(message_of({{"overlap", "100%"}}), "no share of a frame"));
    CHECK(has(message_of({{"noverlap", "1024"}}), "not below the window's length"));
    CHECK(has(message_of({{"padding", "reflect"}}), "give --center too"));
    CHECK(has(message_of({{"db-floor", "-90"}}), "give --db too"));
    CHECK(has(message_of({{"db", "loud"}}), "'loud' is not a number"));
    CHECK(has(message_of({{"db", "-1"}}), "must be above 0"));
    CHECK(has(message_of({{"average-kind", "max"}}), "give --average TIME"));
    CHECK(has(message_of({{"average", "1ms"}}), "holds no frame"));
    CHECK(has(message_of({{"average", "10s"}, {"average-kind", "mode"}}), "'mode' is not one of"));
    CHECK(has(message_of({{"bins", "40"}}), "--bins goes with"));
    CHECK(has(message_of({{"mel", "htk"}}), "--mel goes with"));
    CHECK(has(message_of({{"frequency-scale", "decidecade"}, {"scaling", "power"}}), "density or spectrum"));
    CHECK(has(message_of({{"window", "hanning"}}), "did you mean 'hamming'"));
    Flow unknown = audio(10000, 1);
    unknown.rate.reset();
    unknown.rate_looked_for = "fs, dt";
    CHECK(has(message_of({}, unknown), "looked for: fs, dt"));
    Flow image = audio(10000, 1);
    image.signal = false;
    CHECK(has(message_of({}, image), "image already"));
}
