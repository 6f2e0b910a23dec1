#include "core/conv1d/direct_sums.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/conv1d/direct_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::conv1d::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
Index nonzeros_as(const T* x, Index count, Index most, std::int32_t* at) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Index whole = 0, many = 0;  // counting is quick, and rules most stretches out
    for (; whole + lanes <= count; whole += lanes) {
        many += static_cast<Index>(hn::CountTrue(d, hn::Ne(hn::LoadU(d, x + whole), hn::Zero(d))));
        if (many > most) return most + 1;
    }
    Index found = 0;
    for (Index i = 0; i < count;) {
        if (i + lanes <= count && hn::AllTrue(d, hn::Eq(hn::LoadU(d, x + i), hn::Zero(d)))) {
            i += lanes;
            continue;
        }
        for (const Index end = HWY_MIN(count, i + lanes); i < end; ++i) {
            if (x[i] == 0) continue;
            if (found == most) return most + 1;
            at[found++] = static_cast<std::int32_t>(i);
        }
    }
    return found;
}
Index nonzeros_float(const float* x, Index count, Index most, std::int32_t* at) {
    return nonzeros_as(x, count, most, at);
}
Index nonzeros_double(const double* x, Index count, Index most, std::int32_t* at) {
    return nonzeros_as(x, count, most, at);
}

/// The first sample that is not zero; count for none.
template <class T>
Index nonzero_begin_as(const T* x, Index count) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    Index i = 0;
    while (i + lanes <= count && hn::AllTrue(d, hn::Eq(hn::LoadU(d, x + i), hn::Zero(d))))
        i += lanes;
    while (i < count && x[i] == 0)
        ++i;
    return i;
}
Index nonzero_begin_float(const float* x, Index count) {
    return nonzero_begin_as(x, count);
}
Index nonzero_begin_double(const double* x, Index count) {
    return nonzero_begin_as(x, count);
}

/// One past the last sample that is not zero; 0 for none.
template <class T>
Index nonzero_end_as(const T* x, Index count) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    while (count >= lanes && hn::AllTrue(d, hn::Eq(hn::LoadU(d, x + count - lanes), hn::Zero(d))))
        count -= lanes;
    while (count > 0 && x[count - 1] == 0)
        --count;
    return count;
}
Index nonzero_end_float(const float* x, Index count) {
    return nonzero_end_as(x, count);
}
Index nonzero_end_double(const double* x, Index count) {
    return nonzero_end_as(x, count);
}

template <class T>
Index first_below_as(const T* x, Index from, Index count, T least) {
    const hn::ScalableTag<T> d;
    const Index lanes = static_cast<Index>(hn::Lanes(d));
    const auto needed = hn::Set(d, least);
    while (from + lanes <= count && hn::AllFalse(d, hn::Lt(hn::LoadU(d, x + from), needed)))
        from += lanes;
    while (from < count && !(x[from] < least))
        ++from;
    return from;
}
Index first_below_float(const float* x, Index from, Index count, float least) {
    return first_below_as(x, from, count, least);
}
Index first_below_double(const double* x, Index from, Index count, double least) {
    return first_below_as(x, from, count, least);
}

template <class D, class S>
HWY_INLINE hn::Vec<D> load_double(D d, const S* x) {
    if constexpr (std::is_same_v<S, double>)
        return hn::LoadU(d, x);
    else
        return hn::PromoteTo(d, hn::LoadU(hn::Rebind<S, D>(), x));
}

/// `registers` registers of direct sums in double: runs of `run` taps, an even number, whose sums are summed.
template <int registers, class D, class S>
HWY_INLINE void sums(D d, const S* x, const double* reversed, Index taps, Index run, hn::Vec<D>* all) {
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
    for (int r = 0; r < registers; ++r)
        all[r] = hn::Zero(d);
    for (Index first = 0; first < taps; first += run) {
        hn::Vec<D> a[registers], b[registers];
        for (int r = 0; r < registers; ++r)
            a[r] = b[r] = hn::Zero(d);
        const Index end = HWY_MIN(taps, first + run);
        Index j = first;
        for (; j + 2 <= end; j += 2) {
            const auto even = hn::Set(d, reversed[j]), odd = hn::Set(d, reversed[j + 1]);
            for (int r = 0; r < registers; ++r) {
                a[r] = hn::MulAdd(even, load_double(d, x + j + r * lanes), a[r]);
                b[r] = hn::MulAdd(odd, load_double(d, x + j + 1 + r * lanes), b[r]);
            }
        }
        for (int r = 0; r < registers; ++r) {
            if (j < end) a[r] = hn::MulAdd(hn::Set(d, reversed[j]), load_double(d, x + j + r * lanes), a[r]);
            all[r] = hn::Add(all[r], hn::Add(a[r], b[r]));
        }
    }
}

template <class D, class S>
HWY_INLINE void store_as(D d, hn::Vec<D> sum, S* y) {
    if constexpr (std::is_same_v<S, double>)
        hn::StoreU(sum, d, y);
    else
        hn::StoreU(hn::DemoteTo(hn::Rebind<S, D>(), sum), hn::Rebind<S, D>(), y);
}

template <class S>
void direct_as(const S* x, const double* reversed, Index taps, Index run, Index count, S* y) {
    const hn::ScalableTag<double> d;
    const hn::CappedTag<double, 1> one;
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(decltype(d)()));
    Index i = 0;
    hn::Vec<decltype(d)> four[4];
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        sums<4>(d, x + i, reversed, taps, run, four);
        for (int r = 0; r < 4; ++r)
            store_as(d, four[r], y + i + r * lanes);
    }
    for (; i + lanes <= count; i += lanes) {
        sums<1>(d, x + i, reversed, taps, run, four);
        store_as(d, four[0], y + i);
    }
    hn::Vec<decltype(one)> last;
    for (; i < count; ++i) {
        sums<1>(one, x + i, reversed, taps, run, &last);
        y[i] = static_cast<S>(hn::GetLane(last));
    }
}

/// y[i] = sum_s x[at[s]] taps[newest - at[s] + i] for i < count, a multiple of 4 registers.
template <class S>
void sparse_as(const S* x, const std::int32_t* at, Index samples, const double* newest, Index count, S* y) {
    const hn::ScalableTag<double> d;
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(decltype(d)()));
    for (Index i = 0; i < count; i += 4 * lanes) {
        hn::Vec<decltype(d)> sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
        for (Index s = 0; s < samples; ++s) {
            const auto sample = hn::Set(d, static_cast<double>(x[at[s]]));
            for (int r = 0; r < 4; ++r)
                sum[r] = hn::MulAdd(sample, hn::LoadU(d, newest - at[s] + i + r * lanes), sum[r]);
        }
        for (int r = 0; r < 4; ++r)
            store_as(d, sum[r], y + i + r * lanes);
    }
}
void sparse_float(const float* x, const std::int32_t* at, Index samples, const double* newest, Index count,
                  float* y) {
    sparse_as(x, at, samples, newest, count, y);
}
void sparse_double(const double* x, const std::int32_t* at, Index samples, const double* newest, Index count,
                   double* y) {
    sparse_as(x, at, samples, newest, count, y);
}

void direct_float(const float* x, const double* reversed, Index taps, Index run, Index count, float* y) {
    direct_as(x, reversed, taps, run, count, y);
}
void direct_double(const double* x, const double* reversed, Index taps, Index run, Index count, double* y) {
    direct_as(x, reversed, taps, run, count, y);
}

}  // namespace convoy::conv1d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::conv1d {

HWY_EXPORT(first_below_float);
HWY_EXPORT(first_below_double);
HWY_EXPORT(nonzero_begin_float);
HWY_EXPORT(nonzero_begin_double);
HWY_EXPORT(nonzero_end_float);
HWY_EXPORT(nonzero_end_double);
HWY_EXPORT(nonzeros_float);
HWY_EXPORT(nonzeros_double);
HWY_EXPORT(direct_float);
HWY_EXPORT(direct_double);
HWY_EXPORT(sparse_float);
HWY_EXPORT(sparse_double);

template <class T>
Index nonzeros(const T* x, Index count, Index most, std::int32_t* at) {
    if constexpr (std::is_same_v<T, float>)
        return HWY_DYNAMIC_DISPATCH(nonzeros_float)(x, count, most, at);
    else
        return HWY_DYNAMIC_DISPATCH(nonzeros_double)(x, count, most, at);
}

template <class T>
Index nonzero_begin(const T* x, Index count) {
    if constexpr (std::is_same_v<T, float>)
        return HWY_DYNAMIC_DISPATCH(nonzero_begin_float)(x, count);
    else
        return HWY_DYNAMIC_DISPATCH(nonzero_begin_double)(x, count);
}

template <class T>
Index nonzero_end(const T* x, Index count) {
    if constexpr (std::is_same_v<T, float>)
        return HWY_DYNAMIC_DISPATCH(nonzero_end_float)(x, count);
    else
        return HWY_DYNAMIC_DISPATCH(nonzero_end_double)(x, count);
}

template <class T>
Index first_below(const T* x, Index from, Index count, T least) {
    if constexpr (std::is_same_v<T, float>)
        return HWY_DYNAMIC_DISPATCH(first_below_float)(x, from, count, least);
    else
        return HWY_DYNAMIC_DISPATCH(first_below_double)(x, from, count, least);
}

DirectSums::DirectSums(const std::vector<double>& taps)
    : reversed_(taps.rbegin(), taps.rend()),
      padded_(taps.size() + 2 * static_cast<std::size_t>(together)),
      run_(4 * (1 + static_cast<Index>(std::sqrt(static_cast<double>(taps.size())) / 2))) {
    std::copy(taps.begin(), taps.end(), padded_.begin() + together);
}

template <class S>
void DirectSums::run(const S* x, Span nonzero, Index count, S* y) const {
    const Index first = std::max<Index>(0, nonzero.first - (count - 1));
    const Index taps = std::max<Index>(0, std::min(this->taps(), nonzero.first + nonzero.count) - first);
    if constexpr (std::is_same_v<S, float>)
        HWY_DYNAMIC_DISPATCH(direct_float)(x + first, reversed_.data() + first, taps, run_, count, y);
    else
        HWY_DYNAMIC_DISPATCH(direct_double)(x + first, reversed_.data() + first, taps, run_, count, y);
}

template <class S>
void DirectSums::sparse(const S* x, const std::int32_t* at, Index samples, Index count, S* y) const {
    S sums[together];
    const double* const newest = padded_.data() + together + taps() - 1;
    if constexpr (std::is_same_v<S, float>)
        HWY_DYNAMIC_DISPATCH(sparse_float)(x, at, samples, newest, together, sums);
    else
        HWY_DYNAMIC_DISPATCH(sparse_double)(x, at, samples, newest, together, sums);
    std::copy_n(sums, count, y);
}

template Index first_below(const float*, Index, Index, float);
template Index first_below(const double*, Index, Index, double);
template Index nonzeros(const float*, Index, Index, std::int32_t*);
template Index nonzeros(const double*, Index, Index, std::int32_t*);
template Index nonzero_begin(const float*, Index);
template Index nonzero_begin(const double*, Index);
template Index nonzero_end(const float*, Index);
template Index nonzero_end(const double*, Index);
template void DirectSums::run(const float*, Span, Index, float*) const;
template void DirectSums::run(const double*, Span, Index, double*) const;
template void DirectSums::sparse(const float*, const std::int32_t*, Index, Index, float*) const;
template void DirectSums::sparse(const double*, const std::int32_t*, Index, Index, double*) const;

}  // namespace convoy::conv1d
#endif
