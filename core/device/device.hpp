// What computes: the CPU, or one GPU. Nothing here names CUDA; device_cuda.cpp or device_none.cpp is built
// in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::device {

enum class Backend { cpu, cuda };
constexpr std::string_view name_of(Backend b) {
    return b == Backend::cpu ? "cpu" : "cuda";
}

/// The attributes of a device that decide how memory is used. 0 or empty where they have no meaning (CPU).
struct Attributes {
    std::string name;  // as its maker calls it
    std::string uuid;  // tells devices apart in saved calibrations
    int compute_major = 0, compute_minor = 0;
    int multiprocessors = 0;
    std::size_t total_bytes = 0;
    std::size_t l2_bytes = 0;
    std::size_t shared_bytes_per_block = 0;  // the most a block may ask for
    int copy_engines = 0;
    bool managed_memory = false;
    bool concurrent_managed_access = false;
    bool pageable_memory_access = false;
    bool host_page_tables = false;
    bool integrated = false;
    bool can_map_host_memory = false;
    bool ecc = false;
    int pcie_generation = 0, pcie_width = 0;
    int driver_version = 0, runtime_version = 0;  // as CUDA counts: 13000 is 13.0
};

/// What kind of machine a GPU makes with its host, as far as memory goes: a word or two and what it means,
/// for people.
std::string_view memory_class(const Attributes& attributes);

/// A device to plan for. Cheap to copy. A made-up one (tests) is a plain value with the attributes wanted.
struct Device {
    Backend backend = Backend::cpu;
    int ordinal = 0;
    Attributes attributes;

    /// "cpu", "cuda:0"
    std::string id() const;
    /// Bytes free on it now (CPU: what the system says is available).
    std::size_t free_bytes() const;
};

/// A queue of work on a device, in order. On the CPU there is none: work is done when the call returns.
class Stream {
  public:
    explicit Stream(void* handle = nullptr) : handle_(handle) {}
    void* handle() const { return handle_; }  // cudaStream_t in *_cuda files

  private:
    void* handle_;
};

/// The CPUs that this process may use (affinity and cgroup).
int available_cpus();
/// The CPU as a device; its name is the processor's.
Device cpu();
/// Every GPU that works with this build; empty without CUDA or without a driver.
const std::vector<Device>& gpus();
/// Why gpus() is empty, or what was passed over: one sentence, empty where nothing is to be said.
const std::string& gpu_remark();

/// The device that `request` (auto, cpu, cuda, cuda:N) names. auto takes the first GPU, else the CPU. Error
/// where a GPU is asked for that is not there.
Device select(std::string_view request);

/// Memory that only the stages use, between steps: plain host memory (64-byte aligned) or device memory.
/// Freed with the object. Throws Error where there is not enough.
class Buffer {
  public:
    Buffer() = default;
    Buffer(const Device& device, std::size_t bytes);
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer();
    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    /// Of the GPU it is on; host memory has -1.
    int ordinal() const { return ordinal_; }

  private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(ordinal_, other.ordinal_);
    }
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    int ordinal_ = -1;
};

/// Copies host memory to a buffer (taps and tables at set-up); returns when it is done.
void upload(const Buffer& to, const void* from, std::size_t bytes);
/// Waits for all work on the device; throws Error if any of it failed.
void synchronize(const Device& device);

}  // namespace convoy::device
