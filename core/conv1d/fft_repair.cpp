#include "core/conv1d/fft_repair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy::conv1d {

/// Calls f(Failing) for the groups of outputs of which one is not guaranteed `least`, until it returns false.
template <class S>
template <class F>
void Repair<S>::each_failing(const Outputs& outputs, const Bounds<S>& bounds, double least, F&& f) const {
    S needed = static_cast<S>(least);
    if (static_cast<double>(needed) < least)
        needed = std::nextafter(needed, std::numeric_limits<S>::infinity());
    const Index groups = (outputs.count + bounds.group - 1) / bounds.group;
    const Index samples = outputs.count + sums_.taps() - 1;
    Index next = 0;  // the first sample at or past the window that is not zero, as far as looked
    for (Index first = 0; first < outputs.count; first += together) {
        const Index g = first_below(bounds.values, first / bounds.group, groups, needed);
        if (g == groups) return;
        first = std::max(first, g * bounds.group / together * together);
        next = std::max(next, first);
        next += nonzero_begin(outputs.x + next, samples - next);
        // Silence is done with at once, whatever its length.
        const Index silent = next == samples ? outputs.count - first
                                             : (next - (sums_.taps() - 1) - first) / together * together;
        if (silent > 0) {
            if (!f(Failing{first, silent, {0, 0}, 0, 0})) return;
            first += silent - together;
            continue;
        }
        const Index count = std::min(together, outputs.count - first), end = first + count + sums_.taps() - 1;
        const Span nonzero{next - first, nonzero_end(outputs.x + next, end - next)};
        if (!f(failing(outputs, first, count, nonzero))) return;
    }
}

template <class S>
typename Repair<S>::Failing Repair<S>::failing(const Outputs& outputs, Index first, Index count,
                                               Span nonzero) const {
    constexpr Index looking = 16;  // costs as much as so many products an output
    // Sums over samples here and there cost twice as much a product.
    const Index each = std::min(sums_.taps(), nonzero.count + count - 1);
    const Index most = std::min(sums_.sparse_at_most(), each / 2);
    std::int32_t* const at = outputs.places;
    const Index samples = nonzeros(outputs.x + first + nonzero.first, nonzero.count, most, at);
    if (samples > most) return {first, count, nonzero, -1, (each + looking) * count};
    for (Index s = 0; s < samples; ++s)
        at[s] += static_cast<std::int32_t>(nonzero.first);
    return {first, count, nonzero, samples, (2 * samples + looking) * count};
}

template <class S>
Index Repair<S>::products(const Outputs& outputs, const Bounds<S>& bounds, double least, Index most) const {
    Index products = 0;
    if (bounds.least >= least) return products;
    each_failing(outputs, bounds, least, [&](const Failing& f) {
        products += f.products;
        return products <= most;
    });
    return products;
}

template <class S>
bool Repair<S>::mend(const Outputs& outputs, const Bounds<S>& bounds, double least, Index every, S* y) const {
    if (bounds.least >= least) return false;
    bool summed = false;
    each_failing(outputs, bounds, least, [&](const Failing& f) {
        const Index begin = (f.first + every - 1) / every, end = (f.first + f.count - 1) / every + 1;
        if (f.products == 0) {
            std::fill(y + begin, y + end, S(0));
            return true;
        }
        S all[together];
        S* const sums = every == 1 ? y + f.first : all;
        if (f.samples >= 0)
            sums_.sparse(outputs.x + f.first, outputs.places, f.samples, f.count, sums);
        else
            sums_.run(outputs.x + f.first, f.nonzero, f.count, sums);
        for (Index n = begin; every > 1 && n < end; ++n)
            y[n] = all[n * every - f.first];
        summed = true;
        return true;
    });
    return summed;
}

template <class S>
void Repair<S>::spoil(const S* x, Index count, Index step, Index every, S* y) const {
    const Index taps = sums_.taps();
    Index bad = -1, nan = -1;  // the last of each so far
    for (Index j = 0; j < count + taps - 1; ++j) {
        if (!std::isfinite(x[j])) bad = j;
        if (std::isnan(x[j])) nan = j;
        const Index n = j - (taps - 1);
        if (n < 0 || n % step != 0) continue;
        if (nan >= n)
            y[n / every] = std::numeric_limits<S>::quiet_NaN();
        else if (bad >= n)
            sums_.run(x + n, {0, taps}, 1, y + n / every);
    }
}

template class Repair<float>;
template class Repair<double>;

}  // namespace convoy::conv1d
