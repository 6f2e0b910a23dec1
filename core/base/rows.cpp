#include "core/base/rows.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace convoy {

namespace {

// Vectors of 16 bytes, which every machine has: moving samples needs no more, as memory is slower.
template <class T>
constexpr Index wide = 16 / sizeof(T);
template <class T>
using Pack [[gnu::vector_size(16)]] = T;

template <class T>
Pack<T> load(const T* from) {
    Pack<T> pack;
    std::memcpy(&pack, from, sizeof pack);
    return pack;
}
template <class T>
void store(const Pack<T>& pack, T* to) {
    std::memcpy(to, &pack, sizeof pack);
}

// Turns a square of samples about its diagonal.
template <class T>
void transpose(Pack<T> (&m)[wide<T>]) {
    if constexpr (wide<T> == 2) {
        const Pack<T> a = m[0], b = m[1];
        m[0] = __builtin_shufflevector(a, b, 0, 2);
        m[1] = __builtin_shufflevector(a, b, 1, 3);
    } else {
        const Pack<T> a = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5);
        const Pack<T> b = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7);
        const Pack<T> c = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5);
        const Pack<T> d = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);
        m[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
        m[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
        m[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
        m[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
    }
}

// dst[r][i] = src[i * stride + r]
template <class T>
void split(const T* src, Index stride, Index rows, Index count, T* const* dst, Index at) {
    constexpr Index w = wide<T>;
    for (Index first = 0; first < rows; first += w) {
        // A square reads w lanes of each frame, though fewer may be wanted: not past the last lane of the
        // last frame.
        const Index here = std::min(w, rows - first);
        const Index squares =
            here == w ? count / w : std::max<Index>((count - (w + stride - 1) / stride) / w, 0);
        Index i = 0;
        for (; i < squares * w; i += w) {
            Pack<T> m[w];
            for (Index j = 0; j < w; ++j)
                m[j] = load(src + (i + j) * stride + first);
            transpose<T>(m);
            for (Index j = 0; j < w; ++j)
                if (j < here) store<T>(m[j], dst[first + j] + at + i);
        }
        for (; i < count; ++i)
            for (Index j = 0; j < here; ++j)
                dst[first + j][at + i] = src[i * stride + first + j];
    }
}

// dst[i * stride + r] = src[r][i]
template <class T>
void join(const T* const* src, Index rows, Index at, Index count, T* dst, Index stride) {
    constexpr Index w = wide<T>;
    for (Index first = 0; first < rows; first += w) {
        const Index here = std::min(w, rows - first);
        Index i = 0;
        for (; here == w && i + w <= count; i += w) {
            Pack<T> m[w];
            for (Index j = 0; j < w; ++j)
                m[j] = load(src[first + j] + at + i);
            transpose<T>(m);
            for (Index j = 0; j < w; ++j)
                store<T>(m[j], dst + (i + j) * stride + first);
        }
        for (; i < count; ++i)
            for (Index j = 0; j < here; ++j)
                dst[i * stride + first + j] = src[first + j][at + i];
    }
}

// The same for two lanes side by side, as in stereo and complex samples.
template <class T>
void split_pairs(const T* src, Index count, T* even, T* odd) {
    for (Index i = 0; i < count; ++i) {
        even[i] = src[2 * i];
        odd[i] = src[2 * i + 1];
    }
}
template <class T>
void join_pairs(const T* even, const T* odd, Index count, T* dst) {
    for (Index i = 0; i < count; ++i) {
        dst[2 * i] = even[i];
        dst[2 * i + 1] = odd[i];
    }
}

// Whether T holds every In, so that scaling may follow the conversion.
template <class In, class T>
constexpr bool holds = sizeof(T) == 8 || std::is_same_v<In, std::int16_t> || std::is_same_v<In, float>;

template <class T>
void scale(T* row, Index count, const LaneScale& s) {
    if (s.trivial()) return;
    // The product of two 24-bit numbers is exact in double: rounded to float, it is what float arithmetic
    // gives.
    if (sizeof(T) == 8 || (s.offset == 0 && static_cast<double>(static_cast<T>(s.gain)) == s.gain)) {
        const T gain = static_cast<T>(s.gain), offset = static_cast<T>(s.offset);
        for (Index i = 0; i < count; ++i)
            row[i] = row[i] * gain + offset;
    } else {
        for (Index i = 0; i < count; ++i)
            row[i] = static_cast<T>(static_cast<double>(row[i]) * s.gain + s.offset);
    }
}

// Sample by sample: for numbers that T does not hold, scaled before they are rounded.
template <class In, class T>
void load_row(const In* src, Index stride, Index count, const LaneScale& s, T* dst) {
    for (Index i = 0; i < count; ++i)
        dst[i] = static_cast<T>(static_cast<double>(src[i * stride]) * s.gain + s.offset);
}

// Frames go in blocks, so that what one pass leaves is still in L1 for the next.
constexpr Index block_samples = 2048;

template <class T>
void separate(const T* src, Index stride, Index rows, Index count, T* const* dst, Index at) {
    if (rows == 2 && stride == 2)
        split_pairs(src, count, dst[0] + at, dst[1] + at);
    else
        split(src, stride, rows, count, dst, at);
}

template <class In, class T>
void load_block(const In* src, Index stride, Index rows, Index count, const LaneScale* scales, T* const* dst,
                Index at) {
    if constexpr (std::is_same_v<In, T>) {
        separate(src, stride, rows, count, dst, at);
    } else {
        T converted[block_samples];
        converted[0] = 0;
        if (rows == stride)
            for (Index i = 0; i < count * rows; ++i)
                converted[i] = static_cast<T>(src[i]);
        else
            for (Index i = 0; i < count; ++i)
                for (Index r = 0; r < rows; ++r)
                    converted[i * rows + r] = static_cast<T>(src[i * stride + r]);
        separate(converted, rows, rows, count, dst, at);
    }
    for (Index r = 0; r < rows; ++r)
        scale(dst[r] + at, count, scales[r]);
}

template <class In, class T>
void load_all(const In* src, Index stride, Index rows, Index count, const LaneScale* scales, T* const* dst) {
    const bool after =
        holds<In, T> || std::all_of(scales, scales + rows, [](auto& s) { return s.trivial(); });
    if (stride == 1 && after) {
        for (Index i = 0; i < count; ++i)
            dst[0][i] = static_cast<T>(src[i]);
        return scale(dst[0], count, scales[0]);
    }
    const Index lanes = std::min(rows, block_samples / 16);
    for (Index first = 0; first < rows; first += lanes) {
        const Index here = std::min(lanes, rows - first), frames = block_samples / here / 4 * 4;
        for (Index i = 0; i < count; i += frames) {
            const Index n = std::min(frames, count - i);
            const In* const from = src + i * stride + first;
            if (after)
                load_block(from, stride, here, n, scales + first, dst + first, i);
            else
                for (Index r = 0; r < here; ++r)
                    load_row(from + r, stride, n, scales[first + r], dst[first + r] + i);
        }
    }
}

}  // namespace

template <class T>
void load_rows(const std::byte* src, SampleType type, Index stride, Index rows, Index count,
               const LaneScale* scales, T* const* dst) {
    dispatch(type, [&](auto zero) {
        using In = decltype(zero);
        load_all(reinterpret_cast<const In*>(src), stride, rows, count, scales, dst);
    });
}

template <class T>
void store_rows(const T* const* src, Index rows, Index count, T* dst, Index stride) {
    if (rows == 2 && stride == 2) return join_pairs(src[0], src[1], count, dst);
    const Index frames = std::max<Index>(block_samples / rows / 4 * 4, 4);
    for (Index i = 0; i < count; i += frames)
        join(src, rows, i, std::min(frames, count - i), dst + i * stride, stride);
}

template void load_rows(const std::byte*, SampleType, Index, Index, Index, const LaneScale*, float* const*);
template void load_rows(const std::byte*, SampleType, Index, Index, Index, const LaneScale*, double* const*);
template void store_rows(const float* const*, Index, Index, float*, Index);
template void store_rows(const double* const*, Index, Index, double*, Index);

}  // namespace convoy
