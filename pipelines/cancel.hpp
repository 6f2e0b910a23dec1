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

/// From now on what terminals and batch systems send to end a process (SIGINT, SIGTERM, SIGHUP, SIGUSR1,
/// SIGUSR2, SIGXCPU) asks for a clean stop; a hangup that is ignored already (nohup) stays so.
void catch_signals();
/// The signal that came, or 0.
int signal_received();
/// Throws Cancelled if one came.
void check_cancelled();

}  // namespace convoy::pipelines
