// Records of managed memory from CUPTI, which is opened when it is asked for: users need not have it.
#include <cuda_runtime.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/opened_library.hpp"
#include "core/device/check.hpp"
#include "core/device/device.hpp"
#include "core/memory/migrations.hpp"

namespace convoy::memory {

namespace {

// What is needed of CUPTI's C interface, which has been the same from CUDA 11 to 13; later records are
// longer.
constexpr int record_kind = 25;  // CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER
enum Counter { bytes_to_device = 1, bytes_to_host = 2, cpu_fault = 3, gpu_fault = 4 };
enum Cause { asked = 1, coherence = 2, ahead = 3, eviction = 4 };

struct CounterConfig {  // CUpti_ActivityUnifiedMemoryCounterConfig
    int scope, counter;
    unsigned device, enable;
};

struct Record {  // the beginning of CUpti_ActivityUnifiedMemoryCounter2 and 3
    int kind, counter;
    std::uint64_t value, start, end, address;
    std::uint32_t from, to, stream, process, flags;
};

class Library : public OpenedLibrary {
  public:
    static const Library& the() {
        static const Library library;
        return library;
    }

    int (*configure)(CounterConfig*, unsigned count) = nullptr;
    int (*enable)(int kind) = nullptr;
    int (*disable)(int kind) = nullptr;
    int (*callbacks)(void (*room)(std::uint8_t**, std::size_t* bytes, std::size_t* records),
                     void (*done)(void* context, unsigned stream, std::uint8_t*, std::size_t bytes,
                                  std::size_t used)) = nullptr;
    int (*flush)(unsigned forced) = nullptr;
    int (*next)(std::uint8_t*, std::size_t used, Record**) = nullptr;
    int (*dropped)(void* context, unsigned stream, std::size_t*) = nullptr;
    int (*explain)(int status, const char**) = nullptr;

  private:
    Library() : OpenedLibrary(names()) {
        get(configure, "cuptiActivityConfigureUnifiedMemoryCounter");
        get(enable, "cuptiActivityEnable");
        get(disable, "cuptiActivityDisable");
        get(callbacks, "cuptiActivityRegisterCallbacks");
        get(flush, "cuptiActivityFlushAll");
        get(next, "cuptiActivityGetNextRecord");
        get(dropped, "cuptiActivityGetNumDroppedRecords");
        get(explain, "cuptiGetResultString");
    }

    // It lies beside the other libraries, or in a folder of its own that the linker is seldom told of.
    static std::vector<std::string> names() {
        const char* home = std::getenv("CUDA_HOME");
        const std::string toolkit = home != nullptr ? home : "/usr/local/cuda";
        std::vector<std::string> all;
        for (const std::string& folder :
             {std::string(), toolkit + "/extras/CUPTI/lib64/", toolkit + "/lib64/"})
            for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
                all.push_back(folder + name);
        return all;
    }
};

void check(int status, const char* doing) {
    if (status == 0) return;
    const char* text = "unknown error";
    Library::the().explain(status, &text);
    throw failed("page migrations", std::string("cannot be counted: ") + doing + ": " + text,
                 "ask for no profile");
}

// What the callbacks add to: CUPTI hands them nothing of the caller's.
std::mutex guard;
Migrations counted;

void add(const Record& r) {
    const auto value = static_cast<Index>(r.value);
    const auto move = [&](Moved& way) {
        switch (r.flags) {
            case asked:
                way.asked += value;
                break;
            case coherence:
                way.faulted += value;
                break;
            case ahead:
                way.ahead += value;
                break;
            case eviction:
                way.evicted += value;
                break;
            default:
                way.other += value;
        }
    };
    switch (r.counter) {
        case bytes_to_device:
            move(counted.to_device);
            break;
        case bytes_to_host:
            move(counted.to_host);
            break;
        case cpu_fault:
            ++counted.cpu_faults;
            break;  // its value is where in the program
        case gpu_fault:
            counted.gpu_faults += value;
            break;
        default:
            break;
    }
}

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;

void give_room(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
    *bytes = *buffer != nullptr ? buffer_bytes : 0;
    *records = 0;  // as many as fit
}

void take_records(void* context, unsigned stream, std::uint8_t* buffer, std::size_t, std::size_t used) {
    const Library& cupti = Library::the();
    const std::scoped_lock lock(guard);
    Record* record = nullptr;
    while (used > 0 && cupti.next(buffer, used, &record) == 0)
        if (record->kind == record_kind) add(*record);
    std::size_t lost = 0;
    if (cupti.dropped(context, stream, &lost) == 0) counted.lost += static_cast<Index>(lost);
    std::free(buffer);
}

void configure(unsigned enabled) {
    std::array<CounterConfig, 4> counters{};
    for (int i = 0; i < 4; ++i)
        counters[static_cast<std::size_t>(i)] = {2, i + 1, 0, enabled};  // of this process, on all devices
    check(Library::the().configure(counters.data(), counters.size()), "configuring CUPTI");
}

}  // namespace

std::string MigrationWatch::unavailable() {
    if (!device::gpu_remark().empty()) return device::gpu_remark();
    return Library::the().there() ? ""
                                  : "libcupti cannot be opened; it comes with the CUDA toolkit, and "
                                    "LD_LIBRARY_PATH or CUDA_HOME tells where";
}

MigrationWatch::MigrationWatch() {
    if (const std::string why = unavailable(); !why.empty())
        throw failed("page migrations", "cannot be counted: " + why);
    counted = {};
    check(Library::the().callbacks(give_room, take_records), "registering with CUPTI");
    configure(1);
    check(Library::the().enable(record_kind), "starting CUPTI");
}

Migrations MigrationWatch::finish() {
    device::check(cudaDeviceSynchronize(), "waiting for its work");
    check(Library::the().flush(1), "reading CUPTI's records");
    const std::scoped_lock lock(guard);
    return counted;
}

MigrationWatch::~MigrationWatch() {
    if (Library::the().there()) Library::the().disable(record_kind);
}

}  // namespace convoy::memory
