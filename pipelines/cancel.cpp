#include "pipelines/cancel.hpp"

#include <csignal>

#include <atomic>

namespace convoy::pipelines {

namespace {
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);
}  // namespace

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { received = signal; };
    sigemptyset(&action.sa_mask);
    for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU})
        sigaction(signal, &action, nullptr);
    struct sigaction hangup {};
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup's stays
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of write(), not a crash
}

int signal_received() {
    return received;
}

void check_cancelled() {
    if (const int signal = received; signal != 0) throw Cancelled(signal);
}

}  // namespace convoy::pipelines
