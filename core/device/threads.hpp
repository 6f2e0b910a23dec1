// How many threads work together here: those that the user allows, in the arena that the work is in.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "core/base/signal.hpp"

namespace convoy::device {

/// At least 1. Jobs of a batch that run side by side have arenas of their own, each a part of the threads.
inline Index threads_here() {
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return std::clamp<Index>(tbb::this_task_arena::max_concurrency(), 1, static_cast<Index>(allowed));
}

}  // namespace convoy::device
