#include "pipelines/bench/fir_report.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "pipelines/picture.hpp"
#include "pipelines/program.hpp"

namespace convoy::pipelines::bench {

namespace {

FirRow row_of(const std::string& line, const std::string& judge) {
    const std::vector<std::string> words = split(line, ',');
    const auto number = [&](std::size_t i) {
        const auto n = i < words.size() ? parse_number(words[i]) : std::nullopt;
        if (!n || !(*n > 0))
            throw failed(judge, "does not say how fast FFTW is: '" + line + "'",
                         "name the program fftw_judge of convoy's build folder");
        return *n;
    };
    FirRow row;
    row.strategy = "FFTW";
    row.taps = static_cast<Index>(number(0));
    row.samples = static_cast<Index>(number(1));
    row.channels = 1;
    row.seconds = number(3);
    const double outputs = static_cast<double>(row.samples - row.taps + 1);
    row.msamples_per_s = outputs / row.seconds * 1e-6;
    row.gflops = 2 * static_cast<double>(row.taps) * outputs / row.seconds * 1e-9;
    row.reason = words.back();
    return row;
}

}  // namespace

std::vector<FirRow> judge_rows(const std::string& judge, const std::vector<Index>& taps) {
    std::vector<std::string> words{judge, "--csv"};
    for (const Index m : taps)
        words.push_back(to_text(m));
    const Ended ended = run_program(std::move(words), false);
    if (ended.status < 0) throw failed(judge, "cannot be run: " + ended.text);
    std::vector<FirRow> rows;
    const std::vector<std::string> lines = split(ended.text, '\n');
    for (std::size_t i = 1; i < lines.size(); ++i)
        if (!lines[i].empty()) rows.push_back(row_of(lines[i], judge));
    if (rows.size() != taps.size())
        throw failed(judge, "ended before it had measured every length",
                     "name the program fftw_judge of convoy's build folder");
    return rows;
}

void draw_crossover(const std::string& path, std::vector<FirRow> rows, const std::string& title) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.taps < b.taps; });
    LinePicture picture{title, "Taps", "Outputs (million a second)", {}, 0, {}, true};
    const bool several = std::any_of(rows.begin(), rows.end(), [&](const FirRow& r) {
        return r.strategy != "FFTW" &&
               (r.samples != rows.front().samples || r.channels != rows.front().channels);
    });
    for (const FirRow& r : rows) {
        if (!(r.msamples_per_s > 0)) continue;
        const std::string label =
            r.strategy + (several ? ", " + to_text(r.channels) + " x " + to_text(r.samples) : "");
        auto line = std::find_if(picture.lines.begin(), picture.lines.end(),
                                 [&](const auto& l) { return l.label == label; });
        if (line == picture.lines.end()) line = picture.lines.insert(line, {label, {}, {}});
        line->x.push_back(static_cast<double>(r.taps));
        line->y.push_back(r.msamples_per_s);
    }
    if (picture.lines.empty()) throw failed(path, "there is nothing to draw: no strategy was measured");
    draw(picture, path);
}

}  // namespace convoy::pipelines::bench
