// Stopping cleanly: signals set a flag, the stream looks at it between chunks.
#pragma once

#include <stdexcept>

namespace convoy::pipelines {

/// Thrown where the work stopped because of a signal; what was being written has been removed, or is kept for
/// --resume.
class Cancelled : public std::runtime_error {
  public:
    explicit Cancelled(int signal, bool kept = false)
        : std::runtime_error("stopped by a signal"), signal_(signal), kept_(kept) {}
    int signal() const { return signal_; }
    bool kept() const { return kept_; }

  private:
    int signal_;
    bool kept_;
};

/// From now on SIGINT, SIGTERM and SIGUSR1 ask for a clean stop instead of ending the process.
void catch_signals();
/// The signal that came, or 0.
int signal_received();
/// Throws Cancelled if one came.
void check_cancelled();

}  // namespace convoy::pipelines
