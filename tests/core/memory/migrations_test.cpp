// Page faults and migrations that the driver counts: none where managed memory is used in place, all of the
// data where it migrates.
#include "core/memory/migrations.hpp"

#include <cstring>

#include "core/base/error.hpp"
#include "core/device/copy.hpp"
#include "core/memory/memory.hpp"
#include "tests/catch.hpp"

using namespace convoy;

namespace {

constexpr int slots = 2, chunks = 6;
constexpr std::size_t chunk_bytes = std::size_t{2} << 20;
constexpr Index all_bytes = chunks * static_cast<Index>(chunk_bytes);

// What the pages of a mode do while chunks pass through it that the CPU writes and reads.
memory::Migrations migrations_of(const memory::Mode& mode, const device::Device& on) {
    memory::MigrationWatch watch;
    const auto ring = mode.make(on, {.slots = slots, .in_bytes = chunk_bytes, .out_bytes = chunk_bytes});
    std::vector<std::byte> out(chunk_bytes);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int slot = chunk % slots;
        std::memset(ring->slot(slot).in, chunk, chunk_bytes);
        ring->submit(slot, chunk_bytes, chunk_bytes,
                     [&](const std::byte* from, std::byte* to, device::Stream& stream) {
                         device::copy_bytes(on, from, to, chunk_bytes, std::byte{1}, stream);
                     });
        ring->wait(slot);
        std::memcpy(out.data(), ring->slot(slot).out, chunk_bytes);
        REQUIRE(out.back() == (std::byte{static_cast<unsigned char>(chunk)} ^ std::byte{1}));
    }
    return watch.finish();
}

}  // namespace

TEST_CASE("where there is no GPU, migrations cannot be counted, and it says why") {
    if (!device::gpus().empty()) CONVOY_SKIP("there is a GPU");
    CHECK(memory::MigrationWatch::unavailable() == device::gpu_remark());
    CHECK_THROWS_WITH(memory::MigrationWatch(), containing(device::gpu_remark()));
}

TEST_CASE("each memory mode migrates what it says", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    if (const std::string why = memory::MigrationWatch::unavailable(); !why.empty()) CONVOY_SKIP(why);
    const device::Device& gpu = device::gpus().front();
    for (const memory::Mode* mode : memory::catalog()) {
        if (!mode->unsupported(gpu).empty()) continue;
        const memory::Migrations m = migrations_of(*mode, gpu);
        CAPTURE(mode->name, m.cpu_faults, m.gpu_faults, m.to_device.asked, m.to_device.faulted,
                m.to_device.ahead, m.to_host.asked, m.to_host.faulted, m.to_host.ahead, m.lost);
        CHECK(m.lost == 0);
        if (mode->name == "managed-prefetch") {
            CHECK(m.to_device.asked >= all_bytes);
            CHECK(m.to_host.sum() >= all_bytes);
        } else if (mode->name == "managed-fault") {
            CHECK(m.gpu_faults > 0);
            CHECK(m.cpu_faults > 0);
            CHECK(m.to_device.faulted + m.to_device.ahead >= all_bytes);
            CHECK(m.to_host.faulted + m.to_host.ahead >= all_bytes);
        } else {
            CHECK(m.gpu_faults == 0);
            CHECK(m.to_device.sum() == 0);
            CHECK(m.to_host.sum() == 0);
        }
    }
}
