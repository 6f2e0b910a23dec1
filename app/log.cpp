// Messages through spdlog (known to this file only), as `convoy: LEVEL: text`.
#include "app/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <set>

#include "core/base/error.hpp"

namespace convoy::app {

namespace {

std::shared_ptr<spdlog::logger> logger() {
    static const auto made = [] {
        auto l = spdlog::stderr_logger_mt("convoy");
        l->set_pattern("convoy: %l: %v");
        l->set_level(spdlog::level::warn);
        return l;
    }();
    return made;
}

bool on_terminal() {
    return isatty(STDERR_FILENO) == 1;
}

}  // namespace

void configure_log(const Params& params) {
    const std::string level = params.text("log-level");
    logger()->set_level(level == "debug"   ? spdlog::level::debug
                        : level == "info"  ? spdlog::level::info
                        : level == "error" ? spdlog::level::err
                                           : spdlog::level::warn);
    on_warning([told = std::set<std::string>()](const std::string& where, const std::string& text) mutable {
        const std::string line = where + (where.empty() ? "" : ": ") + text;
        // A file is looked at more than once (planned, joined, worked on), and is what it was.
        if (told.insert(line).second) logger()->warn("{}", line);
    });
}

void log_error(const std::string& text) {
    logger()->error("{}", text);
}

void log_note(const Params& params, const std::string& text) {
    if (!params.flag("quiet")) std::fprintf(stderr, "convoy: %s\n", text.c_str());
}

void log_info(const std::string& text) {
    logger()->info("{}", text);
}

void log_debug(const std::string& text) {
    logger()->debug("{}", text);
}

void log_text(const std::string& lines) {
    std::fputs(lines.c_str(), stderr);
}

struct Progress::State {
    using Clock = std::chrono::steady_clock;
    std::string label;
    bool shown = false;
    Clock::time_point start = Clock::now(), last = start;

    void show(double part, Index samples) {
        const auto now = Clock::now();
        if (!(part > 0) || now - last < std::chrono::milliseconds(100)) return;
        last = now;
        shown = true;
        const double seconds = std::chrono::duration<double>(now - start).count();
        constexpr int width = 24;
        std::string bar(static_cast<std::size_t>(part * width), '#');
        bar.resize(width, '.');
        std::fprintf(stderr, "\r%s [%s] %3.0f %%  %.1f Msamples/s  %.0f s left \033[K", label.c_str(),
                     bar.c_str(), part * 100, static_cast<double>(samples) / seconds * 1e-6,
                     seconds * (1 - part) / part);
    }
};

Progress::Progress(const Params& params, std::string label) {
    if (params.flag("quiet") || !on_terminal()) return;
    state_ = std::make_unique<State>();
    state_->label = std::move(label);
}

Progress::~Progress() {
    if (state_ && state_->shown) std::fprintf(stderr, "\r\033[K");
}

std::function<void(Index, Index)> Progress::callback() {
    if (!state_) return {};
    return [state = state_.get()](Index done, Index total) {
        if (total > 0) state->show(static_cast<double>(done) / static_cast<double>(total), done);
    };
}

void Progress::show(double part, Index samples, const std::string& label) {
    if (!state_) return;
    state_->label = label;
    state_->show(part, samples);
}

}  // namespace convoy::app
