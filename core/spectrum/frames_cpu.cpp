#include "core/spectrum/frames_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/fft/simd.hpp"
#include "core/spectrum/squares.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/spectrum/frames_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace convoy::spectrum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 8>;

template <class V>
HWY_INLINE V magnitude(V re, V im) {
    const hn::DFromV<V> d;
    using S = Squares<hn::TFromD<hn::DFromV<V>>>;
    const auto largest = hn::Max(hn::Abs(re), hn::Abs(im));
    const auto high = hn::Gt(largest, hn::Set(d, S::high)), low = hn::Lt(largest, hn::Set(d, S::low));
    const auto choose = [&](auto down, auto up) HWY_ATTR {
        return hn::IfThenElse(high, hn::Set(d, down), hn::IfThenElse(low, hn::Set(d, up), hn::Set(d, 1)));
    };
    const auto scale = choose(S::down, S::up);
    re = hn::Mul(re, scale), im = hn::Mul(im, scale);
    return hn::Mul(hn::Sqrt(hn::MulAdd(re, re, hn::Mul(im, im))), choose(1 / S::down, 1 / S::up));
}

// The value of one bin, of a register of frames.
template <class T>
HWY_INLINE void put(const FrameJob<T>& job, Index bin, Index lane, hn::Vec<Tag<T>> re, hn::Vec<Tag<T>> im) {
    const Tag<T> d;
    if (job.quantity == Quantity::complex) {
        hn::Store(re, d, job.out + 2 * bin * job.lanes + lane);
        hn::Store(im, d, job.out + (2 * bin + 1) * job.lanes + lane);
        return;
    }
    const auto gain = hn::Set(d, job.gain[bin]);
    T* const to = job.out + bin * job.lanes + lane;
    if (job.quantity == Quantity::magnitude) return hn::Store(hn::Mul(magnitude(re, im), gain), d, to);
    hn::Store(hn::Mul(hn::MulAdd(re, re, hn::Mul(im, im)), gain), d, to);
}

// Real frames of 2 h samples were transformed as h complex numbers, even samples real and odd ones imaginary:
// X[k] = E[k] + exp(-i pi k / h) O[k] and X[h - k] = conj(E[k] - exp(-i pi k / h) O[k]).
template <class T>
void real_values(const FrameJob<T>& job) {
    const Tag<T> d;
    const auto half = hn::Set(d, T(0.5));
    const Index h = job.length;
    for (Index k = 0; k <= h / 2; ++k) {
        const T* const a = job.z + 2 * job.position[k] * job.lanes;
        const T* const b = job.z + 2 * job.position[(h - k) % h] * job.lanes;
        const auto c = hn::Set(d, job.twiddles[2 * k]), s = hn::Set(d, job.twiddles[2 * k + 1]);
        for (Index lane = 0; lane < job.lanes; lane += static_cast<Index>(hn::Lanes(d))) {
            const auto ar = hn::Load(d, a + lane), ai = hn::Load(d, a + job.lanes + lane);
            const auto br = hn::Load(d, b + lane), bi = hn::Load(d, b + job.lanes + lane);
            const auto er = hn::Mul(half, hn::Add(ar, br)), ei = hn::Mul(half, hn::Sub(ai, bi));
            const auto odd_re = hn::Mul(half, hn::Add(ai, bi)), odd_im = hn::Mul(half, hn::Sub(br, ar));
            const auto tr = hn::MulSub(c, odd_re, hn::Mul(s, odd_im)),
                       ti = hn::MulAdd(c, odd_im, hn::Mul(s, odd_re));
            put(job, k, lane, hn::Add(er, tr), hn::Add(ei, ti));
            put(job, h - k, lane, hn::Sub(er, tr), hn::Sub(ti, ei));
        }
    }
}

// Bins first, first + 1, ... (mod length) of complex transforms.
template <class T>
void complex_values(const FrameJob<T>& job, Index first, Index bins) {
    const Tag<T> d;
    for (Index bin = 0; bin < bins; ++bin) {
        const T* const a = job.z + 2 * job.position[(first + bin) % job.length] * job.lanes;
        for (Index lane = 0; lane < job.lanes; lane += static_cast<Index>(hn::Lanes(d)))
            put(job, bin, lane, hn::Load(d, a + lane), hn::Load(d, a + job.lanes + lane));
    }
}

template <class T>
void weighted_sum(const T* values, const T* weights, Index count, Index lanes, T* out) {
    const Tag<T> d;
    for (Index lane = 0; lane < lanes; lane += static_cast<Index>(hn::Lanes(d))) {
        auto sum = hn::Zero(d);
        for (Index i = 0; i < count; ++i)
            sum = hn::MulAdd(hn::Load(d, values + i * lanes + lane), hn::Set(d, weights[i]), sum);
        hn::Store(sum, d, out + lane);
    }
}

// values = factor * log10(values) + offset, at least floor.
template <class T>
void decibels(T* values, Index count, T factor, T offset, T floor) {
    const Tag<T> d;
    const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
    const Index step = static_cast<Index>(hn::Lanes(d));
    const auto convert = [&](auto x) HWY_ATTR {
        auto y = hn::MulAdd(hn::Log10(d, x), hn::Set(d, factor), hn::Set(d, offset));
        y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
        y = hn::IfThenElse(hn::Lt(x, infinity), y, x);  // infinity and NaN stay
        return hn::IfThenElse(hn::Lt(y, hn::Set(d, floor)), hn::Set(d, floor), y);
    };
    Index i = 0;
    for (; i + step <= count; i += step)
        hn::StoreU(convert(hn::LoadU(d, values + i)), d, values + i);
    if (i == count) return;
    HWY_ALIGN T rest[8] = {};
    std::copy_n(values + i, count - i, rest);
    hn::Store(convert(hn::Load(d, rest)), d, rest);
    std::copy_n(rest, count - i, values + i);
}

void real_float(const FrameJob<float>& job) {
    real_values(job);
}
void real_double(const FrameJob<double>& job) {
    real_values(job);
}
void complex_float(const FrameJob<float>& job, Index first, Index bins) {
    complex_values(job, first, bins);
}
void complex_double(const FrameJob<double>& job, Index first, Index bins) {
    complex_values(job, first, bins);
}
void sum_float(const float* v, const float* w, Index count, Index lanes, float* out) {
    weighted_sum(v, w, count, lanes, out);
}
void sum_double(const double* v, const double* w, Index count, Index lanes, double* out) {
    weighted_sum(v, w, count, lanes, out);
}
void decibels_float(float* v, Index count, float factor, float offset, float floor) {
    decibels(v, count, factor, offset, floor);
}
void decibels_double(double* v, Index count, double factor, double offset, double floor) {
    decibels(v, count, factor, offset, floor);
}

}  // namespace convoy::spectrum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convoy::spectrum {

HWY_EXPORT(real_float);
HWY_EXPORT(real_double);
HWY_EXPORT(complex_float);
HWY_EXPORT(complex_double);
HWY_EXPORT(sum_float);
HWY_EXPORT(sum_double);
HWY_EXPORT(decibels_float);
HWY_EXPORT(decibels_double);

// Calls NAME_float or NAME_double, whichever T is.
#define CONVOY_CALL(T, name, ...)                             \
    do {                                                      \
        if constexpr (sizeof(T) == 4)                         \
            HWY_DYNAMIC_DISPATCH(name##_float)(__VA_ARGS__);  \
        else                                                  \
            HWY_DYNAMIC_DISPATCH(name##_double)(__VA_ARGS__); \
    } while (false)

template <class T>
FrameSpectra<T>::FrameSpectra(const Problem& p)
    : nfft_(p.nfft),
      length_(p.window_length()),
      lead_(p.lead()),
      bins_(p.linear_bins()),
      rows_(p.bins() * p.parts()),
      complex_in_(p.complex),
      halved_(!p.complex && p.nfft % 2 == 0),
      detrend_(p.detrend),
      quantity_(p.stored()) {
    const Index size = halved_ ? nfft_ / 2 : nfft_;
    if ((size & (size - 1)) == 0) {
        power_of_two_.emplace(size);
        lanes_ = power_of_two_->lanes();
        position_ = power_of_two_->position();
    } else {
        any_length_.emplace(size);
        lanes_ = any_length_->lanes();
        for (Index k = 0; k < size; ++k)
            position_.push_back(k);
    }
    for (double w : p.window)
        window_.push_back(static_cast<T>(w));
    const T once = static_cast<T>(p.gain(0)), twice = static_cast<T>(p.gain(1));
    for (Index k = 0; k < bins_; ++k)
        gain_.push_back(p.complex || k == 0 || 2 * k == nfft_ ? once : twice);
    for (Index k = 0; halved_ && k <= size; ++k) {
        const fft::Turn turn = fft::turn(k, nfft_);
        twiddles_.push_back(static_cast<T>(turn.cos));
        twiddles_.push_back(static_cast<T>(turn.sin));
    }
    for (const Band& band : p.bands) {
        bands_.push_back(
            {band.first, static_cast<Index>(band.weights.size()), static_cast<Index>(weights_.size())});
        for (double w : band.weights)
            weights_.push_back(static_cast<T>(w));
    }
}

template <class T>
Index FrameSpectra<T>::scratch() const {
    const Index size = static_cast<Index>(position_.size());
    return lanes_ * (2 * size * (any_length_ ? 2 : 1) + (bands_.empty() ? 0 : bins_));
}

template <class T>
void FrameSpectra<T>::fill(const Frame* frames, Index count, T* z) const {
    const Index step = halved_ ? lanes_ : 2 * lanes_;  // from sample to sample
    std::fill_n(z, lead_ * step, T{0});
    std::fill_n(z + (lead_ + length_) * step, (nfft_ - lead_ - length_) * step, T{0});
    if (!halved_ || count < lanes_) std::fill_n(z + lead_ * step, length_ * step, T{0});
    const auto place = [&](const T* x, T* to) {
        T mean = 0;
        if (detrend_) {
            double sum = 0;
            for (Index n = 0; n < length_; ++n)
                sum += static_cast<double>(x[n]);
            mean = static_cast<T>(sum / static_cast<double>(length_));
        }
        for (Index n = 0; n < length_; ++n)
            to[n * step] = window_[n] * (x[n] - mean);
    };
    for (Index lane = 0; lane < count; ++lane) {
        place(frames[lane].re, z + lead_ * step + lane);
        if (complex_in_) place(frames[lane].im, z + lead_ * step + lanes_ + lane);
    }
}

template <class T>
void FrameSpectra<T>::run(const Frame* frames, Index count, T* values, T* scratch) const {
    const Index size = static_cast<Index>(position_.size());
    T* const z = scratch;
    T* const linear = bands_.empty() ? values : scratch + this->scratch() - bins_ * lanes_;
    fill(frames, count, z);
    const T* transformed = z;
    if (power_of_two_)
        power_of_two_->forward(z);
    else
        transformed = any_length_->forward(z, z + 2 * size * lanes_);
    const FrameJob<T> job{transformed,      position_.data(), size,      lanes_,
                          twiddles_.data(), gain_.data(),     quantity_, linear};
    if (halved_)
        CONVOY_CALL(T, real, job);
    else
        CONVOY_CALL(T, complex, job, complex_in_ ? nfft_ - nfft_ / 2 : 0, bins_);
    for (std::size_t b = 0; b < bands_.size(); ++b)
        CONVOY_CALL(T, sum, linear + bands_[b].first * lanes_, weights_.data() + bands_[b].weights,
                    bands_[b].count, lanes_, values + static_cast<Index>(b) * lanes_);
}

template <class T>
void to_decibels(T* values, Index count, const Problem::Logarithm& log) {
    CONVOY_CALL(T, decibels, values, count, static_cast<T>(log.factor), static_cast<T>(log.offset),
                static_cast<T>(log.floor));
}

template class FrameSpectra<float>;
template class FrameSpectra<double>;
template void to_decibels(float*, Index, const Problem::Logarithm&);
template void to_decibels(double*, Index, const Problem::Logarithm&);

}  // namespace convoy::spectrum
#endif
