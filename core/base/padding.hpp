// What lies beyond the ends of a signal, as an index map that CPU code, kernels and tests share.
#pragma once

#include "core/base/signal.hpp"

#ifndef CONVOY_HD  // host and device in CUDA sources, nothing elsewhere
#ifdef __CUDACC__
#define CONVOY_HD __host__ __device__
#else
#define CONVOY_HD
#endif
#endif

namespace convoy {

/// zero; edge: the end sample goes on; reflect: mirrored about the end sample, again and again, as
/// numpy.pad(mode='reflect'); odd: turned about the end point, as numpy.pad(mode='reflect',
/// reflect_type='odd').
enum class Padding { zero, reflect, edge, odd };

/// The extended sample at any index: sign * x[index] + first * x[0] + last * x[n-1]; index is -1 where only
/// zero is there.
struct Source {
    Index index;
    int sign;     // 1 or -1
    Index first;  // multiples of the end samples that odd padding adds
    Index last;
};

/// Where the extended sample at frame i of an n-sample signal comes from (n >= 1).
CONVOY_HD constexpr Source source_of(Index i, Index n, Padding padding) {
    if (i >= 0 && i < n) return {i, 1, 0, 0};
    if (padding == Padding::zero) return {-1, 1, 0, 0};
    if (padding == Padding::edge || n == 1) return {i < 0 ? 0 : n - 1, 1, 0, 0};
    // Mirror images repeat with period 2 (n - 1); odd ones climb by 2 (x[n-1] - x[0]) a period.
    const Index period = 2 * (n - 1);
    Index q = i / period, r = i % period;
    if (r < 0) {
        r += period;
        --q;
    }
    const bool mirrored = r > n - 1;  // 2 x[n-1] - x[period - r] in odd padding
    const Index at = mirrored ? period - r : r;
    if (padding == Padding::reflect) return {at, 1, 0, 0};
    return {at, mirrored ? -1 : 1, -2 * q, 2 * q + (mirrored ? 2 : 0)};
}

/// The hull of the frames of an n-frame signal that extended frames [first, end) come from (n >= 1).
Span folded(Index first, Index end, Index n, Padding padding);

}  // namespace convoy
