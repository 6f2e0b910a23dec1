// What any memory mode must do, on the CPU and on a GPU where there is one; and how a mode is chosen, on
// made-up devices.
#include "core/memory/memory.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/device/copy.hpp"
#include "tests/catch.hpp"

using namespace convoy;
using Bytes = std::vector<std::byte>;

namespace {

constexpr std::byte flip{0xa5};

Bytes noise(std::size_t size, unsigned seed) {
    std::mt19937 next(seed);
    Bytes bytes(size);
    for (std::byte& b : bytes)
        b = static_cast<std::byte>(next());
    return bytes;
}

Bytes flipped(Bytes bytes) {
    for (std::byte& b : bytes)
        b ^= flip;
    return bytes;
}

// Everything that can be worked on here: the CPU and every GPU.
std::vector<device::Device> devices() {
    std::vector<device::Device> all = device::gpus();
    all.insert(all.begin(), device::cpu());
    return all;
}

// Calls f(mode, device) for all modes that work on any of the devices.
template <class F>
void for_each_mode(const std::vector<device::Device>& on, F&& f) {
    for (const device::Device& d : on)
        for (const memory::Mode* mode : memory::catalog())
            if (mode->unsupported(d).empty()) {
                INFO(mode->name << " on " << d.id());
                f(*mode, d);
            }
}

memory::Work flipping(const device::Device& on, std::size_t bytes) {
    return [on, bytes](const std::byte* in, std::byte* out, device::Stream& stream) {
        device::copy_bytes(on, in, out, bytes, flip, stream);
    };
}

// Sends chunks of the given sizes through a ring, as the stream does: a slot is filled again once it was
// read.
void send(const memory::Mode& mode, const device::Device& on, const memory::RingShape& shape,
          const std::vector<std::size_t>& sizes) {
    const auto ring = mode.make(on, shape);
    std::vector<Bytes> sent(static_cast<std::size_t>(shape.slots));
    const auto receive = [&](std::size_t chunk) {
        const int slot = static_cast<int>(chunk) % shape.slots;
        ring->wait(slot);
        const Bytes& in = sent[static_cast<std::size_t>(slot)];
        const std::byte* out = ring->slot(slot).out;
        CAPTURE(chunk, in.size());
        CHECK(flipped(in) == Bytes(out, out + in.size()));
    };
    const auto slots = static_cast<std::size_t>(shape.slots);
    for (std::size_t chunk = 0; chunk < sizes.size(); ++chunk) {
        if (chunk >= slots) receive(chunk - slots);
        const int slot = static_cast<int>(chunk % slots);
        Bytes& in = sent[chunk % slots] = noise(sizes[chunk], static_cast<unsigned>(chunk));
        std::copy(in.begin(), in.end(), ring->slot(slot).in);
        ring->submit(slot, in.size(), in.size(), flipping(on, in.size()));
    }
    for (std::size_t chunk = sizes.size() - std::min(slots, sizes.size()); chunk < sizes.size(); ++chunk)
        receive(chunk);
    if (on.backend == device::Backend::cuda) {
        std::size_t all = 0;
        for (const std::size_t size : sizes)
            all += size;
        const memory::Traffic traffic = ring->traffic();
        CHECK(traffic.bytes_h2d >= all);
        CHECK(traffic.bytes_d2h >= all);
        CHECK(traffic.kernel_s > 0);
    }
}

void every_mode(const std::vector<device::Device>& on) {
    const std::vector<std::size_t> sizes = {4096, 1, 65536, 17, 99999, 4095, 65535, 100000, 3, 16, 33333, 2};
    for_each_mode(on, [&](const memory::Mode& mode, const device::Device& d) {
        for (const int slots : {1, 2, 3, 4})
            for (const bool staged : {false, true})
                send(mode, d, {.slots = slots, .in_bytes = 100000, .out_bytes = 100000, .staged = staged},
                     sizes);
        const std::size_t large =
            (std::size_t{5} << 20) + 12345;  // several pieces of 2 MiB, the last one in part
        send(mode, d, {.slots = 2, .in_bytes = large, .out_bytes = large},
             {large, large - 1, large, 7, large});
    });
}

device::Device made_up(bool concurrent) {
    device::Device d;
    d.backend = device::Backend::cuda;
    d.attributes.managed_memory = true;
    d.attributes.concurrent_managed_access = concurrent;
    d.attributes.can_map_host_memory = true;
    return d;
}

}  // namespace

TEST_CASE("chunks of any size pass through every mode of the CPU, in order, slots reused") {
    every_mode({device::cpu()});
}

TEST_CASE("chunks of any size pass through every mode of a GPU, in order, slots reused", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    every_mode(device::gpus());
}

TEST_CASE("input and output of a slot may differ in size, and slots are apart") {
    for_each_mode(devices(), [&](const memory::Mode& mode, const device::Device& d) {
        const auto ring = mode.make(d, {.slots = 2, .in_bytes = 1000, .out_bytes = 50});
        for (const int slot : {0, 1}) {
            std::memset(ring->slot(slot).in, 0x10 + slot, 1000);
            CHECK(reinterpret_cast<std::uintptr_t>(ring->slot(slot).in) % 64 == 0);
        }
        for (const int slot : {0, 1})
            ring->submit(slot, 1000, 50, flipping(d, 50));
        for (const int slot : {1, 0}) {
            ring->wait(slot);
            ring->wait(slot);  // again: nothing to wait for
            const std::byte expected = std::byte(0x10 + slot) ^ flip;
            const std::byte* out = ring->slot(slot).out;
            CHECK(std::count(out, out + 50, expected) == 50);
        }
    });
}

TEST_CASE("a ring is filled by one thread and drained by another") {
    for_each_mode(devices(), [&](const memory::Mode& mode, const device::Device& d) {
        const auto ring = mode.make(d, {.slots = 1, .in_bytes = 256, .out_bytes = 256});
        for (int turn = 0; turn < 3; ++turn) {
            std::thread([&] {
                std::memset(ring->slot(0).in, turn, 256);
                ring->submit(0, 256, 256, flipping(d, 256));
            }).join();
            ring->wait(0);
            CHECK(ring->slot(0).out[255] == (std::byte(turn) ^ flip));
        }
    });
}

TEST_CASE("a ring that is dropped in flight lets its work end first") {
    for_each_mode(devices(), [&](const memory::Mode& mode, const device::Device& d) {
        const std::size_t bytes = std::size_t{4} << 20;
        const auto ring = mode.make(d, {.slots = 2, .in_bytes = bytes, .out_bytes = bytes});
        for (const int slot : {0, 1}) {
            std::memset(ring->slot(slot).in, 1, bytes);
            ring->submit(slot, bytes, bytes, flipping(d, bytes));
        }
    });
    for (const device::Device& d : devices())
        device::synchronize(d);  // throws if anything went wrong
}

TEST_CASE("work that throws leaves the ring usable") {
    for_each_mode(devices(), [&](const memory::Mode& mode, const device::Device& d) {
        const auto ring = mode.make(d, {.slots = 1, .in_bytes = 64, .out_bytes = 64});
        CHECK_THROWS_AS(
            ring->submit(0, 64, 64,
                         [](const std::byte*, std::byte*, device::Stream&) { throw failed("", "no"); }),
            Error);
        std::memset(ring->slot(0).in, 7, 64);
        ring->submit(0, 64, 64, flipping(d, 64));
        ring->wait(0);
        CHECK(ring->slot(0).out[63] == (std::byte{7} ^ flip));
    });
}

TEST_CASE("a ring says what it holds") {
    const memory::RingShape shape{.slots = 3, .in_bytes = 3u << 20, .out_bytes = 1u << 20};
    for_each_mode(devices(), [&](const memory::Mode& mode, const device::Device& d) {
        const auto f = mode.make(d, shape)->footprint();
        CHECK(f.host + f.pinned + f.managed >= 3 * (shape.in_bytes + shape.out_bytes));
        CHECK((f.host > 0) + (f.pinned > 0) + (f.managed > 0) == 1);
        CHECK_FALSE(f.staged);
        memory::RingShape twice = shape;
        twice.staged = true;
        const auto g = mode.make(d, twice)->footprint();
        CHECK(g.staged == (mode.mechanism == "in place"));
        if (g.staged) CHECK(g.device >= 3 * shape.in_bytes);
    });
}

TEST_CASE("a slot in flight cannot be submitted again", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    for_each_mode(device::gpus(), [&](const memory::Mode& mode, const device::Device& d) {
        const auto ring = mode.make(d, {.slots = 1, .in_bytes = 64, .out_bytes = 64});
        std::memset(ring->slot(0).in, 7, 64);
        ring->submit(0, 64, 64, flipping(d, 64));
        CHECK_THROWS_AS(ring->submit(0, 64, 64, flipping(d, 64)), Error);
        ring->wait(0);
    });
}

TEST_CASE("managed memory past a quarter of what is free is refused before it is asked for", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    for_each_mode(device::gpus(), [&](const memory::Mode& mode, const device::Device& d) {
        if (!mode.name.starts_with("managed")) return;
        const std::size_t before = d.free_bytes(), half = before / 8;
        CHECK_THROWS_WITH(mode.make(d, {.slots = 2, .in_bytes = half, .out_bytes = half}),
                          containing("quarter"));
    });
}

TEST_CASE("the budget of managed memory is a quarter of what is free") {
    constexpr std::size_t gib = std::size_t{1} << 30;
    for (const std::size_t free : {std::size_t{0}, std::size_t{1}, 4 * gib, 141 * gib, ~std::size_t{0}}) {
        CAPTURE(free);
        CHECK_NOTHROW(memory::check_budget(free / 4, free));
        CHECK_THROWS_AS(memory::check_budget(free / 4 + 1, free), Error);
    }
    CHECK_THROWS_WITH(memory::check_budget(3 * gib, 8 * gib),
                      containing("3072 MiB") && containing("8192 MiB") && containing("--chunk"));
}

TEST_CASE("auto takes host memory on the CPU, and names that mean nothing are usage errors") {
    CHECK(memory::choose("auto", device::cpu()).mode->name == "host");
    CHECK_FALSE(memory::choose("auto", device::cpu()).reason.empty());
    CHECK_THROWS_WITH(memory::choose("unified", device::cpu()), containing("host"));
    for (const memory::Mode* mode : memory::catalog())
        if (mode->name != "host") CHECK_THROWS_AS(memory::choose(mode->name, device::cpu()), Error);
    CHECK_THROWS_AS(memory::choose("host", made_up(true)), Error);
}

TEST_CASE("auto works in place where the device can, and copies where it cannot") {
    if (!memory::catalog().find("managed")) CONVOY_SKIP("this program was built without CUDA");
    CHECK(memory::choose("auto", made_up(true)).mode->name == "managed");
    const memory::Choice limited = memory::choose("auto", made_up(false));
    CHECK(limited.mode->name == "pinned");
    CHECK_THAT(limited.reason, containing("concurrentManagedAccess is 0"));
    CHECK(memory::choose("managed-inplace", made_up(true)).mode->name == "managed");
}

TEST_CASE("modes that the device lacks are errors that name the attribute and its value") {
    if (!memory::catalog().find("managed")) CONVOY_SKIP("this program was built without CUDA");
    for (const char* name : {"managed", "managed-inplace", "managed-prefetch", "managed-fault"}) {
        CAPTURE(name);
        CHECK_NOTHROW(memory::choose(name, made_up(true)));
        CHECK_THROWS_WITH(memory::choose(name, made_up(false)),
                          containing("concurrentManagedAccess is 0 on cuda:0"));
    }
    for (const char* name : {"pinned", "pageable", "mapped"})
        CHECK_NOTHROW(memory::choose(name, made_up(false)));
    device::Device unmapped = made_up(true);
    unmapped.attributes.can_map_host_memory = false;
    CHECK_THROWS_WITH(memory::choose("mapped", unmapped), containing("canMapHostMemory is 0 on cuda:0"));
}
