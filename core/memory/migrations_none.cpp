// Built without CUDA: there is no managed memory.
#include "core/base/error.hpp"
#include "core/device/device.hpp"
#include "core/memory/migrations.hpp"

namespace convoy::memory {

std::string MigrationWatch::unavailable() {
    return device::gpu_remark();
}

MigrationWatch::MigrationWatch() {
    throw failed("page migrations", "cannot be counted: " + unavailable());
}

MigrationWatch::~MigrationWatch() = default;

Migrations MigrationWatch::finish() {
    return {};
}

}  // namespace convoy::memory
