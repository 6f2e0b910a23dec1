#include "pipelines/digest.hpp"

#include <cstring>

namespace convoy::pipelines {

namespace {

constexpr std::uint64_t prime = 0x100000001b3;  // of FNV-1a with 64 bits (Fowler, Noll and Vo)

std::uint64_t mixed(std::uint64_t lane, std::uint64_t word) {
    lane = (lane ^ word) * prime;
    return lane ^ (lane >> 32);  // high bits of a word reach the low ones
}

}  // namespace

std::uint64_t digest(const void* data, std::size_t bytes, std::uint64_t before) {
    const auto* at = static_cast<const unsigned char*>(data);
    // Four lanes of words: multiplications of one wait for no other.
    std::uint64_t lanes[4] = {before, before + 1, before + 2, before + 3};
    const std::size_t whole = bytes / sizeof lanes * sizeof lanes;
    for (std::size_t i = 0; i < whole; i += sizeof lanes) {
        std::uint64_t words[4];
        std::memcpy(words, at + i, sizeof words);
        for (int k = 0; k < 4; ++k)
            lanes[k] = mixed(lanes[k], words[k]);
    }
    if (whole > 0) {
        for (const std::uint64_t lane : lanes)
            before = mixed(before, lane);
    }
    for (std::size_t i = whole; i < bytes; ++i)
        before = (before ^ at[i]) * prime;
    return before;
}

std::string digest_text(std::uint64_t value) {
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; value /= 16)
        text[i] = "0123456789abcdef"[value % 16];
    return text;
}

}  // namespace convoy::pipelines
