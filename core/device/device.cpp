// The parts of the device layer that need no CUDA.
#include "core/device/device.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/base/error.hpp"

namespace convoy::device {

namespace {

std::string first_line_with(const char* file, std::string_view key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key)) return line;
    return {};
}

// CPUs' worth of time that the cgroup grants: v2 cpu.max ("quota period" or "max period"), v1 cfs quota.
double cgroup_cpus() {
    double quota = 0, period = 0;
    std::string word;
    if (std::ifstream in("/sys/fs/cgroup/cpu.max"); in >> word >> period && word != "max") {
        std::istringstream(word) >> quota;
    } else if (!in) {
        std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
        std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
    }
    return quota > 0 && period > 0 ? quota / period : INFINITY;
}

}  // namespace

std::string_view memory_class(const Attributes& a) {
    if (!a.managed_memory) return "no managed memory";
    if (!a.concurrent_managed_access) return "limited: no managed memory beside a running kernel";
    if (a.host_page_tables) return "coherent: shares the host's page tables";
    if (a.integrated) return "integrated: one memory";
    return a.pageable_memory_access ? "pageable: reaches plain host memory too" : "managed memory only";
}

std::string Device::id() const {
    return backend == Backend::cpu ? "cpu" : "cuda:" + std::to_string(ordinal);
}

int available_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    int allowed = sched_getaffinity(0, sizeof set, &set) == 0
                      ? CPU_COUNT(&set)
                      : static_cast<int>(std::thread::hardware_concurrency());
    const double granted = cgroup_cpus();
    if (granted < allowed) allowed = static_cast<int>(std::ceil(granted));
    return std::max(1, allowed);
}

Device cpu() {
    static const Device here = [] {
        Device d;
        const std::string line = first_line_with("/proc/cpuinfo", "model name");
        const auto colon = line.find(": ");
        d.attributes.name = colon == std::string::npos ? "CPU" : line.substr(colon + 2);
        d.attributes.total_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                   static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
        const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
        d.attributes.l2_bytes = l2 > 0 ? static_cast<std::size_t>(l2) : 0;
        return d;
    }();
    return here;
}

Device select(std::string_view request) {
    if (request == "cpu") return cpu();
    if (request == "auto") return gpus().empty() ? cpu() : gpus().front();
    int wanted = 0;
    const bool numbered = request.starts_with("cuda:");
    if (numbered) {
        const std::string_view digits = request.substr(5);
        const auto [end, error] = std::from_chars(digits.begin(), digits.end(), wanted);
        if (error != std::errc{} || end != digits.end() || wanted < 0)
            throw usage_error("--device " + std::string(request) + " is no device",
                              "use auto, cpu, cuda or cuda:N");
    } else if (request != "cuda") {
        throw usage_error("--device " + std::string(request) + " is no device",
                          "use auto, cpu, cuda or cuda:N");
    }
    for (const Device& d : gpus())
        if (!numbered || d.ordinal == wanted) return d;
    const std::string why =
        gpus().empty() ? gpu_remark() : "there are " + std::to_string(gpus().size()) + " GPUs";
    throw failed({}, "--device " + std::string(request) + " is not there: " + why, "use --device cpu");
}

}  // namespace convoy::device
