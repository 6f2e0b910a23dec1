// The program's threads: how many, and each on a CPU of its own.
#pragma once

#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/task_scheduler_observer.h>

#include <atomic>

#include "core/base/signal.hpp"

namespace convoy::app {

/// Limits oneTBB to so many threads while it lives, and spreads its workers. Some kernels start a thread on
/// the CPU of the thread that makes it and move it only milliseconds later: as long as a small file takes.
class Threads : private tbb::task_scheduler_observer {
  public:
    explicit Threads(Index count);
    ~Threads() override;

  private:
    void on_scheduler_entry(bool worker) override;

    tbb::global_control limit_;
    cpu_set_t allowed_;
    int home_;
    std::atomic<int> started_{0};
};

}  // namespace convoy::app
