#include "core/base/rows.hpp"

#include <algorithm>

namespace convoy {

namespace {

// Whether float arithmetic rounds stored * gain as double arithmetic followed by a rounding to float does:
// the product of two 24-bit numbers is exact in double.
template <class In, class T>
bool exact_in(const LaneScale& s) {
    return sizeof(T) == 4 && sizeof(In) <= 4 && !std::is_same_v<In, std::int32_t> && s.offset == 0 &&
           static_cast<double>(static_cast<float>(s.gain)) == s.gain;
}

template <class In, class T>
void load_row(const In* src, Index stride, Index count, const LaneScale& s, T* dst) {
    if (s.trivial()) {
        for (Index i = 0; i < count; ++i)
            dst[i] = static_cast<T>(src[i * stride]);
    } else if (exact_in<In, T>(s)) {
        const T gain = static_cast<T>(s.gain);
        for (Index i = 0; i < count; ++i)
            dst[i] = static_cast<T>(src[i * stride]) * gain;
    } else {
        for (Index i = 0; i < count; ++i)
            dst[i] = static_cast<T>(static_cast<double>(src[i * stride]) * s.gain + s.offset);
    }
}

constexpr Index frames_at_once = 64;  // so that the lines read for one lane are still in L1 for the next

}  // namespace

template <class T>
void load_rows(const std::byte* src, SampleType type, Index stride, Index rows, Index count,
               const LaneScale* scales, T* const* dst) {
    dispatch(type, [&](auto zero) {
        using In = decltype(zero);
        const In* from = reinterpret_cast<const In*>(src);
        if (stride == 1) return load_row(from, 1, count, scales[0], dst[0]);
        for (Index i = 0; i < count; i += frames_at_once)
            for (Index r = 0; r < rows; ++r)
                load_row(from + i * stride + r, stride, std::min(frames_at_once, count - i), scales[r],
                         dst[r] + i);
    });
}

template <class T>
void store_rows(const T* const* src, Index rows, Index count, T* dst, Index stride) {
    for (Index first = 0; first < count; first += frames_at_once) {
        const Index end = std::min(first + frames_at_once, count);
        for (Index r = 0; r < rows; ++r)
            for (Index i = first; i < end; ++i)
                dst[i * stride + r] = src[r][i];
    }
}

template void load_rows(const std::byte*, SampleType, Index, Index, Index, const LaneScale*, float* const*);
template void load_rows(const std::byte*, SampleType, Index, Index, Index, const LaneScale*, double* const*);
template void store_rows(const float* const*, Index, Index, float*, Index);
template void store_rows(const double* const*, Index, Index, double*, Index);

}  // namespace convoy
