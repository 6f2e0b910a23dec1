// The device layer on CUDA. Listing the GPUs creates no context: work on the CPU pays nothing for it.
#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/base/error.hpp"
#include "core/device/architectures.hpp"
#include "core/device/check.hpp"
#include "core/device/host_memory.hpp"

namespace convoy::device {

namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string hint_for(cudaError_t status) {
    switch (status) {
        case cudaErrorMemoryAllocation:
            return "use a smaller --chunk, or --device cpu";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorUnsupportedPtxVersion:
            return "build convoy on this machine, or use --device cpu";
        default:
            return "use --device cpu";
    }
}

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU-";
    constexpr char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; ++i) {
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

int attribute(cudaDeviceAttr which, int ordinal) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

// CUDA does not tell the link; the system does: "32.0 GT/s PCIe" is generation 5. The speed is the most the
// card does, for an idle link is slowed down; the width is that of the slot it sits in. 0 where the system
// does not say.
void read_link(int ordinal, Attributes& a) {
    char address[32] = {};
    if (cudaDeviceGetPCIBusId(address, sizeof address, ordinal) != cudaSuccess) return;
    std::string folder = "/sys/bus/pci/devices/" + std::string(address) + "/";
    std::transform(folder.begin(), folder.end(), folder.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
    double transfers = 0;
    std::ifstream(folder + "max_link_speed") >> transfers;
    constexpr double rates[] = {2.5, 5, 8, 16, 32, 64};
    for (int generation = 0; generation < 6; ++generation)
        if (transfers == rates[generation]) a.pcie_generation = generation + 1;
    std::ifstream(folder + "current_link_width") >> a.pcie_width;
}

Device describe(int ordinal, int driver) {
    cudaDeviceProp p;
    check(cudaGetDeviceProperties(&p, ordinal), "reading the attributes of a GPU");
    Device d{Backend::cuda, ordinal, {}};
    Attributes& a = d.attributes;
    a.name = p.name;
    a.uuid = uuid_text(p.uuid);
    a.compute_major = p.major;
    a.compute_minor = p.minor;
    a.multiprocessors = p.multiProcessorCount;
    a.total_bytes = p.totalGlobalMem;
    a.l2_bytes = static_cast<std::size_t>(p.l2CacheSize);
    a.shared_bytes_per_block = p.sharedMemPerBlockOptin;
    a.copy_engines = p.asyncEngineCount;
    a.managed_memory = p.managedMemory != 0;
    a.concurrent_managed_access = p.concurrentManagedAccess != 0;
    a.pageable_memory_access = p.pageableMemoryAccess != 0;
    a.host_page_tables = p.pageableMemoryAccessUsesHostPageTables != 0;
    a.integrated = p.integrated != 0;
    a.can_map_host_memory = p.canMapHostMemory != 0;
    a.ecc = p.ECCEnabled != 0;
    a.driver_version = driver;
    a.runtime_version = CUDART_VERSION;
    read_link(ordinal, a);
    return d;
}

// Why a GPU is passed over, or empty.
std::string unusable(const Device& d) {
    const Attributes& a = d.attributes;
    const std::string who = d.id() + " (" + a.name + ") is passed over: ";
    const int oldest = oldest_architecture();
    if (10 * a.compute_major + a.compute_minor < oldest)
        return who + "its compute capability " + std::to_string(a.compute_major) + "." +
               std::to_string(a.compute_minor) + " is older than " + std::to_string(oldest / 10) + "." +
               std::to_string(oldest % 10) + ", the oldest that this program was built for";
    if (attribute(cudaDevAttrComputeMode, d.ordinal) == cudaComputeModeProhibited)
        return who + "its compute mode is set to prohibited";
    return {};
}

struct Found {
    std::vector<Device> gpus;
    std::string remark;
};

std::string driver_remark(cudaError_t status, int driver) {
    if (status == cudaErrorInsufficientDriver && driver > 0)
        return "the NVIDIA driver is too old: it knows CUDA " + version_text(driver) +
               ", and this program needs CUDA " + version_text(CUDART_VERSION);
    if (driver == 0) return "no NVIDIA driver is installed";
    if (status == cudaErrorNoDevice) return "the NVIDIA driver finds no GPU";
    return "CUDA cannot be used here: " + std::string(cudaGetErrorString(status));
}

Found look() {
    Found found;
    int driver = 0, count = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
        cudaGetLastError();  // or a later launch would report it
        found.remark = driver_remark(status, driver);
        return found;
    }
    if (count == 0) found.remark = driver_remark(cudaErrorNoDevice, driver);
    for (int i = 0; i < count; ++i) {
        try {
            Device d = describe(i, driver);
            if (std::string why = unusable(d); why.empty())
                found.gpus.push_back(std::move(d));
            else
                found.remark += (found.remark.empty() ? "" : "; ") + why;
        } catch (const Error& e) {
            found.remark +=
                (found.remark.empty() ? "" : "; ") + ("cuda:" + std::to_string(i)) + ": " + e.problem();
        }
    }
    return found;
}

const Found& found() {
    static const Found once = look();
    return once;
}

}  // namespace

void check(cudaError_t status, const char* doing) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    throw failed({},
                 "the GPU failed at " + std::string(doing) + ": " + cudaGetErrorString(status) + " (" +
                     cudaGetErrorName(status) + ")",
                 hint_for(status));
}

void use(const Device& gpu) {
    check(cudaSetDevice(gpu.ordinal), "starting CUDA");
}

const std::vector<Device>& gpus() {
    return found().gpus;
}

const std::string& gpu_remark() {
    return found().remark;
}

std::size_t Device::free_bytes() const {
    if (backend == Backend::cpu) return host_available_bytes();
    use(*this);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for its free memory");
    return free;
}

Buffer::Buffer(const Device& device, std::size_t bytes) : size_(bytes) {
    if (device.backend == Backend::cpu) {
        data_ = host_allocate(bytes);
        return;
    }
    ordinal_ = device.ordinal;
    use(device);
    if (bytes > 0)
        check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes),
              ("allocating " + std::to_string(bytes) + " bytes on it").c_str());
}

Buffer::~Buffer() {
    if (ordinal_ < 0)
        host_free(data_);
    else
        cudaFree(data_);  // a failure here has been reported by the work that caused it
}

void upload(const Buffer& to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (to.ordinal() < 0) {
        std::memcpy(to.data(), from, bytes);
        return;
    }
    // A plain cudaMemcpy may return before the bytes are there, and the stages' streams would not wait for
    // it.
    check(cudaSetDevice(to.ordinal()), "starting CUDA");
    check(cudaMemcpyAsync(to.data(), from, bytes, cudaMemcpyHostToDevice, cudaStreamPerThread),
          "copying tables to it");
    check(cudaStreamSynchronize(cudaStreamPerThread), "copying tables to it");
}

void synchronize(const Device& device) {
    if (device.backend == Backend::cpu) return;
    use(device);
    check(cudaDeviceSynchronize(), "the work on it");
}

}  // namespace convoy::device
