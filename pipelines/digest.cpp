#include "pipelines/digest.hpp"

namespace convoy::pipelines {

std::uint64_t digest(const void* data, std::size_t bytes, std::uint64_t before) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i)
        before = (before ^ at[i]) * 0x100000001b3;
    return before;
}

std::string digest_text(std::uint64_t value) {
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; value /= 16)
        text[i] = "0123456789abcdef"[value % 16];
    return text;
}

}  // namespace convoy::pipelines
