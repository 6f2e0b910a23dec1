#include "app/threads.hpp"

#include "core/base/error.hpp"
#include "core/device/device.hpp"

#include <sched.h>
#include <tbb/task_scheduler_observer.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace convoy::app {

Index threads_of(const Params& params) {
    const Index threads = params.integer_if("threads").value_or(device::available_cpus());
    if (threads < 1 || threads > 4096)
        throw usage_error(params.spelled("threads") + " must be from 1 to 4096");
    return threads;
}

namespace {

class Spread : private tbb::task_scheduler_observer {
  public:
    Spread() : home_(::sched_getcpu()) {
        CPU_ZERO(&allowed_);
        if (::sched_getaffinity(0, sizeof allowed_, &allowed_) == 0 && home_ >= 0) observe(true);
    }

  private:
    // Worker k is sent to the k-th allowed CPU after the first thread's, and may go wherever it likes from
    // there.
    void on_scheduler_entry(bool worker) override {
        thread_local bool placed = false;
        if (!worker || placed) return;
        placed = true;
        int left = (started_.fetch_add(1) + 1) % CPU_COUNT(&allowed_), cpu = home_;
        while (left > 0)
            if (cpu = (cpu + 1) % CPU_SETSIZE; CPU_ISSET(cpu, &allowed_)) --left;
        cpu_set_t there;
        CPU_ZERO(&there);
        CPU_SET(cpu, &there);
        if (::sched_setaffinity(0, sizeof there, &there) == 0)
            ::sched_setaffinity(0, sizeof allowed_, &allowed_);
    }

    cpu_set_t allowed_;
    int home_;
    std::atomic<int> started_{0};
};

}  // namespace

Threads::Threads(Index count)
    : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count)) {
    alignas(
        Spread) static std::byte place[sizeof(Spread)];  // never destroyed: oneTBB may ask it until the end
    static const Spread* const spread = new (place) Spread;
    static_cast<void>(spread);
}

}  // namespace convoy::app
