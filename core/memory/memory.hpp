// Memory modes: how a chunk gets from the CPU to the device and back. One file a mode. A mode knows nothing
// of what is computed: it owns a ring of slots, and runs the work it is given between the way in and the way
// out.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/catalog.hpp"
#include "core/device/device.hpp"

namespace convoy::memory {

/// Sizes of a ring, fixed when it is made.
struct RingShape {
    int slots = 3;
    std::size_t in_bytes = 0;   // of each slot
    std::size_t out_bytes = 0;  // of each slot
    /// The stages read samples more than once: where memory is used in place, stage it through a device
    /// buffer.
    bool staged = false;
};

/// Both ends of a slot as the CPU sees them. The CPU owns them between wait() and submit(); after wait() what
/// was in `in` is gone in some modes, and of `out` only the bytes that the work wrote mean something.
struct Slot {
    std::byte* in = nullptr;
    std::byte* out = nullptr;
};

/// The work on one slot: reads in, writes out, both as the device sees them, on the stream.
using Work = std::function<void(const std::byte* in, std::byte* out, device::Stream& stream)>;

/// What a ring has moved and how long the device took; sums over all slots so far, for the report.
struct Traffic {
    std::size_t bytes_h2d = 0, bytes_d2h = 0;
    double h2d_s = 0, kernel_s = 0, d2h_s = 0;  // device time; 0 where there is no such phase
};

/// Slots allocated once and reused. Calls come from one thread at a time for submit, and for wait.
class Ring {
  public:
    virtual ~Ring() = default;
    virtual Slot slot(int index) const = 0;
    /// Queues the way in, the work and the way out of a slot that the CPU has filled. On the CPU it is done
    /// at return.
    virtual void submit(int index, std::size_t in_bytes, std::size_t out_bytes, const Work& work) = 0;
    /// Returns when the slot's result can be read by the CPU; throws Error if the device failed.
    virtual void wait(int index) = 0;
    virtual Traffic traffic() const { return {}; }
    /// Bytes that the ring holds, by kind, for the report and for compare.
    struct Footprint {
        std::size_t pinned = 0, managed = 0, device = 0, host = 0;
        bool staged = false;  // memory is used in place, but the input is copied to the device first
    };
    virtual Footprint footprint() const = 0;
};

/// One memory mode.
struct Mode {
    std::string_view name;
    std::string_view mechanism;  // "in place", "migrate", "copy engine", "CPU"
    std::string_view summary;
    /// Why the device cannot do it (names the attribute and its value), or empty.
    std::string (*unsupported)(const device::Device&);
    std::unique_ptr<Ring> (*make)(const device::Device&, const RingShape&);
};

const Catalog<Mode>& catalog();

/// Modes that there are, but not in this program: those of a GPU, where it was built without.
struct Lacking {
    std::string_view name, mechanism;
};
std::span<const Lacking> lacking();

/// The mode that a request (`auto`, a name, `managed-inplace`) means on a device, and why.
struct Choice {
    const Mode* mode;
    std::string reason;
};
Choice choose(std::string_view request, const device::Device& device);

/// From now on `auto` takes `mode` on the device with this uuid: the fastest one measured there (a saved
/// calibration).
void set_fastest(const std::string& uuid, const Mode& mode);

/// The most bytes that a ring may take in managed memory: a quarter of what is free. Error (with both
/// figures) where `ring_bytes` is more.
void check_budget(std::size_t ring_bytes, std::size_t free_bytes);

}  // namespace convoy::memory
