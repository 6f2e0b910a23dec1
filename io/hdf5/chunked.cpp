// Samples in chunks, raw or gzipped: the library hands over raw chunks, one at a time; they are decoded in
// parallel, and kept for the neighbouring blocks.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <unordered_map>

#include "io/hdf5/decode.hpp"
#include "io/hdf5/samples.hpp"

namespace convoy::io::h5 {

namespace {
constexpr Index cache_bytes = 64 << 20;

/// One decoded chunk, filled by whoever comes first.
struct Chunk {
    std::mutex filling;
    bool filled = false;
    std::unique_ptr<std::byte[]> bytes;
};

/// Decoded chunks, those used longest ago dropped first. Holds at least one.
class ChunkCache {
  public:
    explicit ChunkCache(Index chunk_bytes)
        : most_(static_cast<std::size_t>(std::max<Index>(1, cache_bytes / std::max<Index>(1, chunk_bytes)))) {
    }

    std::size_t most() const { return most_; }

    std::shared_ptr<Chunk> take(Index number) {
        std::scoped_lock lock(mutex_);
        if (const auto found = known_.find(number); found != known_.end()) {
            order_.splice(order_.begin(), order_, found->second);
            return found->second->second;
        }
        std::shared_ptr<Chunk> chunk;
        if (order_.size() >= most_) {
            chunk = std::move(order_.back().second);
            known_.erase(order_.back().first);
            order_.pop_back();
        }
        if (chunk.use_count() == 1) {
            std::atomic_thread_fence(std::memory_order_acquire);  // after the last user's reads
            chunk->filled = false;  // nobody else has it: its memory serves again
        } else {
            chunk = std::make_shared<Chunk>();
        }
        order_.emplace_front(number, std::move(chunk));
        known_[number] = order_.begin();
        return order_.front().second;
    }

  private:
    using Order = std::list<std::pair<Index, std::shared_ptr<Chunk>>>;
    std::size_t most_;
    std::mutex mutex_;
    Order order_;
    std::unordered_map<Index, Order::iterator> known_;
};

using Extents = std::vector<Index>;

/// The common part of a box and a chunk, and where it goes.
struct Piece {
    Index chunk;           // number of the chunk
    Extents origin;        // its first element in the array
    Extents first, count;  // the part, in the array
};

class ChunkedSamples final : public Samples {
  public:
    ChunkedSamples(const Source& source, const Storage& storage, const Frame& frame)
        : frame_(frame),
          element_(source.element),
          where_(source.where),
          chunk_(storage.chunk),
          filters_(storage.filters),
          dataset_(open_dataset(source.home, source.home_name, where_)),
          chunk_bytes_(element_.stored_bytes * volume(chunk_)),
          cache_(chunk_bytes_) {
        for (std::size_t axis = 0; axis < chunk_.size(); ++axis)
            grid_.push_back((frame.dims[axis] + chunk_[axis] - 1) / chunk_[axis]);
        read_fill_value();
    }

    bool serial() const override { return false; }

    void read(const Block& block, std::byte* dst, Index pitch) override {
        if (block.frames <= 0) return;
        const Extents strides = strides_in(block, pitch);
        for (const Box& box : boxes_of(frame_, block)) {
            Index base = 0;  // of the array's first element, in dst
            for (std::size_t axis = 0; axis < strides.size(); ++axis)
                base -= box.first[axis] * strides[axis];
            base += (box.outer - block.outer) * pitch * block.inner_count + (box.inner - block.inner);
            const std::vector<Piece> pieces = pieces_of(box);
            // No more chunks at a time than the cache holds.
            for (std::size_t i = 0; i < pieces.size(); i += cache_.most()) {
                const std::size_t end = std::min(pieces.size(), i + cache_.most());
                tbb::parallel_for(i, end, [&](std::size_t p) { copy(pieces[p], strides, base, dst); });
            }
        }
    }

  private:
    static Index volume(const Extents& dims) {
        Index product = 1;
        for (const Index extent : dims)
            product *= extent;
        return product;
    }

    /// Elements of dst from one element of the array to the next along each axis.
    Extents strides_in(const Block& block, Index pitch) const {
        Extents strides(frame_.dims.size());
        const auto time = static_cast<std::size_t>(frame_.time_axis);
        Index stride = 1;
        for (std::size_t axis = frame_.dims.size(); axis-- > time + 1;) {
            strides[axis] = stride;
            stride *= frame_.dims[axis];
        }
        strides[time] = block.inner_count;
        stride = pitch * block.inner_count;
        for (std::size_t axis = time; axis-- > 0;) {
            strides[axis] = stride;
            stride *= frame_.dims[axis];
        }
        return strides;
    }

    std::vector<Piece> pieces_of(const Box& box) const {
        const std::size_t rank = chunk_.size();
        Extents low(rank), high(rank);
        for (std::size_t axis = 0; axis < rank; ++axis) {
            low[axis] = box.first[axis] / chunk_[axis];
            high[axis] = (box.first[axis] + box.count[axis] - 1) / chunk_[axis];
        }
        std::vector<Piece> pieces;
        for (Extents at = low;;) {
            Piece piece{0, Extents(rank), Extents(rank), Extents(rank)};
            for (std::size_t axis = 0; axis < rank; ++axis) {
                piece.chunk = piece.chunk * grid_[axis] + at[axis];
                piece.origin[axis] = at[axis] * chunk_[axis];
                piece.first[axis] = std::max(piece.origin[axis], box.first[axis]);
                piece.count[axis] =
                    std::min(piece.origin[axis] + chunk_[axis], box.first[axis] + box.count[axis]) -
                    piece.first[axis];
            }
            pieces.push_back(std::move(piece));
            std::size_t axis = rank;
            while (axis > 0 && at[axis - 1] == high[axis - 1])
                --axis, at[axis] = low[axis];
            if (axis == 0) return pieces;
            ++at[axis - 1];
        }
    }

    void copy(const Piece& piece, const Extents& strides, Index base, std::byte* dst) {
        const std::shared_ptr<Chunk> chunk = cache_.take(piece.chunk);
        {
            std::scoped_lock lock(chunk->filling);
            if (!chunk->filled) {
                const auto size = static_cast<std::size_t>(chunk_bytes_);
                if (!chunk->bytes) chunk->bytes = std::make_unique_for_overwrite<std::byte[]>(size);
                fill(piece.origin, {chunk->bytes.get(), size});
                chunk->filled = true;
            }
        }
        Index from = 0, to = base;
        for (std::size_t axis = 0; axis < strides.size(); ++axis) {
            from = from * chunk_[axis] + piece.first[axis] - piece.origin[axis];
            to += piece.first[axis] * strides[axis];
        }
        copy_axis(0, volume(chunk_), piece, strides, chunk->bytes.get() + from * element_.stored_bytes,
                  dst + to * element_.bytes());
    }

    /// Copies along `axis` and those after it; `span` is what one step along the axis before it takes in the
    /// chunk.
    void copy_axis(std::size_t axis, Index span, const Piece& piece, const Extents& strides,
                   const std::byte* src, std::byte* dst) const {
        const std::size_t rank = strides.size();
        const Index step = span / chunk_[axis];
        if (axis + 1 == rank) return element_.convert(src, 0, dst, 0, 1, piece.count[axis]);
        const Index src_step = step * element_.stored_bytes, dst_step = strides[axis] * element_.bytes();
        if (axis + 2 == rank)
            return element_.convert(src, src_step, dst, dst_step, piece.count[axis], piece.count[axis + 1]);
        for (Index i = 0; i < piece.count[axis]; ++i)
            copy_axis(axis + 1, step, piece, strides, src + i * src_step, dst + i * dst_step);
    }

    void fill(const Extents& origin, std::span<std::byte> chunk) {
        std::uint32_t skipped = 0;
        const std::vector<hsize_t> offset(origin.begin(), origin.end());
        std::span<std::byte> raw;
        {
            Lock lock;
            const hsize_t size = stored_size(offset);
            raw = filters_.empty() && size == chunk.size() ? chunk : scratch(0, size);
            if (size > 0)
                check(H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &skipped, raw.data()), where_,
                      "samples cannot be read", "the file is damaged or incomplete there");
        }
        if (raw.empty())  // never written
            for (std::size_t i = 0; i < chunk.size(); i += fill_value_.size())
                std::copy(fill_value_.begin(), fill_value_.end(),
                          chunk.begin() + static_cast<std::ptrdiff_t>(i));
        else
            decode(raw, skipped, filters_, element_.stored_bytes, chunk, where_);
        trim_scratch();
    }

    /// Bytes of a chunk in the file; 0 where it was never written.
    hsize_t stored_size(const std::vector<hsize_t>& offset) const {
        hsize_t size = 0;
        if (H5Dget_chunk_storage_size(dataset_, offset.data(), &size) >= 0) return size;
        // Some libraries fail so for a chunk without storage: the slower search tells.
        unsigned skipped = 0;
        haddr_t address = HADDR_UNDEF;
        check(H5Dget_chunk_info_by_coord(dataset_, offset.data(), &skipped, &address, &size), where_,
              "a chunk cannot be found", "the file is damaged or incomplete there");
        if (address != HADDR_UNDEF)
            throw error(where_, "a chunk cannot be found", "the file is damaged there");
        return 0;
    }

    void read_fill_value() {
        fill_value_.resize(static_cast<std::size_t>(element_.stored_bytes), std::byte{0});
        Plist creation(check(H5Dget_create_plist(dataset_), where_, "the fill value cannot be read"));
        Type stored(check(H5Dget_type(dataset_), where_, "the fill value cannot be read"));
        H5D_fill_value_t status = H5D_FILL_VALUE_ERROR;
        check(H5Pfill_value_defined(creation, &status), where_, "the fill value cannot be read");
        if (status != H5D_FILL_VALUE_UNDEFINED)
            check(H5Pget_fill_value(creation, stored, fill_value_.data()), where_,
                  "the fill value cannot be read");
    }

    Frame frame_;
    Element element_;
    std::string where_;
    Extents chunk_, grid_;
    std::vector<Storage::Filter> filters_;
    Dataset dataset_;
    Index chunk_bytes_;
    std::vector<std::byte> fill_value_;
    ChunkCache cache_;
};
}  // namespace

std::unique_ptr<Samples> chunked_samples(const Source& source, const Storage& storage, const Frame& frame) {
    Lock lock;
    return std::make_unique<ChunkedSamples>(source, storage, frame);
}

}  // namespace convoy::io::h5
