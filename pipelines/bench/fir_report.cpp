#include "pipelines/bench/fir_report.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "pipelines/picture.hpp"

extern char** environ;

namespace convoy::pipelines::bench {

namespace {

/// What a program writes to its standard output.
std::string output_of(std::vector<std::string> words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw failed({}, "no pipe can be made");
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    char part[4096];
    for (ssize_t n;
         error == 0 && ((n = ::read(ends[0], part, sizeof part)) > 0 || (n < 0 && errno == EINTR));)
        if (n > 0) text.append(part, static_cast<std::size_t>(n));
    ::close(ends[0]);
    if (error != 0) throw failed(words[0], std::string("cannot be run: ") + std::strerror(error));
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return text;
}

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
    std::vector<FirRow> rows;
    const std::vector<std::string> lines = split(output_of(std::move(words)), '\n');
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
