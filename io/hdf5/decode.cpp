#include "io/hdf5/decode.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace convoy::io::h5 {

namespace {
struct FreeDecompressor {
    void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

/// zlib stream to exactly out.size() bytes.
bool inflate(std::span<const std::byte> in, std::span<std::byte> out) {
    thread_local const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
        libdeflate_alloc_decompressor());
    std::size_t written = 0;
    return decompressor &&
           libdeflate_zlib_decompress(decompressor.get(), in.data(), in.size(), out.data(), out.size(),
                                      &written) == LIBDEFLATE_SUCCESS &&
           written == out.size();
}

/// Shuffled bytes lie plane by plane: all first bytes of the elements, then all second ones. A rest that
/// makes no whole element stays at the end.
void unshuffle(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) {
    const std::size_t count = in.size() / element;
    for (std::size_t byte = 0; byte < element; ++byte) {
        const std::byte* plane = in.data() + byte * count;
        for (std::size_t i = 0; i < count; ++i)
            out[i * element + byte] = plane[i];
    }
    std::copy(in.begin() + static_cast<std::ptrdiff_t>(count * element), in.end(),
              out.begin() + static_cast<std::ptrdiff_t>(count * element));
}

/// Fletcher's checksum of big-endian 16-bit words modulo 65535, an odd last byte taken as a high one; 360
/// words are summed before each reduction, the most that 32 bits hold.
std::uint32_t fletcher32(std::span<const std::byte> data) {
    std::uint32_t low = 0, high = 0;
    const auto reduce = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
    const auto word = [&](std::size_t i) {
        return std::to_integer<std::uint32_t>(data[i]) << 8 |
               (i + 1 < data.size() ? std::to_integer<std::uint32_t>(data[i + 1]) : 0);
    };
    for (std::size_t i = 0; i < data.size();) {
        const std::size_t end = std::min(data.size(), i + 720);
        for (; i < end; i += 2)
            high += low += word(i);
        low = reduce(low);
        high = reduce(high);
    }
    return reduce(high) << 16 | reduce(low);
}

/// The four bytes behind the data, little-endian. Early libraries wrote the bytes of each half swapped.
bool checksum_agrees(std::span<const std::byte> with_sum) {
    const std::size_t size = with_sum.size() - 4;
    std::uint32_t stored = 0;
    for (std::size_t i = 0; i < 4; ++i)
        stored |= std::to_integer<std::uint32_t>(with_sum[size + i]) << 8 * i;
    const std::uint32_t sum = fletcher32(with_sum.first(size));
    return stored == sum || stored == ((sum & 0x00ff00ffu) << 8 | (sum & 0xff00ff00u) >> 8);
}
struct Scratch {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0;
};
thread_local Scratch slots[3];
}  // namespace

std::span<std::byte> scratch(int slot, std::size_t bytes) {
    Scratch& own = slots[slot];
    if (own.bytes < bytes) {
        own.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
        own.bytes = bytes;
    }
    return {own.memory.get(), bytes};
}

void trim_scratch() {
    for (Scratch& own : slots)
        if (own.bytes > 8 << 20) own = {};
}

bool can_decode(const std::vector<Storage::Filter>& filters) {
    return filters.size() <= 32 && std::all_of(filters.begin(), filters.end(), [](const Storage::Filter& f) {
               return f.id == H5Z_FILTER_DEFLATE || f.id == H5Z_FILTER_SHUFFLE ||
                      f.id == H5Z_FILTER_FLETCHER32;
           });
}

void decode(std::span<const std::byte> raw, std::uint32_t skipped,
            const std::vector<Storage::Filter>& filters, Index element_bytes, std::span<std::byte> chunk,
            const std::string& where) {
    const auto active = [&](std::size_t i) { return (skipped >> i & 1) == 0; };
    const auto damaged = [&](const char* what) {
        return failed(where, std::string("a chunk is damaged: ") + what, "copy the file again, or repair it");
    };
    // Size of what each filter was given when it was written: checksums before it lengthened the chunk.
    std::size_t size = chunk.size();
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        sizes.push_back(size);
        if (active(i) && filters[i].id == H5Z_FILTER_FLETCHER32) size += 4;
    }
    int slot = 1;  // 0 holds the raw chunk
    for (std::size_t i = filters.size(); i-- > 0;) {
        if (!active(i)) continue;
        if (filters[i].id == H5Z_FILTER_FLETCHER32) {
            if (raw.size() < 4 || !checksum_agrees(raw)) throw damaged("its checksum does not agree");
            raw = raw.first(raw.size() - 4);
            continue;
        }
        // The last step writes where the chunk is to be.
        const bool last = sizes[i] == chunk.size() &&
                          std::none_of(filters.begin(), filters.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const Storage::Filter& f) {
                                           return active(static_cast<std::size_t>(&f - filters.data()));
                                       });
        const std::span<std::byte> out = last ? chunk : scratch(slot, sizes[i]);
        if (filters[i].id == H5Z_FILTER_DEFLATE) {
            if (!inflate(raw, out)) throw damaged("its gzip data cannot be decoded");
        } else {
            if (raw.size() != out.size()) throw damaged("it has a wrong size");
            unshuffle(
                raw, out,
                static_cast<std::size_t>(filters[i].values.empty() ? element_bytes : filters[i].values[0]));
        }
        raw = out;
        if (!last) slot = 3 - slot;
    }
    if (raw.size() != chunk.size()) throw damaged("it has a wrong size");
    if (raw.data() != chunk.data()) std::memcpy(chunk.data(), raw.data(), raw.size());
}

}  // namespace convoy::io::h5
