// Damaged files that the HDF5 library does not survive: it follows references into its heaps of strings and
// lists without looking where they lead (1.10 to 1.12).
#pragma once

#include <string>

namespace convoy::io::h5 {

/// While it lives, memory that this thread must not touch ends the program as any other unreadable input
/// does: one error line that names `input`, exit status 1, and no unfinished output `part` (empty: there is
/// none).
class CrashGuard {
  public:
    explicit CrashGuard(const std::string& input, std::string part = {});
    CrashGuard(const CrashGuard&) = delete;
    CrashGuard& operator=(const CrashGuard&) = delete;
    ~CrashGuard();

  private:
    static void on_crash(int signal);

    std::string line_, part_;
    const CrashGuard* outer_;
};

}  // namespace convoy::io::h5
