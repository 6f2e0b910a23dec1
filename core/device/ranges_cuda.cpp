// NVTX: header-only; free of cost where no profiler is attached.
#include <nvtx3/nvToolsExt.h>

#include "core/device/ranges.hpp"

namespace convoy::device {

namespace {

nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t ours = nvtxDomainCreateA("convoy");
    return ours;
}

}  // namespace

Range::Range(const char* name) {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &event);
}

Range::~Range() {
    nvtxDomainRangePop(domain());
}

}  // namespace convoy::device
