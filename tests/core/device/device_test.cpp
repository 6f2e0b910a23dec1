// What the device layer promises on any machine, and on one with a GPU.
#include "core/device/device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace convoy;

TEST_CASE("the CPU is always a device") {
    const device::Device here = device::select("cpu");
    CHECK(here.id() == "cpu");
    CHECK_FALSE(here.attributes.name.empty());
    CHECK(here.attributes.total_bytes > 0);
    CHECK(here.free_bytes() > 0);
    CHECK(here.free_bytes() <= here.attributes.total_bytes);
    CHECK(device::available_cpus() >= 1);
    device::synchronize(here);
}

TEST_CASE("large host buffers begin on their pages, and one that is given back is taken again") {
    const std::size_t mib = std::size_t{1} << 20;
    const auto address = [](const device::Buffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); };
    std::byte* first = nullptr;
    {
        const device::Buffer a(device::cpu(), 5 * mib), b(device::cpu(), 5 * mib), c(device::cpu(), mib);
        CHECK(address(a) % (2 * mib) == 0);
        CHECK(address(b) % (2 * mib) == 0);
        CHECK(address(c) % 4096 == 0);
        CHECK(a.data() != b.data());
        std::memset(a.data(), 1, a.size());
        std::memset(b.data(), 2, b.size());
        CHECK(a.data()[a.size() - 1] == std::byte{1});
        first = std::min(a.data(), b.data());
    }
    const device::Buffer a(device::cpu(), 4 * mib), b(device::cpu(), 5 * mib);
    CHECK(std::min(a.data(), b.data()) == first);
    const device::Buffer small(device::cpu(), mib / 2);
    CHECK(small.data() != a.data());
}

TEST_CASE("no usable GPU is said in one sentence, and auto takes the CPU") {
    if (!device::gpus().empty()) CONVOY_SKIP("this machine has a GPU");
    CHECK_FALSE(device::gpu_remark().empty());
    CHECK(device::gpu_remark().find('\n') == std::string::npos);
    CHECK(device::select("auto").backend == device::Backend::cpu);
    CHECK_THROWS_WITH(device::select("cuda"), containing(device::gpu_remark()));
    CHECK_THROWS_AS(device::select("cuda:0"), Error);
}

TEST_CASE("device requests that name nothing are usage errors") {
    for (const char* wrong : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", ""}) {
        CAPTURE(wrong);
        try {
            device::select(wrong);
            FAIL("accepted");
        } catch (const Error& e) {
            CHECK(e.fault() == Fault::usage);
        }
    }
}

TEST_CASE("host buffers are aligned, movable and may be empty") {
    const device::Device here = device::cpu();
    device::Buffer empty(here, 0), small(here, 5);
    CHECK(empty.data() == nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(small.data()) % 64 == 0);
    CHECK(small.ordinal() == -1);
    device::upload(small, "abcd", 5);
    std::byte* const was = small.data();
    device::Buffer moved = std::move(small);
    CHECK(moved.data() == was);
    CHECK(std::memcmp(moved.data(), "abcd", 5) == 0);
}

TEST_CASE("machines are told apart by what their memory does") {
    device::Attributes a;
    CHECK(device::memory_class(a).starts_with("no managed"));
    a.managed_memory = true;  // Windows, WSL2, Jetson
    CHECK(device::memory_class(a).starts_with("limited"));
    a.concurrent_managed_access = true;  // Linux, PCIe
    CHECK(device::memory_class(a).starts_with("managed memory only"));
    a.pageable_memory_access = true;  // the same with HMM
    CHECK(device::memory_class(a).starts_with("pageable"));
    a.integrated = true;
    CHECK(device::memory_class(a).starts_with("integrated"));
    a.host_page_tables = true;  // Grace
    CHECK(device::memory_class(a).starts_with("coherent"));
}

TEST_CASE("a GPU tells the attributes that decide", "[gpu]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    for (const device::Device& gpu : device::gpus()) {
        const device::Attributes& a = gpu.attributes;
        CAPTURE(gpu.id(), a.name);
        CHECK(device::select(gpu.id()).ordinal == gpu.ordinal);
        CHECK(a.uuid.size() == 40);
        CHECK(a.compute_major >= 5);
        CHECK(a.multiprocessors > 0);
        CHECK(a.shared_bytes_per_block >= 48 * 1024);
        CHECK(a.driver_version >= a.runtime_version / 1000 * 1000);
        CHECK(gpu.free_bytes() <= a.total_bytes);
        device::Buffer table(gpu, 1 << 20);
        const std::vector<char> text(1 << 20, 'x');
        device::upload(table, text.data(), text.size());
        CHECK(table.ordinal() == gpu.ordinal);
        device::synchronize(gpu);
    }
}

TEST_CASE("more device memory than there is is an error that says so", "[gpu][oom]") {
    if (device::gpus().empty()) CONVOY_SKIP(device::gpu_remark());
    for (const device::Device& gpu : device::gpus())
        CHECK_THROWS_WITH(device::Buffer(gpu, gpu.attributes.total_bytes * 2), containing("out of memory"));
}
