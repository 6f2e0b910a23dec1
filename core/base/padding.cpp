#include "core/base/padding.hpp"

#include <algorithm>

namespace convoy {

Span folded(Index first, Index end, Index n, Padding padding) {
    Index low = n, high = 0;  // hull of what is used
    const auto use = [&](Index a, Index b) {
        low = std::min(low, a);
        high = std::max(high, b);
    };
    if (const Index a = std::max<Index>(first, 0), b = std::min(end, n); a < b) use(a, b);
    const auto beyond = [&](Index a, Index b) {  // extended frames [a, b), all outside
        if (a >= b || padding == Padding::zero) return;
        if (padding == Padding::edge) return a < 0 ? use(0, 1) : use(n - 1, n);
        if (a < -(n - 1) || b > 2 * n - 1) return use(0, n);  // folds back more than once
        // One fold: -i to i, and n - 1 + i to n - 1 - i; `odd` also uses the end sample.
        if (a < 0) return use(padding == Padding::odd ? 0 : -(b - 1), std::min(-a + 1, n));
        return use(std::max<Index>(2 * (n - 1) - (b - 1), 0),
                   padding == Padding::odd ? n : 2 * (n - 1) - a + 1);
    };
    beyond(first, std::min<Index>(end, 0));
    beyond(std::max(first, n), end);
    return low < high ? Span{low, high - low} : Span{0, 0};
}

}  // namespace convoy
