// The HDF5 writer: everything but the samples is in the file and the file closed before the first one comes;
// samples then go straight to their places. Chunked output keeps the file open.
#include "io/hdf5/write.hpp"

#include <algorithm>
#include <atomic>

#include "core/base/quantity.hpp"
#include "io/hdf5/crash_guard.hpp"

namespace convoy::io {
namespace h5 {

namespace {

class Hdf5Writer : public Writer {
  public:
    explicit Hdf5Writer(const OutputSpec& spec)
        : part_(spec.path,
                scale_bytes(spec) + (gzip_level(spec) ? 0 : spec.shape.samples() * bytes_of(spec.type)),
                spec.resume.has_value()),
          shape_(spec.shape),
          size_(bytes_of(spec.type)),
          sync_(spec.sync),
          overwrite_(spec.overwrite) {
        Lock lock;
        if (spec.resume) {
            offset_ = samples_place(part_, spec);
            written_ = *spec.resume;
            return;
        }
        const std::vector<Index> chunk = chunk_extents(spec);
        const CrashGuard guard(spec.source ? spec.source->recording().label() : spec.path, part_.path());
        file_ = make_file(part_);
        dataset_ = lay_out(file_, spec, chunk);
        if (!chunk.empty()) {
            sink_ = chunk_sink(spec, chunk, dataset_);
            return;
        }
        const haddr_t place = H5Dget_offset(dataset_);
        if (place == HADDR_UNDEF && shape_.samples() > 0)
            throw error(spec.path, "has no place for its samples");
        offset_ = static_cast<Index>(place);
        close();
        part_.resize(offset_ + shape_.samples() * size_);
    }

    ~Hdf5Writer() override {
        Lock lock;
        dataset_.reset();
        file_.reset();
    }

    bool concurrent() const override { return sink_ == nullptr; }

    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        if (sink_) {
            sink_->write(span, lanes, src, pitch);
        } else if (lanes.inner_count == shape_.inner) {
            write_rows(span, lanes, src, pitch);
        } else {
            write_columns(span, lanes, src, pitch);
        }
        written_ += span.count * lanes.count();
    }

    bool resumable() const override { return !sink_; }
    void flush() override { part_.flush(); }
    void keep() override { part_.keep(); }

    void finish() override {
        if (written_ != shape_.samples())
            throw failed(part_.final_path(), to_text(Index{written_}) + " of " + to_text(shape_.samples()) +
                                                 " samples were written");
        if (sink_) {
            Lock lock;
            close();
        }
        part_.commit(sync_, overwrite_);
    }

  private:
    void close() {
        const std::string& where = part_.final_path();
        check(H5Dclose(dataset_.release()), where, "cannot be written");
        check(H5Fclose(file_.release()), where, "cannot be written", "is the disk full?");
    }

    Index place(Index outer, Index frame) const {
        return offset_ + (outer * shape_.frames + frame) * shape_.inner * size_;
    }

    /// All of a frame: one stretch a row, and one in all where the rows follow one another on both sides.
    void write_rows(Span span, Lanes lanes, const std::byte* src, Index pitch) {
        const Index bytes = span.count * shape_.inner * size_;
        if (span.count == shape_.frames && pitch == span.count) {
            part_.write_at(place(lanes.outer_first, 0), src, bytes * lanes.outer_count);
            return;
        }
        for (Index o = 0; o < lanes.outer_count; ++o)
            part_.write_at(place(lanes.outer_first + o, span.first), src + o * pitch * shape_.inner * size_,
                           bytes);
    }

    /// Some lanes of each frame, between those of other passes: one thread at a time reads, fills in and
    /// writes.
    void write_columns(Span span, Lanes lanes, const std::byte* src, Index pitch) {
        std::scoped_lock lock(mutex_);
        const Index frame = shape_.inner * size_, width = lanes.inner_count * size_;
        const Index piece = std::max<Index>(1, (1 << 20) / frame);
        buffer_.resize(static_cast<std::size_t>(piece * frame));
        for (Index o = 0; o < lanes.outer_count; ++o)
            for (Index done = 0; done < span.count; done += piece) {
                const Index count = std::min(piece, span.count - done),
                            at = place(lanes.outer_first + o, span.first + done);
                part_.file().read_at(part_.path(), at, buffer_.data(), count * frame);
                const std::byte* from = src + (o * pitch + done) * width;
                std::byte* to = buffer_.data() + lanes.inner_first * size_;
                for (Index n = 0; n < count; ++n)
                    std::copy_n(from + n * width, width, to + n * frame);
                part_.write_at(at, buffer_.data(), count * frame);
            }
    }

    PartFile part_;
    Shape shape_;
    Index size_, offset_ = 0;
    bool sync_, overwrite_;
    File file_;
    Dataset dataset_;
    std::unique_ptr<ChunkSink> sink_;
    std::atomic<Index> written_{0};
    std::mutex mutex_;
    std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<Writer> create_writer(const OutputSpec& spec) {
    return std::make_unique<Hdf5Writer>(spec);
}

}  // namespace h5
}  // namespace convoy::io
