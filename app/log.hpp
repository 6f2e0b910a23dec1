// What goes to standard error: messages by level, and a progress line.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/params.hpp"

namespace convoy::app {

/// Sets the level from --log-level and --quiet, and takes over warnings.
void configure_log(const Params& params);

void log_error(const std::string& text);
/// Something that the user should know though nothing is wrong; not with --quiet.
void log_note(const Params& params, const std::string& text);
/// What was decided, for --log-level info.
void log_info(const std::string& text);
/// How it is done, for --log-level debug.
void log_debug(const std::string& text);
/// Lines without a prefix, as they are: what a batch did not do, a table that was asked for.
void log_text(const std::string& lines);

/// Shows how far the work is, with rate and time left: only on a terminal, and not with --quiet. Erased when
/// destroyed.
class Progress {
  public:
    Progress(const Params& params, std::string label);
    Progress(const Progress&) = delete;
    ~Progress();
    /// Whether there is anybody to see it.
    bool shown() const { return state_ != nullptr; }
    /// How far the work is, from 0 to 1, samples written so far, and what is at work.
    void show(double part, Index samples, const std::string& label);
    /// The function to call with samples done and all samples.
    std::function<void(Index, Index)> callback();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace convoy::app
