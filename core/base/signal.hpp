// The vocabulary of everything that flows: sample types, shapes, spans of frames, windows of samples.
//
// Every array in convoy is seen as [outer][frames][inner], frames being the axis that is streamed (time):
//   WAV, time x channel HDF5         outer 1,                 inner = channels
//   channel x time HDF5              outer = channels,        inner 1
//   more axes                        outer = product of the axes before time, inner = of those after it
//   complex samples                  inner is doubled: real and imaginary part are two lanes
//   spectrogram images               outer = channels x frequencies, inner 1 (2 for complex)
// A *lane* is one (outer, inner) pair: one series of real samples along the frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace convoy {

using Index = std::int64_t;  // counts samples, frames, lanes and bytes, everywhere

/// Types that samples have in memory. Readers convert what else a file may hold to the next wider of these.
enum class SampleType : std::uint8_t { int16, int32, float32, float64 };

constexpr Index bytes_of(SampleType type) {
    return type == SampleType::int16 ? 2 : type == SampleType::float64 ? 8 : 4;
}
constexpr bool is_float(SampleType type) {
    return type == SampleType::float32 || type == SampleType::float64;
}
constexpr std::string_view name_of(SampleType type) {
    constexpr std::string_view names[] = {"int16", "int32", "float32", "float64"};
    return names[static_cast<int>(type)];
}
template <class T>
struct SampleTypeOf;
template <>
struct SampleTypeOf<std::int16_t> {
    static constexpr SampleType value = SampleType::int16;
};
template <>
struct SampleTypeOf<std::int32_t> {
    static constexpr SampleType value = SampleType::int32;
};
template <>
struct SampleTypeOf<float> {
    static constexpr SampleType value = SampleType::float32;
};
template <>
struct SampleTypeOf<double> {
    static constexpr SampleType value = SampleType::float64;
};

/// Calls f with a zero of the C++ type that `type` stands for: dispatch(type, [&](auto zero) { ...
/// decltype(zero) ... }).
template <class F>
decltype(auto) dispatch(SampleType type, F&& f) {
    switch (type) {
        case SampleType::int16:
            return f(std::int16_t{});
        case SampleType::int32:
            return f(std::int32_t{});
        case SampleType::float32:
            return f(float{});
        default:
            return f(double{});
    }
}

/// Frames [first, first + count) of a whole signal.
struct Span {
    Index first = 0;
    Index count = 0;
    constexpr Index end() const { return first + count; }
    constexpr bool contains(Span other) const { return first <= other.first && other.end() <= end(); }
    friend constexpr bool operator==(Span, Span) = default;
};

/// Extents of a whole array.
struct Shape {
    Index outer = 1;
    Index frames = 0;
    Index inner = 1;
    constexpr Index lanes() const { return outer * inner; }
    constexpr Index samples() const { return lanes() * frames; }
    friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// A rectangle of lanes: the part of the channels that one pass over the file works on.
struct Lanes {
    Index outer_first = 0, outer_count = 1;
    Index inner_first = 0, inner_count = 1;
    static constexpr Lanes all(const Shape& s) { return {0, s.outer, 0, s.inner}; }
    constexpr Index count() const { return outer_count * inner_count; }
    friend constexpr bool operator==(const Lanes&, const Lanes&) = default;
};

/// value = stored * gain + offset, in one pair for all or one a channel (never one a lane: real and imaginary
/// part share theirs). Empty vectors: the samples are as stored.
struct Scaling {
    std::vector<double> gain, offset;
    bool trivial() const { return gain.empty() && offset.empty(); }
    friend bool operator==(const Scaling&, const Scaling&) = default;
};

/// Samples in memory: frames `span` of the lanes `outer` x `inner`, as [outer][pitch][inner] with pitch >=
/// span.count. Does not own. `data` may be host or device memory, whichever the work runs on.
struct Window {
    std::byte* data = nullptr;
    SampleType type = SampleType::float32;
    Span span;        // absolute frames that are here
    Index outer = 1;  // lanes that are here
    Index inner = 1;
    Index pitch = 0;        // frames from one outer row to the next
    Index outer_first = 0;  // of the whole array's rows, the first that is here

    constexpr Index row_bytes() const { return pitch * inner * bytes_of(type); }
    constexpr Index size_bytes() const { return outer * row_bytes(); }
    template <class T>
    T* row(Index o) const {
        return reinterpret_cast<T*>(data + o * row_bytes());
    }
    /// Address of absolute frame `f` in row `o`.
    template <class T>
    T* at(Index o, Index f) const {
        return row<T>(o) + (f - span.first) * inner;
    }
};

}  // namespace convoy
