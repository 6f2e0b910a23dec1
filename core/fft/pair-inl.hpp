// The outer pass of pair.hpp for one SIMD target: 16-point transforms down the columns, twiddles, and the
// transposes between columns (neighbours in a register) and rows (lanes).
#if defined(CONVOY_FFT_PAIR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVOY_FFT_PAIR_INL
#undef CONVOY_FFT_PAIR_INL
#else
#define CONVOY_FFT_PAIR_INL
#endif

#include <type_traits>

#include "core/fft/lanes-inl.hpp"
#include "core/fft/pair.hpp"

HWY_BEFORE_NAMESPACE();
namespace convoy::fft::HWY_NAMESPACE {

/// Samples of type S in registers of D: the same type, or float in double arithmetic.
template <class D, class S>
HWY_INLINE hn::Vec<D> load_samples(D d, const S* x) {
    if constexpr (std::is_same_v<S, hn::TFromD<D>>)
        return hn::LoadU(d, x);
    else
        return hn::PromoteTo(d, hn::LoadU(hn::Rebind<S, D>(), x));
}
template <class D, class S>
HWY_INLINE void store_samples(D d, hn::Vec<D> v, S* y) {
    const hn::Rebind<S, D> narrow;
    if constexpr (std::is_same_v<S, hn::TFromD<D>>)
        hn::StoreU(v, d, y);
    else
        hn::StoreU(hn::DemoteTo(narrow, v), narrow, y);
}

/// Transposes a square of Lanes x Lanes, in place.
template <class D>
HWY_INLINE void transpose(D d, hn::Vec<D>* v) {
    using T = hn::TFromD<D>;
    constexpr Index n = static_cast<Index>(hn::MaxLanes(D())), in_block = HWY_MIN(n, Index(16 / sizeof(T)));
    constexpr Index blocks = n / in_block;
#if HWY_TARGET != HWY_SCALAR  // which has none of these operations, and nothing to transpose
    if constexpr (in_block > 1) {
        const hn::Repartition<std::uint64_t, D> wide;
        for (Index i = 0; i < n; i += in_block) {
            hn::Vec<D>* q = v + i;
            if constexpr (in_block == 2) {
                const auto a = q[0];
                q[0] = hn::InterleaveLower(d, a, q[1]);
                q[1] = hn::InterleaveUpper(d, a, q[1]);
            } else {
                const auto a = hn::BitCast(wide, hn::InterleaveLower(d, q[0], q[1])),
                           b = hn::BitCast(wide, hn::InterleaveUpper(d, q[0], q[1])),
                           c = hn::BitCast(wide, hn::InterleaveLower(d, q[2], q[3])),
                           e = hn::BitCast(wide, hn::InterleaveUpper(d, q[2], q[3]));
                q[0] = hn::BitCast(d, hn::InterleaveLower(wide, a, c));
                q[1] = hn::BitCast(d, hn::InterleaveUpper(wide, a, c));
                q[2] = hn::BitCast(d, hn::InterleaveLower(wide, b, e));
                q[3] = hn::BitCast(d, hn::InterleaveUpper(wide, b, e));
            }
        }
    }
    if constexpr (blocks >= 2)  // neighbouring blocks: of 2 x 2 each
        for (Index i = 0; i < n; i += 2 * in_block)
            for (Index j = i; j < i + in_block; ++j) {
                const auto a = v[j], b = v[j + in_block];
                if constexpr (blocks == 2) {
                    v[j] = hn::ConcatLowerLower(d, b, a);
                    v[j + in_block] = hn::ConcatUpperUpper(d, b, a);
                } else {
                    v[j] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
                    v[j + in_block] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
                }
            }
    if constexpr (blocks == 4)  // halves
        for (Index j = 0; j < n / 2; ++j) {
            const auto a = v[j], b = v[j + n / 2];
            v[j] = hn::ConcatLowerLower(d, b, a);
            v[j + n / 2] = hn::ConcatUpperUpper(d, b, a);
        }
#else
    (void)d, (void)v;
#endif
    static_assert(blocks == 1 || blocks == 2 || blocks == 4);
}

/// e^(-2 pi i j / 16) for the j that 4 x 4 needs.
template <class D>
HWY_INLINE Complex<D> sixteenth(D d, int j) {
    using T = hn::TFromD<D>;
    constexpr T c1 = T(0.92387953251128675613), s1 = T(0.38268343236508977173), h = T(0.70710678118654752440);
    constexpr T table[10][2] = {{1, 0},     {c1, -s1}, {h, -h},    {s1, -c1}, {0, -1},
                                {-s1, -c1}, {-h, -h},  {-c1, -s1}, {-1, 0},   {-c1, s1}};
    return {hn::Set(d, table[j][0]), hn::Set(d, table[j][1])};
}

/// 16-point transform, natural order in and out.
template <class D>
HWY_INLINE void sixteen_forward(D d, Complex<D>* c) {
    for (int i = 0; i < 4; ++i) {
        four<true>(c[i], c[i + 4], c[i + 8], c[i + 12]);
        if (i > 0)
            for (int q = 1; q < 4; ++q)
                c[i + 4 * q] = c[i + 4 * q] * sixteenth(d, i * q);
    }
    for (int q = 0; q < 4; ++q)
        four<true>(c[4 * q], c[4 * q + 1], c[4 * q + 2], c[4 * q + 3]);
    // c[4 q + p] holds bin q + 4 p.
    for (int q = 0; q < 4; ++q)
        for (int p = q + 1; p < 4; ++p) {
            const Complex<D> t = c[4 * q + p];
            c[4 * q + p] = c[4 * p + q];
            c[4 * p + q] = t;
        }
}

template <class D>
HWY_INLINE void sixteen_inverse(D d, Complex<D>* c) {
    for (int q = 0; q < 4; ++q)
        for (int p = q + 1; p < 4; ++p) {
            const Complex<D> t = c[4 * q + p];
            c[4 * q + p] = c[4 * p + q];
            c[4 * p + q] = t;
        }
    for (int q = 0; q < 4; ++q)
        four<false>(c[4 * q], c[4 * q + 1], c[4 * q + 2], c[4 * q + 3]);
    for (int i = 0; i < 4; ++i) {
        if (i > 0)
            for (int q = 1; q < 4; ++q)
                c[i + 4 * q] = turn_back(c[i + 4 * q], sixteenth(d, i * q));
        four<false>(c[i], c[i + 4], c[i + 8], c[i + 12]);
    }
}

/// Columns that are worked on together. Rows lie a power of two apart, so that their lines compete for the
/// same few places in the first-level cache: long rows are first gathered, a whole stretch of each at a time.
inline constexpr Index stretch = 64;

/// Columns [at, at + count) of the 16 rows of both blocks, side by side as [row][part][stretch].
template <class D, class S, class T>
HWY_INLINE void gather(D d, const S* a, const S* b, Index m, Index at, T* HWY_RESTRICT columns) {
    for (Index r = 0; r < 16; ++r, columns += 2 * stretch)
        for (Index i = 0; i < stretch; i += static_cast<Index>(hn::MaxLanes(D()))) {
            hn::Store(load_samples(d, a + r * m + at + i), d, columns + i);
            hn::Store(load_samples(d, b + r * m + at + i), d, columns + stretch + i);
        }
}

/// Writes what is kept of a stretch of columns from `at` on back to the blocks.
template <class D, class S, class T>
HWY_INLINE void scatter(D d, const T* HWY_RESTRICT columns, Index m, Index at, S* ya, S* yb, Index keep) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    for (Index r = 0; r < 16 && r * m + at < keep; ++r, columns += 2 * stretch) {
        const Index n = HWY_MIN(stretch, keep - r * m - at);
        S *to_a = ya + r * m + at, *to_b = yb + r * m + at;
        Index i = 0;
        for (; i + lanes <= n; i += lanes) {
            store_samples(d, hn::Load(d, columns + i), to_a + i);
            store_samples(d, hn::Load(d, columns + stretch + i), to_b + i);
        }
        for (; i < n; ++i) {
            to_a[i] = static_cast<S>(columns[i]);
            to_b[i] = static_cast<S>(columns[stretch + i]);
        }
    }
}

/// One register's width of columns, c, to lanes at z (column `at` of m); `turns` by 16 columns as in
/// pair.hpp.
template <class D, class T>
HWY_INLINE void to_lanes(D d, Complex<D>* c, Index m, Index at, const T* turns, T* z) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D())), groups = 16 / lanes;
    sixteen_forward(d, c);
    const T* w = turns + at / 16 * (15 * 32) + at % 16;
    for (Index r = 1; r < 16; ++r, w += 32)
        c[r] = c[r] * Complex<D>{hn::Load(d, w), hn::Load(d, w + 16)};
    for (Index g = 0; g < groups; ++g) {
        hn::Vec<D> re[lanes], im[lanes];
        for (Index l = 0; l < lanes; ++l) {
            re[l] = c[g * lanes + l].re;
            im[l] = c[g * lanes + l].im;
        }
        transpose(d, re);
        transpose(d, im);
        T* out = z + (g * m + at) * 2 * lanes;
        for (Index l = 0; l < lanes; ++l)
            store(d, Complex<D>{re[l], im[l]}, out + 2 * l * lanes);
    }
}

template <class D, class T>
HWY_INLINE void from_lanes(D d, const T* z, Index m, Index at, const T* turns, Complex<D>* c) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D())), groups = 16 / lanes;
    for (Index g = 0; g < groups; ++g) {
        hn::Vec<D> re[lanes], im[lanes];
        const T* in = z + (g * m + at) * 2 * lanes;
        for (Index l = 0; l < lanes; ++l) {
            re[l] = hn::Load(d, in + 2 * l * lanes);
            im[l] = hn::Load(d, in + 2 * l * lanes + lanes);
        }
        transpose(d, re);
        transpose(d, im);
        for (Index l = 0; l < lanes; ++l)
            c[g * lanes + l] = {re[l], im[l]};
    }
    const T* w = turns + at / 16 * (15 * 32) + at % 16;
    for (Index r = 1; r < 16; ++r, w += 32)
        c[r] = turn_back(c[r], Complex<D>{hn::Load(d, w), hn::Load(d, w + 16)});
    sixteen_inverse(d, c);
}

template <class D, class S, class T>
void columns_forward(D d, const S* a, const S* b, Index m, const T* turns, T* z) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    HWY_ALIGN T columns[32 * stretch];
    const bool gathered = m >= 4 * stretch;
    for (Index at = 0; at < m; at += lanes) {
        Complex<D> c[16];
        if (gathered) {
            if (at % stretch == 0) gather(d, a, b, m, at, columns);
            for (Index r = 0; r < 16; ++r) {
                const T* from = columns + 2 * r * stretch + at % stretch;
                c[r] = {hn::Load(d, from), hn::Load(d, from + stretch)};
            }
        } else {
            for (Index r = 0; r < 16; ++r)
                c[r] = {load_samples(d, a + r * m + at), load_samples(d, b + r * m + at)};
        }
        to_lanes(d, c, m, at, turns, z);
    }
}

/// Lanes back to columns; writes results below `keep` and returns the size of all.
template <class D, class S, class T>
Size<T> columns_inverse(D d, const T* z, Index m, const T* turns, S* ya, S* yb, Index keep) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    HWY_ALIGN T columns[32 * stretch];
    const bool gathered = m >= 4 * stretch;
    hn::Vec<D> peak = hn::Zero(d), energy = hn::Zero(d);
    for (Index at = 0; at < m; at += lanes) {
        Complex<D> c[16];
        from_lanes(d, z, m, at, turns, c);
        for (Index r = 0; r < 16; ++r) {
            peak = hn::Max(peak, hn::Max(hn::Abs(c[r].re), hn::Abs(c[r].im)));
            energy = hn::MulAdd(c[r].re, c[r].re, hn::MulAdd(c[r].im, c[r].im, energy));
        }
        if (gathered) {
            T* to = columns + at % stretch;
            for (Index r = 0; r < 16; ++r, to += 2 * stretch) {
                hn::Store(c[r].re, d, to);
                hn::Store(c[r].im, d, to + stretch);
            }
            if ((at + lanes) % stretch == 0) scatter(d, columns, m, at + lanes - stretch, ya, yb, keep);
            continue;
        }
        for (Index r = 0, i = at; r < 16 && i < keep; ++r, i += m) {
            if (i + lanes <= keep) {
                store_samples(d, c[r].re, ya + i);
                store_samples(d, c[r].im, yb + i);
                continue;
            }
            hn::Store(c[r].re, d, columns);
            hn::Store(c[r].im, d, columns + lanes);
            for (Index l = 0; i + l < keep; ++l) {
                ya[i + l] = static_cast<S>(columns[l]);
                yb[i + l] = static_cast<S>(columns[lanes + l]);
            }
        }
    }
    return {hn::GetLane(hn::MaxOfLanes(d, peak)), hn::GetLane(hn::SumOfLanes(d, energy))};
}

template <class D, class S, class T>
Size<T> convolve_pair(D d, const S* a, const S* b, S* ya, S* yb, Index keep, Index m, const T* turns,
                      const T* w, const T* h, T* z) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    columns_forward(d, a, b, m, turns, z);
    for (Index g = 0; g < 16 / lanes; ++g)
        transform_any<Walk::convolve>(d, z + g * m * 2 * lanes, m, w, h + g * m * 2 * lanes);
    return columns_inverse(d, z, m, turns, ya, yb, keep);
}

/// Products of m bins in each lane with the taps', those that are alike added up; returns their energy.
template <class D, class T>
T add_alike(D d, const T* HWY_RESTRICT z, const T* HWY_RESTRICT h, const std::int32_t* alike, Index m,
            Index every, T* HWY_RESTRICT sums) {
    const Index step = 2 * static_cast<Index>(hn::Lanes(d));
    hn::Vec<D> energy = hn::Zero(d);
    for (Index k = 0; k < m; k += every, sums += step) {
        Complex<D> sum{hn::Zero(d), hn::Zero(d)};
        for (Index j = 0; j < every; ++j, ++alike) {
            const Complex<D> c = load(d, z + *alike * step) * load(d, h + *alike * step);
            energy = hn::MulAdd(c.re, c.re, hn::MulAdd(c.im, c.im, energy));
            sum = sum + c;
        }
        store(d, sum, sums);
    }
    return hn::GetLane(hn::SumOfLanes(d, energy));
}

template <class D, class S, class T>
Size<T> convolve_pair_every(D d, const S* a, const S* b, S* ya, S* yb, Index keep, const Factors<T>& there,
                            const Factors<T>& back, const std::int32_t* alike, const T* h, T* z) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    const Index m = there.m, every = m / back.m;
    T* const sums = z + 2 * m * 16;
    columns_forward(d, a, b, m, there.turns, z);
    T energy = 0;
    for (Index g = 0; g < 16 / lanes; ++g) {
        T *const from = z + g * m * 2 * lanes, *const to = sums + g * back.m * 2 * lanes;
        transform_any<Walk::forward>(d, from, m, there.w, from);
        energy += add_alike(d, from, h + g * m * 2 * lanes, alike, m, every, to);
        transform_any<Walk::inverse>(d, to, back.m, back.w, to);
    }
    const Size<T> size = columns_inverse(d, sums, back.m, back.turns, ya, yb, keep);
    return {size.peak,
            HWY_MAX(size.energy * static_cast<T>(every), energy * static_cast<T>(16 * m))};  // Parseval
}

}  // namespace convoy::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
