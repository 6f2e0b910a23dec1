#include "core/memory/block_cuda.hpp"

#include <tbb/parallel_for.h>

#include <utility>

#include "core/device/check.hpp"
#include "core/device/host_memory.hpp"

namespace convoy::memory {

namespace {

constexpr std::size_t granule = std::size_t{2} << 20;
constexpr std::size_t page = 4096;

void touch(std::byte* data, std::size_t bytes) {
    tbb::parallel_for(std::size_t{0}, bytes / granule, [data](std::size_t piece) {
        volatile std::byte* const first = data + piece * granule;
        for (std::size_t at = 0; at < granule; at += page)
            first[at] = std::byte{0};
    });
}

}  // namespace

std::size_t block_bytes(std::size_t bytes) {
    return bytes == 0 ? granule : (bytes + granule - 1) / granule * granule;
}

// Page-locked memory is populated by all threads, in huge pages, and then registered: several times faster
// than letting cudaHostAlloc do it on one.
Block::Block(const device::Device& gpu, Kind kind, std::size_t bytes)
    : kind_(kind), size_(block_bytes(bytes)) {
    device::use(gpu);
    if (kind == Kind::managed) {
        void* data = nullptr;
        device::check(cudaMallocManaged(&data, size_), "allocating managed memory");
        host_ = on_gpu_ = static_cast<std::byte*>(data);
        return;
    }
    host_ = device::host_allocate(size_);
    touch(host_, size_);
    if (kind == Kind::pageable) return;
    void* seen = nullptr;
    cudaError_t status = cudaHostRegister(host_, size_, cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (status == cudaSuccess) {
        status = cudaHostGetDevicePointer(&seen, host_, 0);
        if (status != cudaSuccess) cudaHostUnregister(host_);
    }
    if (status != cudaSuccess) device::host_free(host_);
    device::check(status, "page-locking host memory");
    on_gpu_ = static_cast<std::byte*>(seen);
}

Block::Block(Block&& other) noexcept
    : kind_(other.kind_),
      size_(other.size_),
      host_(std::exchange(other.host_, nullptr)),
      on_gpu_(std::exchange(other.on_gpu_, nullptr)) {}

Block::~Block() {
    if (host_ == nullptr) return;
    if (kind_ == Kind::managed) {
        cudaFree(host_);
        return;
    }
    if (kind_ == Kind::pinned) cudaHostUnregister(host_);
    device::host_free(host_);
}

void populate(const Block& block) {
    touch(block.host(), block.size());
}

void keep_on_host(const Block& block, const device::Device& gpu) {
    const cudaMemLocation host{cudaMemLocationTypeHost, 0};
    const cudaMemLocation there{cudaMemLocationTypeDevice, gpu.ordinal};
    device::check(cudaMemAdvise(block.host(), block.size(), cudaMemAdviseSetPreferredLocation, host),
                  "advising managed memory");
    device::check(cudaMemAdvise(block.host(), block.size(), cudaMemAdviseSetAccessedBy, there),
                  "advising managed memory");
}

std::string managed_unsupported(const device::Device& device) {
    if (device.backend != device::Backend::cuda) return "it needs a GPU, and the work is on the CPU";
    if (!device.attributes.managed_memory) return "managedMemory is 0 on " + device.id();
    if (!device.attributes.concurrent_managed_access)
        return "concurrentManagedAccess is 0 on " + device.id() +
               ": the CPU may not fill a chunk while the GPU works on another";
    return {};
}

void check_managed_budget(const RingShape& shape, const device::Device& gpu) {
    check_budget(
        static_cast<std::size_t>(shape.slots) * (block_bytes(shape.in_bytes) + block_bytes(shape.out_bytes)),
        gpu.free_bytes());
}

}  // namespace convoy::memory
