// Copying by a kernel: 16 bytes a thread and step, several loads in flight, as long as both ends are so
// aligned.
#include <algorithm>
#include <cstdint>

#include "core/device/check.hpp"
#include "core/device/copy.hpp"

namespace convoy::device {

namespace {

constexpr int threads = 256;
constexpr int unrolled = 4;

__global__ void copy_words(const uint4* __restrict__ in, uint4* __restrict__ out, std::int64_t words,
                           unsigned flip) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads * unrolled;
    for (std::int64_t first = std::int64_t{blockIdx.x} * threads * unrolled + threadIdx.x; first < words;
         first += step) {
        uint4 held[unrolled];
#pragma unroll
        for (int u = 0; u < unrolled; ++u)
            if (first + u * threads < words) held[u] = in[first + u * threads];
#pragma unroll
        for (int u = 0; u < unrolled; ++u) {
            const uint4 v = held[u];
            if (first + u * threads < words)
                out[first + u * threads] = {v.x ^ flip, v.y ^ flip, v.z ^ flip, v.w ^ flip};
        }
    }
}

__global__ void copy_single(const unsigned char* in, unsigned char* out, std::int64_t bytes,
                            unsigned char flip) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < bytes; i += step)
        out[i] = in[i] ^ flip;
}

// Memory that stays on the host and is reached over the link: page-locked, or managed and advised so.
bool stays_on_host(const std::byte* data) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, data), "asking where memory is");
    if (attributes.type != cudaMemoryTypeManaged) return attributes.type == cudaMemoryTypeHost;
    int preferred = cudaInvalidDeviceId;
    check(cudaMemRangeGetAttribute(&preferred, sizeof preferred, cudaMemRangeAttributePreferredLocation, data,
                                   1),
          "asking where memory is");
    return preferred == cudaCpuDeviceId;
}

// Over the link, half a MiB in flight saturates both directions; much more, and all blocks read first and
// write then, one direction at a time. Device memory wants as much in flight as there is room for.
unsigned blocks_for(std::int64_t threads_wanted, bool over_link, const Device& device) {
    const std::int64_t most = over_link ? 32 : std::int64_t{device.attributes.multiprocessors} * 8;
    return static_cast<unsigned>(std::clamp<std::int64_t>((threads_wanted + threads - 1) / threads, 1, most));
}

}  // namespace

void copy_bytes(const Device& device, const std::byte* in, std::byte* out, std::size_t bytes, std::byte flip,
                Stream& stream) {
    if (device.backend == Backend::cpu) {
        std::transform(in, in + bytes, out, [flip](std::byte b) { return b ^ flip; });
        return;
    }
    const auto queue = static_cast<cudaStream_t>(stream.handle());
    const bool over_link = stays_on_host(in) || stays_on_host(out);
    const unsigned turn = std::to_integer<unsigned>(flip);
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out)) % 16 == 0;
    const std::int64_t words = aligned ? static_cast<std::int64_t>(bytes / 16) : 0;
    const std::int64_t rest = static_cast<std::int64_t>(bytes) - words * 16;
    if (words > 0)
        copy_words<<<blocks_for((words + unrolled - 1) / unrolled, over_link, device), threads, 0, queue>>>(
            reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out), words, turn * 0x01010101u);
    if (rest > 0)
        copy_single<<<blocks_for(rest, over_link, device), threads, 0, queue>>>(
            reinterpret_cast<const unsigned char*>(in) + words * 16,
            reinterpret_cast<unsigned char*>(out) + words * 16, rest, static_cast<unsigned char>(turn));
    check_launch("copying by a kernel");
}

}  // namespace convoy::device
