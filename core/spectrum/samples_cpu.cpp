#include "core/spectrum/samples_cpu.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/lane_scale.hpp"

namespace convoy::spectrum {

namespace {

double value_at(const std::byte* from, SampleType type, const LaneScale& scale) {
    return dispatch(type, [&](auto stored) {
        std::memcpy(&stored, from, sizeof stored);
        return static_cast<double>(stored) * scale.gain + scale.offset;
    });
}

constexpr Index most_rows = 16;

}  // namespace

template <class T>
LaneScale ExtendedSamples<T>::scale_of(const Lanes& lanes, Index outer, Index inner) const {
    return convoy::scale_of(p_.scaling, p_.shape, p_.complex ? 2 : 1, lanes, outer, inner);
}

template <class T>
bool ExtendedSamples<T>::in_place(const Window& in, Span span) const {
    return in.inner == 1 && in.type == SampleTypeOf<T>::value && p_.scaling.trivial() &&
           in.span.contains(span);
}

template <class T>
void ExtendedSamples<T>::load(const Window& in, const Lanes& lanes, Index outer, Index inner, Index rows,
                              Span span, T* const* dst) const {
    const Index n = p_.shape.frames;
    const Index first = std::clamp<Index>(span.first, 0, n), end = std::clamp<Index>(span.end(), first, n);
    const auto address = [&](Index r, Index frame) {
        return in.data + outer * in.row_bytes() +
               ((frame - in.span.first) * in.inner + inner + r) * bytes_of(in.type);
    };
    std::array<LaneScale, most_rows> scales;
    std::array<T*, most_rows> to;
    for (Index r = 0; r < rows; ++r) {
        scales[r] = scale_of(lanes, outer, inner + r);
        to[r] = dst[r] + (first - span.first);
    }
    if (end > first)
        load_rows<T>(address(0, first), in.type, in.inner, rows, end - first, scales.data(), to.data());
    for (Index r = 0; r < rows; ++r) {
        const auto beyond = [&](Index frame) {
            const Source s = source_of(frame, n, p_.padding);
            if (s.index < 0) return T{0};
            const auto value = [&](Index f) { return value_at(address(r, f), in.type, scales[r]); };
            double sum = s.sign * value(s.index);
            // A multiple of 0 is left out: the end sample may be NaN, or not be in the window.
            if (s.first != 0) sum += static_cast<double>(s.first) * value(0);
            if (s.last != 0) sum += static_cast<double>(s.last) * value(n - 1);
            return static_cast<T>(sum);
        };
        for (Index i = span.first; i < std::min(first, span.end()); ++i)
            dst[r][i - span.first] = beyond(i);
        for (Index i = std::max(end, span.first); i < span.end(); ++i)
            dst[r][i - span.first] = beyond(i);
    }
}

template class ExtendedSamples<float>;
template class ExtendedSamples<double>;

}  // namespace convoy::spectrum
