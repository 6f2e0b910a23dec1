// Inputs and outputs in memory, for tests of what lies between them.
#pragma once

#include <cstring>
#include <vector>

#include "io/format.hpp"

namespace convoy::test {

/// An array as an input: [outer][frames][inner] of T.
template <class T>
class MemoryReader : public io::Reader {
  public:
    MemoryReader(Shape shape, std::vector<T> samples) : samples_(std::move(samples)) {
        recording_.path = "memory";
        recording_.shape = shape;
        recording_.dims = {shape.outer, shape.frames, shape.inner};
        recording_.time_axis = 1;
        recording_.type = SampleTypeOf<T>::value;
    }
    bool serial() const override { return false; }
    Index frames_read() const { return frames_read_; }

    void read(Span span, Lanes lanes, std::byte* dst, Index pitch) override {
        const Shape& s = recording_.shape;
        frames_read_ += span.count;
        for (Index o = 0; o < lanes.outer_count; ++o)
            for (Index f = 0; f < span.count; ++f)
                for (Index i = 0; i < lanes.inner_count; ++i) {
                    const Index from = ((lanes.outer_first + o) * s.frames + span.first + f) * s.inner +
                                       lanes.inner_first + i;
                    std::memcpy(
                        dst + ((o * pitch + f) * lanes.inner_count + i) * static_cast<Index>(sizeof(T)),
                        &samples_.at(static_cast<std::size_t>(from)), sizeof(T));
                }
    }

  private:
    std::vector<T> samples_;
    Index frames_read_ = 0;
};

/// Collects an output of shape [outer][frames][inner] of T.
template <class T>
class MemoryWriter : public io::Writer {
  public:
    explicit MemoryWriter(Shape shape) : shape_(shape), samples_(static_cast<std::size_t>(shape.samples())) {}
    const std::vector<T>& samples() const { return samples_; }
    bool finished() const { return finished_; }
    void finish() override { finished_ = true; }

    void write(Span span, Lanes lanes, const std::byte* src, Index pitch) override {
        for (Index o = 0; o < lanes.outer_count; ++o)
            for (Index f = 0; f < span.count; ++f)
                for (Index i = 0; i < lanes.inner_count; ++i) {
                    const Index to =
                        ((lanes.outer_first + o) * shape_.frames + span.first + f) * shape_.inner +
                        lanes.inner_first + i;
                    std::memcpy(
                        &samples_.at(static_cast<std::size_t>(to)),
                        src + ((o * pitch + f) * lanes.inner_count + i) * static_cast<Index>(sizeof(T)),
                        sizeof(T));
                }
    }

  private:
    Shape shape_;
    std::vector<T> samples_;
    bool finished_ = false;
};

}  // namespace convoy::test
