#include "pipelines/html.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/design/design.hpp"
#include "pipelines/page.hpp"
#include "pipelines/thumbnail.hpp"

namespace convoy::pipelines {

namespace {

using page::escaped;
using page::extents;
using page::figures;
using page::row;

constexpr std::size_t in_full = 24, most_channels = 64;

std::string base64(const std::string& bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k)
            text +=
                k <= std::min<std::size_t>(3, bytes.size() - i) ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

double throughput(const JobReport& job) {
    return job.total_s > 0 ? static_cast<double>(job.input.shape.samples()) / job.total_s * 1e-6 : 0;
}

std::string picture(const std::string& input, const io::OpenOptions& options, bool image,
                    const std::string& caption) {
    try {
        const auto reader = io::open(input, options);
        const Grid grid = thumbnail(*reader, image);
        if (grid.values.empty()) return {};
        return "<figure><img alt=\"spectrogram\" src=\"data:image/png;base64," + base64(png_bytes(grid)) +
               "\"><figcaption>" + caption + "</figcaption></figure>";
    } catch (const Error&) {  // it was moved away since: the page does without
        return {};
    }
}

std::string pictures(const JobReport& job) {
    io::OpenOptions in;
    in.dataset = job.input.dataset;
    in.time_axis = job.input.dataset.empty() ? std::optional<int>() : job.input.time_axis;
    in.gaps = "ignore";
    std::string text = picture(job.input.path, in, false, "before");
    if (job.output == "null") return text;
    bool image = false;
    for (const StepReport& step : job.steps)
        image = image || step.name == "spectrogram" || step.name == "conv2d";
    io::OpenOptions out;
    out.dataset = job.out_dataset;
    out.image = image;
    out.gaps = "ignore";
    out.rate = job.out_rate;  // what the file says of it is known
    return text + picture(job.output, out, image, "after");
}

// The gain of a filter from 0 Hz to the Nyquist frequency, -120 to 10 dB.
std::string response(const StepReport& step, double rate) {
    constexpr int points = 320;
    std::vector<double> hz;
    for (int i = 0; i <= points; ++i)
        hz.push_back(rate / 2 * i / points);
    const auto db = design::response_db(step.taps, hz, rate);
    std::string line;
    for (int i = 0; i <= points; ++i)
        line +=
            to_text(i + 40.0) + "," +
            to_text(std::round((10 - std::clamp(db[static_cast<std::size_t>(i)], -120.0, 10.0)) * 10) / 10 +
                    6) +
            " ";
    return "<figure><svg width=\"380\" height=\"160\" role=\"img\" aria-label=\"response\"><polyline "
           "fill=\"none\" stroke=\"#24a\" points=\"" +
           line +
           "\"/><text x=\"2\" y=\"20\" font-size=\"11\">0 dB</text><text x=\"2\" y=\"136\" "
           "font-size=\"11\">-120</text>" +
           "<text x=\"40\" y=\"152\" font-size=\"11\">0 Hz</text><text x=\"310\" y=\"152\" "
           "font-size=\"11\">" +
           figures(rate / 2) + "</text></svg><figcaption>" + escaped(step.name) + ", " +
           to_text(static_cast<Index>(step.taps.size())) + " taps</figcaption></figure>";
}

std::string steps(const JobReport& job) {
    std::string text = "<table>" + row({"step", "result", "Hz", "seconds", "Msamples/s", "how", "why"}, "th");
    std::string responses;
    std::optional<double> rate = job.input.rate;
    Index frames = job.input.shape.frames;
    for (const StepReport& step : job.steps) {
        const double samples = static_cast<double>(frames * job.input.shape.lanes()) * 1e-6;
        text += row({escaped(step.name), to_text(step.shape.frames) + " × " + to_text(step.shape.lanes()),
                     step.rate ? figures(*step.rate) : "", step.seconds > 0 ? figures(step.seconds) : "",
                     step.seconds > 0 ? figures(samples / step.seconds) : "", escaped(step.strategy),
                     escaped(step.reason)});
        if (step.taps.size() > 1) responses += response(step, rate.value_or(1));
        rate = step.rate;
        frames = step.shape.frames;
    }
    return text + "</table>" + responses;
}

std::string levels(const std::vector<stats::Level>& all, Index lanes_each, const std::string& title) {
    if (all.empty() || lanes_each < 1) return {};
    std::string text = "<table>" + row({title, "peak", "RMS", "NaN", "Inf", "over range"}, "th");
    for (std::size_t at = 0, channel = 0;
         at + static_cast<std::size_t>(lanes_each) <= all.size() && channel < most_channels; ++channel) {
        stats::Level sum;
        for (Index i = 0; i < lanes_each; ++i, ++at)
            sum.add(all[at]);
        text += row({"channel " + to_text(static_cast<Index>(channel)), figures(sum.peak), figures(sum.rms()),
                     to_text(sum.nan), to_text(sum.inf), to_text(sum.over)});
    }
    return text + "</table>";
}

std::string file(const JobReport& job) {
    const Index channels = std::max<Index>(1, job.input.shape.lanes() / job.lanes_per_channel);
    std::string text =
        "<h2>" + escaped(job.input.label()) + "</h2>\n<p>" + extents(job.input.dims) + ", " +
        escaped(job.input.stored_type) + (job.input.rate ? " at " + figures(*job.input.rate) + " Hz" : "") +
        " → <code>" + escaped(job.output) + "</code> " + extents(job.out_dims) + ", " +
        escaped(job.out_type) + ". " + escaped(job.device_name) + ", memory mode " + escaped(job.memory) +
        " (" + escaped(job.memory_reason) + "). " + to_text(static_cast<Index>(job.input.gaps.size())) +
        " gaps, " + to_text(job.clipped) + " samples clipped.</p>\n";
    for (const std::string& warning : job.warnings)
        text += "<p class=\"bad\">" + escaped(warning) + "</p>\n";
    text += pictures(job) + steps(job);
    if (is_float(job.input.type)) text += levels(job.stream.input, job.lanes_per_channel, "input");
    return text +
           levels(job.stream.output, static_cast<Index>(job.stream.output.size()) / channels, "output");
}

}  // namespace

std::string html_report(const std::vector<Outcome>& outcomes, const std::string& command) {
    std::string failed, done, full;
    std::size_t count = 0, failures = 0;
    double seconds = 0;
    for (const Outcome& o : outcomes) {
        if (!o.report) {
            ++failures;
            failed +=
                row({escaped(o.input), "<span class=\"bad\">" +
                                           escaped(o.error.empty() ? "not started" : o.error) + "</span>"});
            continue;
        }
        const JobReport& job = *o.report;
        seconds += job.total_s;
        done += row({escaped(job.input.label()), escaped(job.output),
                     job.ending == Ending::skipped ? "finished already" : figures(job.total_s),
                     figures(throughput(job)), escaped(job.stream.hash)});
        if (job.ending != Ending::skipped && ++count <= in_full) full += file(job);
    }
    std::string text = page::head("convoy report");
    text += "<h1>convoy " + std::string(version) + "</h1>\n<p><code>" + escaped(command) +
            "</code></p>\n<p>" + std::to_string(outcomes.size()) + " files, " + std::to_string(failures) +
            " of them not done, " + figures(seconds) + " s of work.</p>\n";
    if (failures > 0) text += "<h2>Not done</h2>\n<table>" + failed + "</table>\n";
    text += "<h2>Files</h2>\n<table>" +
            row({"input", "output", "seconds", "Msamples/s", "hash of the result"}, "th") + done +
            "</table>\n";
    return text + full + page::foot;
}

}  // namespace convoy::pipelines
