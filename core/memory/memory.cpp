// Choosing a memory mode, and the bound on managed memory.
#include "core/memory/memory.hpp"

#include <map>

namespace convoy::memory {

namespace {

const Mode& named(std::string_view request) {
    const std::string_view name = request == "managed-inplace" ? "managed" : request;
    if (catalog().find(name) == nullptr && catalog().size() == 1)
        throw usage_error(
            "no memory mode is called '" + std::string(request) + "' in a program built without CUDA",
            "use --memory auto or " + catalog().names());
    return catalog().at(name);
}

// What was measured, by the device's uuid. Written at start, before anything is chosen.
std::map<std::string, const Mode*>& fastest() {
    static std::map<std::string, const Mode*> modes;
    return modes;
}

// Uncalibrated: memory that stays on the host and is used in place where the hardware allows it, else copies.
Choice automatic(const device::Device& device) {
    if (device.backend == device::Backend::cpu) return {&catalog().at("host"), "the work is on the CPU"};
    if (const auto measured = fastest().find(device.attributes.uuid); measured != fastest().end())
        if (measured->second->unsupported(device).empty())
            return {measured->second, "the fastest in the saved calibration"};
    if (device.attributes.concurrent_managed_access)
        return {&catalog().at("managed"), "concurrentManagedAccess is 1: the GPU works in place"};
    return {&catalog().at("pinned"), "concurrentManagedAccess is 0: explicit copies"};
}

}  // namespace

Choice choose(std::string_view request, const device::Device& device) {
    if (request == "auto") return automatic(device);
    const Mode& mode = named(request);
    if (std::string why = mode.unsupported(device); !why.empty())
        throw usage_error("--memory " + std::string(request) + " cannot be used: " + why,
                          "use --memory auto");
    return {&mode, "asked for"};
}

void set_fastest(const std::string& uuid, const Mode& mode) {
    fastest()[uuid] = &mode;
}

void check_budget(std::size_t ring_bytes, std::size_t free_bytes) {
    if (ring_bytes <= free_bytes / 4) return;
    constexpr std::size_t mib = std::size_t{1} << 20;
    throw failed({},
                 "the ring of managed memory would take " + std::to_string((ring_bytes + mib - 1) / mib) +
                     " MiB, more than a quarter of the " + std::to_string(free_bytes / mib) +
                     " MiB that are free on the device",
                 "use a smaller --chunk");
}

}  // namespace convoy::memory
