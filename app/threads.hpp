// The program's threads: how many, and each on a CPU of its own.
#pragma once

#include <tbb/global_control.h>

#include "core/base/params.hpp"

namespace convoy::app {

/// What `threads` asks for, else the CPUs allowed. Error (a wrong request) where that is not from 1 to 4096.
Index threads_of(const Params& params);

/// Limits oneTBB to so many threads while it lives, and spreads its workers. Some kernels start a thread on
/// the CPU of the thread that makes it and move it only milliseconds later: as long as a small file takes.
class Threads {
  public:
    explicit Threads(Index count);

  private:
    tbb::global_control limit_;
};

}  // namespace convoy::app
