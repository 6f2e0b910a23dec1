#include "pipelines/sinks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "io/file.hpp"

namespace convoy::pipelines {

namespace {

class NullWriter : public io::Writer {
  public:
    void write(Span, Lanes, const std::byte*, Index) override {}
    void finish() override {}
};

class TrialWriter : public io::Writer {
  public:
    TrialWriter(Shape shape, SampleType type)
        : shape_(shape), size_(bytes_of(type)), memory_(::memfd_create("trial", MFD_CLOEXEC)) {}
    bool concurrent() const override { return true; }
    void finish() override {}
    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        const Index bytes = span.count * lanes.inner_count * size_;
        for (Index o = 0; o < lanes.outer_count; ++o) {
            const Index at =
                ((lanes.outer_first + o) * shape_.frames + span.first) * shape_.inner * size_ % most;
            // What it costs is of interest, not whether there was room.
            if (::pwrite(memory_.descriptor(), src + o * pitch * lanes.inner_count * size_,
                         static_cast<std::size_t>(bytes), at) < 0)
                break;
        }
    }

  private:
    static constexpr Index most = 32 << 20;  // bytes of memory, and at most as many more as a piece has
    Shape shape_;
    Index size_;
    io::File memory_;
};

class ConvertingWriter : public io::Writer {
  public:
    ConvertingWriter(std::unique_ptr<io::Writer> inner, SampleType from, SampleType to, double scale,
                     bool marks_nan)
        : inner_(std::move(inner)), from_(from), to_(to), scale_(scale), marks_nan_(marks_nan) {}

    bool ordered() const override { return inner_->ordered(); }
    void finish() override { inner_->finish(); }
    Index clipped() const override { return clipped_ + inner_->clipped(); }

    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        const Index row = span.count * lanes.inner_count;
        converted_.resize(static_cast<std::size_t>(lanes.outer_count * row * bytes_of(to_)));
        dispatch(from_, [&](auto source) {
            dispatch(to_, [&](auto target) {
                using S = decltype(source);
                using T = decltype(target);
                for (Index o = 0; o < lanes.outer_count; ++o) {
                    const S* in = reinterpret_cast<const S*>(src) + o * pitch * lanes.inner_count;
                    T* out = reinterpret_cast<T*>(converted_.data()) + o * row;
                    for (Index i = 0; i < row; ++i)
                        out[i] = convert<T>(static_cast<double>(in[i]));
                }
            });
        });
        inner_->write(span, lanes, converted_.data(), span.count);
    }

  private:
    template <class T>
    T convert(double value) {
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(value / scale_);
        } else {
            constexpr double lowest = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
            const double low = marks_nan_ ? lowest + 1 : lowest;
            if (std::isnan(value)) return marks_nan_ ? std::numeric_limits<T>::min() : T{0};
            const double scaled = std::nearbyint(value / scale_);
            if (!(scaled >= low && scaled <= high)) ++clipped_;
            return static_cast<T>(std::clamp(scaled, low, high));
        }
    }

    std::unique_ptr<io::Writer> inner_;
    SampleType from_, to_;
    double scale_;
    bool marks_nan_;
    Index clipped_ = 0;
    std::vector<std::byte> converted_;
};

}  // namespace

std::unique_ptr<io::Writer> trial_writer(Shape shape, SampleType type) {
    return std::make_unique<TrialWriter>(shape, type);
}

std::unique_ptr<io::Writer> null_writer() {
    return std::make_unique<NullWriter>();
}

std::unique_ptr<io::Writer> converting_writer(std::unique_ptr<io::Writer> inner, SampleType from,
                                              SampleType to, double scale, bool marks_nan) {
    return std::make_unique<ConvertingWriter>(std::move(inner), from, to, scale, marks_nan);
}

}  // namespace convoy::pipelines
