#include "io/hdf5/crash_guard.hpp"

#include <unistd.h>
#include <csignal>

#include "core/base/error.hpp"

namespace convoy::io::h5 {

namespace {
thread_local const CrashGuard* current = nullptr;
}

CrashGuard::CrashGuard(const std::string& input, std::string part)
    : line_("convoy: error: " +
            std::string(failed(input, "is damaged in a way that the HDF5 library does not survive",
                               "write it anew, or take what is sound out of it with h5copy")
                            .what()) +
            "\n"),
      part_(std::move(part)),
      outer_(current) {
    [[maybe_unused]] static const bool installed = [] {
        struct sigaction action {};
        action.sa_handler = on_crash;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigemptyset(&action.sa_mask);
        return sigaction(SIGSEGV, &action, nullptr) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
    }();
    current = this;
}

CrashGuard::~CrashGuard() {
    current = outer_;
}

// Only calls that are allowed in a signal handler.
void CrashGuard::on_crash(int signal) {
    if (current == nullptr) {  // a fault of ours: the handler is gone, and the signal comes again
        ::raise(signal);
        return;
    }
    if (!current->part_.empty()) ::unlink(current->part_.c_str());
    [[maybe_unused]] const auto told = ::write(STDERR_FILENO, current->line_.data(), current->line_.size());
    ::_exit(1);
}

}  // namespace convoy::io::h5
