// What the pages of managed memory did while a job ran: faults, and bytes that moved by what moved them.
#pragma once

#include <string>

#include "core/base/signal.hpp"

namespace convoy::memory {

/// Bytes that moved one way.
struct Moved {
    Index asked = 0;    // by a prefetch of the program
    Index faulted = 0;  // because a processor touched pages that were elsewhere
    Index ahead = 0;    // by the driver, ahead of faults that it expects
    Index evicted = 0;  // to make room on the GPU
    Index other = 0;

    Index sum() const { return asked + faulted + ahead + evicted + other; }
};

struct Migrations {
    Index cpu_faults = 0;
    Index gpu_faults = 0;  // groups of faults of the same page
    Moved to_device, to_host;
    Index lost = 0;  // records that did not fit: the counts are lower bounds where this is not 0
};

/// Counts the migrations of this process from its making to finish(), by the driver's own records (CUPTI). It
/// slows what it watches. One at a time.
class MigrationWatch {
  public:
    /// Starts to count. Error where unavailable() is not empty.
    MigrationWatch();
    ~MigrationWatch();
    MigrationWatch(const MigrationWatch&) = delete;
    MigrationWatch& operator=(const MigrationWatch&) = delete;

    /// Why migrations cannot be counted here; empty where they can.
    static std::string unavailable();

    /// Waits for the GPU, and ends the count.
    Migrations finish();
};

}  // namespace convoy::memory
