#include "pipelines/scope.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "core/base/error.hpp"
#include "pipelines/sinks.hpp"

namespace convoy::pipelines {

namespace {

class RamReader : public io::Reader {
  public:
    RamReader(std::unique_ptr<io::Reader> input, const RamArray& samples)
        : input_(std::move(input)), samples_(samples) {
        recording_ = input_->recording();
        recording_.chunk.clear();  // threads may share a read, as of a plain file
    }
    bool serial() const override { return false; }
    const io::Reader& origin() const override { return input_->origin(); }
    void read(Span span, Lanes lanes, std::byte* dst, Index pitch) override {
        samples_.get(span, lanes, dst, pitch);
    }

  private:
    std::unique_ptr<io::Reader> input_;
    const RamArray& samples_;
};

// Fills a place in memory once.
class OnceReader : public RamReader {
  public:
    using RamReader::RamReader;
    void read(Span span, Lanes lanes, std::byte* dst, Index pitch) override {
        {
            const std::scoped_lock lock(mutex_);
            if (!filled_.insert(dst).second) return;
        }
        RamReader::read(span, lanes, dst, pitch);
    }

  private:
    std::mutex mutex_;
    std::set<std::byte*> filled_;
};

class RamWriter : public io::Writer {
  public:
    explicit RamWriter(const RamArray& samples) : samples_(samples) {}
    bool concurrent() const override { return true; }
    void finish() override {}
    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        samples_.put(span, lanes, src, pitch);
    }

  private:
    const RamArray& samples_;
};

Shape shortened(Shape shape, Index size, std::size_t most) {
    const Index frame = std::max<Index>(1, shape.lanes() * size);
    shape.frames = std::clamp<Index>(shape.frames, 0, std::max<Index>(1, static_cast<Index>(most) / frame));
    return shape;
}

constexpr std::string_view names[] = {"link", "memory", "file"};

}  // namespace

std::string_view name_of(Scope scope) {
    return names[static_cast<int>(scope)];
}

Scope scope_of(std::string_view name) {
    for (const Scope scope : all_scopes)
        if (name_of(scope) == name) return scope;
    throw usage_error("there is no scope " + std::string(name), "take link, memory or file");
}

RamArray::RamArray(Shape whole, SampleType type, std::size_t most)
    : held_(shortened(whole, bytes_of(type), most)),
      size_(bytes_of(type)),
      data_(device::cpu(), static_cast<std::size_t>(held_.samples() * size_)) {}

// copy(inside, outside, bytes): what lies together in both, outside as an offset.
template <class Copy>
void RamArray::each_row(Span span, const Lanes& lanes, Index pitch, Copy&& copy) const {
    const Index frame = lanes.inner_count * size_;
    const bool whole = lanes.inner_count == held_.inner;
    for (Index o = 0; o < lanes.outer_count; ++o)
        for (Index done = 0, n = 0; done < span.count; done += n) {
            const Index at = (span.first + done) % held_.frames;
            n = whole ? std::min(span.count - done, held_.frames - at) : 1;
            const Index sample =
                ((lanes.outer_first + o) * held_.frames + at) * held_.inner + lanes.inner_first;
            copy(data_.data() + sample * size_, (o * pitch + done) * frame,
                 static_cast<std::size_t>(n * frame));
        }
}

void RamArray::get(Span span, Lanes lanes, std::byte* outside, Index pitch) const {
    each_row(span, lanes, pitch, [&](const std::byte* inside, Index at, std::size_t bytes) {
        std::memcpy(outside + at, inside, bytes);
    });
}

void RamArray::put(Span span, Lanes lanes, const std::byte* outside, Index pitch) const {
    each_row(span, lanes, pitch, [&](std::byte* inside, Index at, std::size_t bytes) {
        std::memcpy(inside, outside + at, bytes);
    });
}

std::unique_ptr<io::Reader> RamFiles::reader(std::unique_ptr<io::Reader> input, Scope scope) {
    const io::Recording& r = input->recording();
    if (!source_) {
        source_.emplace(r.shape, r.type, most_);
        const Index frames = source_->frames(),
                    each = std::max<Index>(1, (1 << 20) / std::max<Index>(1, r.shape.lanes()));
        std::vector<std::byte> part(static_cast<std::size_t>(each * r.shape.lanes() * bytes_of(r.type)));
        for (Index first = 0; first < frames; first += each) {
            const Span span{first, std::min(each, frames - first)};
            input->read(span, Lanes::all(r.shape), part.data(), span.count);
            source_->put(span, Lanes::all(r.shape), part.data(), span.count);
        }
    }
    if (scope == Scope::link) return std::make_unique<OnceReader>(std::move(input), *source_);
    return std::make_unique<RamReader>(std::move(input), *source_);
}

std::unique_ptr<io::Writer> RamFiles::writer(Shape shape, SampleType type, Scope scope) {
    if (scope == Scope::link) return null_writer();
    if (!sink_) sink_.emplace(shape, type, most_);
    return std::make_unique<RamWriter>(*sink_);
}

}  // namespace convoy::pipelines
