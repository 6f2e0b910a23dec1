// Built without CUDA: its modes have names all the same, for comparisons and messages.
#include "core/memory/memory.hpp"

namespace convoy::memory {

std::span<const Lacking> lacking() {
    static constexpr Lacking modes[] = {
        {"managed", "in place"},   {"managed-prefetch", "migrate"}, {"managed-fault", "migrate"},
        {"pinned", "copy engine"}, {"pageable", "copy engine"},     {"mapped", "in place"},
    };
    return modes;
}

}  // namespace convoy::memory
