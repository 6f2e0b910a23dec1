// Chunked and compressed output. Chunks are put together from spans in any order; the thread that completes
// one compresses it (byte shuffle, then deflate) and hands it to the library, so compression runs on all
// threads.
#include <libdeflate.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <numeric>

#include "core/base/quantity.hpp"
#include "io/hdf5/write.hpp"

namespace convoy::io::h5 {
namespace {

constexpr Index target_bytes = 1 << 20;  // of a chunk: what HDF5's default chunk cache holds

struct Compressor {
    libdeflate_compressor* handle = nullptr;
    int level = 0;
    ~Compressor() { libdeflate_free_compressor(handle); }
    libdeflate_compressor* at(int wanted) {
        if (!handle || level != wanted) {
            libdeflate_free_compressor(handle);
            handle = libdeflate_alloc_compressor(level = wanted);
        }
        return handle;
    }
};

/// HDF5's shuffle: first bytes of all elements, then second ones, ...
void shuffle(const std::byte* in, std::byte* out, Index count, Index size) {
    for (Index b = 0; b < size; ++b)
        for (Index i = 0; i < count; ++i)
            out[b * count + i] = in[i * size + b];
}

/// A chunk that is coming together.
struct Chunk {
    std::vector<std::byte> data;
    std::atomic<Index> missing{0};  // samples
};

/// Extents of array and chunks, with the parts of a complex number as an axis of their own.
struct Grid {
    std::vector<Index> dims, chunk, counts;  // counts: chunks along each axis
    std::size_t time = 0;

    Index chunks() const {
        return std::accumulate(counts.begin(), counts.end(), Index{1}, std::multiplies<>());
    }
    Index chunk_samples() const {
        return std::accumulate(chunk.begin(), chunk.end(), Index{1}, std::multiplies<>());
    }

    std::vector<Index> corner(Index number) const {
        std::vector<Index> at(dims.size());
        for (std::size_t a = dims.size(); a-- > 0; number /= counts[a])
            at[a] = number % counts[a] * chunk[a];
        return at;
    }
};

/// A run of samples along flattened axes: where it is in the array and in the chunk.
struct Run {
    Index array, chunk, length;
};

/// The part of a chunk along axes [first, last), flattened, in runs along the last of them.
std::vector<Run> runs_of(const Grid& grid, const std::vector<Index>& corner, std::size_t first,
                         std::size_t last) {
    std::vector<Run> runs{{0, 0, 1}};
    for (std::size_t a = first; a < last; ++a) {
        const Index have = std::min(grid.chunk[a], grid.dims[a] - corner[a]);
        std::vector<Run> next;
        for (const Run& run : runs) {
            const Run base{run.array * grid.dims[a] + corner[a], run.chunk * grid.chunk[a], 1};
            if (a + 1 == last) {
                next.push_back({base.array, base.chunk, have});
            } else {
                for (Index i = 0; i < have; ++i)
                    next.push_back({base.array + i, base.chunk + i, 1});
            }
        }
        runs = std::move(next);
    }
    return runs;
}

class Chunks : public ChunkSink {
  public:
    Chunks(const OutputSpec& spec, std::vector<Index> extents, hid_t dataset)
        : path_(spec.path),
          level_(gzip_level(spec)),
          dataset_(dataset),
          size_(bytes_of(spec.type)),
          element_(size_ * (spec.complex ? 2 : 1)) {
        grid_.dims = spec.dims;
        grid_.chunk = std::move(extents);
        grid_.time = static_cast<std::size_t>(spec.time_axis);
        if (spec.complex) {
            grid_.dims.push_back(2);
            grid_.chunk.push_back(2);
        }
        for (std::size_t a = 0; a < grid_.dims.size(); ++a)
            grid_.counts.push_back((grid_.dims[a] + grid_.chunk[a] - 1) / grid_.chunk[a]);
        file_dims_ = spec.dims.size();
    }

    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        const Index step = grid_.chunk[grid_.time], along = grid_.counts[grid_.time];
        Index before = 1, after = 1;
        for (std::size_t a = 0; a < grid_.counts.size(); ++a) {
            if (a < grid_.time) before *= grid_.counts[a];
            if (a > grid_.time) after *= grid_.counts[a];
        }
        std::vector<Index> touched;
        for (Index b = 0; b < before; ++b)
            for (Index t = span.first / step; t * step < span.end(); ++t)
                for (Index a = 0; a < after; ++a)
                    touched.push_back((b * along + t) * after + a);
        tbb::parallel_for(Index{0}, static_cast<Index>(touched.size()),
                          [&](Index i) { fill(touched[i], span, lanes, src, pitch); });
    }

  private:
    void fill(Index number, Span span, Lanes lanes, const std::byte* src, Index pitch) {
        const std::vector<Index> corner = grid_.corner(number);
        const auto outer = runs_of(grid_, corner, 0, grid_.time);
        const auto inner = runs_of(grid_, corner, grid_.time + 1, grid_.dims.size());
        const Index first = std::max(span.first, corner[grid_.time]);
        const Index end = std::min(span.end(), corner[grid_.time] + grid_.chunk[grid_.time]);
        const Index inner_chunk =
            std::accumulate(grid_.chunk.begin() + static_cast<std::ptrdiff_t>(grid_.time) + 1,
                            grid_.chunk.end(), Index{1}, std::multiplies<>());
        std::shared_ptr<Chunk> chunk;
        Index done = 0;
        for (const Run& rows : outer)
            for (Index o = rows.array; o < rows.array + rows.length; ++o) {
                if (o < lanes.outer_first || o >= lanes.outer_first + lanes.outer_count) continue;
                if (!chunk) chunk = pending(number, corner);
                const Index chunk_row = rows.chunk + (o - rows.array);
                const std::byte* row = src + (o - lanes.outer_first) * pitch * lanes.inner_count * size_;
                std::byte* to =
                    chunk->data.data() + chunk_row * grid_.chunk[grid_.time] * inner_chunk * size_;
                for (const Run& run : inner) {
                    const Index from = std::max(run.array, lanes.inner_first);
                    const Index stop =
                        std::min(run.array + run.length, lanes.inner_first + lanes.inner_count);
                    if (from >= stop) continue;
                    done += (stop - from) * (end - first);
                    const auto* in =
                        row + ((first - span.first) * lanes.inner_count + from - lanes.inner_first) * size_;
                    auto* out =
                        to +
                        ((first - corner[grid_.time]) * inner_chunk + run.chunk + from - run.array) * size_;
                    copy(in, lanes.inner_count, out, inner_chunk, stop - from, end - first);
                }
            }
        if (chunk && chunk->missing.fetch_sub(done) == done) complete(number, corner, *chunk);
    }

    /// `rows` frames of `length` samples; strides in samples.
    void copy(const std::byte* in, Index in_stride, std::byte* out, Index out_stride, Index length,
              Index rows) const {
        if (in_stride == length && out_stride == length) {
            std::memcpy(out, in, static_cast<std::size_t>(length * rows * size_));
            return;
        }
        for (Index r = 0; r < rows; ++r)
            std::memcpy(out + r * out_stride * size_, in + r * in_stride * size_,
                        static_cast<std::size_t>(length * size_));
    }

    std::shared_ptr<Chunk> pending(Index number, const std::vector<Index>& corner) {
        std::scoped_lock lock(mutex_);
        std::shared_ptr<Chunk>& chunk = pending_[number];
        if (!chunk) {
            chunk = std::make_shared<Chunk>();
            chunk->data.resize(
                static_cast<std::size_t>(grid_.chunk_samples() * size_));  // zeros beyond the edges
            Index samples = 1;
            for (std::size_t a = 0; a < corner.size(); ++a)
                samples *= std::min(grid_.chunk[a], grid_.dims[a] - corner[a]);
            chunk->missing = samples;
        }
        return chunk;
    }

    void complete(Index number, const std::vector<Index>& corner, Chunk& chunk) {
        std::vector<std::byte> packed;
        const std::byte* data = chunk.data.data();
        std::size_t bytes = chunk.data.size();
        std::uint32_t skipped = 0;  // filters that were not applied, by bits
        if (level_) {
            thread_local Compressor compressor;
            thread_local std::vector<std::byte> shuffled;
            shuffled.resize(bytes);
            shuffle(data, shuffled.data(), static_cast<Index>(bytes) / element_, element_);
            packed.resize(bytes);
            const std::size_t length = libdeflate_zlib_compress(compressor.at(*level_), shuffled.data(),
                                                                bytes, packed.data(), bytes);
            data = length ? packed.data() : shuffled.data();
            if (length)
                bytes = length;
            else
                skipped = 1u << 1;  // noise that does not get smaller stays as it is
        }
        std::vector<hsize_t> offset(corner.begin(), corner.begin() + static_cast<std::ptrdiff_t>(file_dims_));
        {
            Lock lock;
            check(H5Dwrite_chunk(dataset_, H5P_DEFAULT, skipped, offset.data(), bytes, data), path_,
                  "cannot be written", "is the disk full?");
        }
        std::scoped_lock lock(mutex_);
        pending_.erase(number);
    }

    std::string path_;
    std::optional<int> level_;
    hid_t dataset_;
    Index size_, element_;
    Grid grid_;
    std::size_t file_dims_ = 0;
    std::mutex mutex_;
    std::map<Index, std::shared_ptr<Chunk>> pending_;
};

}  // namespace

std::optional<int> gzip_level(const OutputSpec& spec) {
    if (spec.compression.empty() || spec.compression == "none") return std::nullopt;
    if (spec.compression == "gzip") return 4;
    if (spec.compression.compare(0, 5, "gzip:") == 0)
        if (const auto level = parse_integer(spec.compression.substr(5)); level && *level >= 0 && *level <= 9)
            return static_cast<int>(*level);
    throw usage_error("--compression " + spec.compression + " is not known",
                      "choose none, gzip or gzip:LEVEL (0 to 9)", spec.path);
}

std::vector<Index> chunk_extents(const OutputSpec& spec) {
    const std::size_t axes = spec.dims.size();
    if (!spec.chunks.empty()) {
        if (spec.chunks.size() != axes)
            throw usage_error("--hdf5-chunks: " + to_text(static_cast<Index>(spec.chunks.size())) +
                                  " extents for " + to_text(static_cast<Index>(axes)) + " axes",
                              {}, spec.path);
        std::vector<Index> extents = spec.chunks;
        for (std::size_t a = 0; a < axes; ++a) {
            if (extents[a] < 1) throw usage_error("--hdf5-chunks: extents are 1 or more", {}, spec.path);
            extents[a] = std::min(extents[a], std::max<Index>(1, spec.dims[a]));
        }
        return extents;
    }
    if (!gzip_level(spec)) return {};
    // All channels of a stretch of time where that fits, since spans come that way.
    std::vector<Index> extents(axes, 1);
    Index left = std::max<Index>(1, target_bytes / (bytes_of(spec.type) * (spec.complex ? 2 : 1)));
    const auto take = [&](std::size_t a, Index most) {
        extents[a] = std::clamp<Index>(std::min(most, left), 1, std::max<Index>(1, spec.dims[a]));
        left = std::max<Index>(1, left / extents[a]);
    };
    const auto time = static_cast<std::size_t>(spec.time_axis);
    for (std::size_t a = axes; a-- > time + 1;)
        take(a, left);
    Index outer = 1;
    for (std::size_t a = 0; a < time; ++a)
        outer *= spec.dims[a];
    // Rows are few samples each where there are many: pending chunks are as many bytes as rows times their
    // length.
    take(time, time == 0
                   ? left
                   : std::max<Index>(256, (16 << 20) / (bytes_of(spec.type) * std::max<Index>(1, outer))));
    for (std::size_t a = time; a-- > 0;)
        take(a, left);
    return extents;
}

std::unique_ptr<ChunkSink> chunk_sink(const OutputSpec& spec, std::vector<Index> extents, hid_t dataset) {
    return std::make_unique<Chunks>(spec, std::move(extents), dataset);
}

}  // namespace convoy::io::h5
