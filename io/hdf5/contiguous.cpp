// Samples that lie in one piece in the file: read at their place by as many threads as like.
#include <unistd.h>

#include <algorithm>

#include "io/file.hpp"
#include "io/hdf5/samples.hpp"

namespace convoy::io::h5 {

namespace {
/// The file that HDF5 has open, under a descriptor of our own.
int descriptor_of(hid_t file) {
    Plist access(H5Fget_access_plist(file));
    void* handle = nullptr;
    if (!access.valid() || H5Pget_driver(access) != H5FD_SEC2 || H5Fget_vfd_handle(file, access, &handle) < 0)
        return -1;
    return ::dup(*static_cast<int*>(handle));
}

constexpr Index scratch_bytes = 256 * 1024;

std::byte* scratch(Index bytes) {
    thread_local std::vector<std::byte> memory;
    if (static_cast<Index>(memory.size()) < bytes) memory.resize(static_cast<std::size_t>(bytes));
    return memory.data();
}

class ContiguousSamples final : public Samples {
  public:
    ContiguousSamples(const Source& source, const Frame& frame, Index offset, io::File file)
        : frame_(frame),
          element_(source.element),
          where_(source.where),
          offset_(offset),
          file_(std::move(file)) {}

    bool serial() const override { return false; }

    void read(const Block& block, std::byte* dst, Index pitch) override {
        if (block.frames <= 0) return;
        const Index row = pitch * block.inner_count * element_.bytes();
        for (Index o = 0; o < block.outer_count; ++o) {
            const Index first =
                ((block.outer + o) * frame_.frames + block.frame) * frame_.inner + block.inner;
            read_row(first, block, dst + o * row);
        }
    }

  private:
    Index at(Index element) const { return offset_ + element * element_.stored_bytes; }

    /// Frames of one outer row, from stored element `first` on; dst is dense.
    void read_row(Index first, const Block& block, std::byte* dst) const {
        const Index n = block.inner_count, stored = element_.stored_bytes;
        if (n == frame_.inner) return read_dense(first, block.frames * n, dst);
        if (n * stored >= scratch_bytes / 4) {  // long pieces with long gaps between them
            for (Index f = 0; f < block.frames; ++f)
                read_dense(first + f * frame_.inner, n, dst + f * n * element_.bytes());
            return;
        }
        const Index step = frame_.inner * stored;  // bytes from frame to frame
        const Index at_once = std::max<Index>(1, scratch_bytes / step);
        for (Index f = 0; f < block.frames; f += at_once) {
            const Index frames = std::min(at_once, block.frames - f);
            const Index bytes = (frames - 1) * step + n * stored;
            std::byte* raw = scratch(bytes);
            file_.read_at(where_, at(first + f * frame_.inner), raw, bytes);
            element_.convert(raw, step, dst + f * n * element_.bytes(), n * element_.bytes(), frames, n);
        }
    }

    void read_dense(Index first, Index count, std::byte* dst) const {
        if (element_.as_stored) return file_.read_at(where_, at(first), dst, count * element_.stored_bytes);
        const Index at_once = scratch_bytes / element_.stored_bytes;
        for (Index i = 0; i < count; i += at_once) {
            const Index part = std::min(at_once, count - i);
            std::byte* raw = scratch(part * element_.stored_bytes);
            file_.read_at(where_, at(first + i), raw, part * element_.stored_bytes);
            element_.convert(raw, 0, dst + i * element_.bytes(), 0, 1, part);
        }
    }

    Frame frame_;
    Element element_;
    std::string where_;
    Index offset_;
    io::File file_;
};
}  // namespace

std::unique_ptr<Samples> contiguous_samples(const Source& source, const Frame& frame) {
    Lock lock;
    const haddr_t offset = H5Dget_offset(source.dataset);
    if (offset == HADDR_UNDEF) return nullptr;  // never written: fill values
    io::File file(descriptor_of(source.home));
    if (file.descriptor() < 0) return nullptr;
    return std::make_unique<ContiguousSamples>(source, frame, static_cast<Index>(offset), std::move(file));
}

}  // namespace convoy::io::h5
