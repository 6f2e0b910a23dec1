// One pair of blocks through a transform by a block of threads, and how good its results are.
//
// The promise and the bounds are those of the CPU (fft_guard.hpp), with segments of 8, 16 or 32 samples.
#pragma once

#include "core/conv1d/fft_work_cuda.cuh"
#include "core/conv1d/sums_cuda.cuh"

namespace convoy::conv1d::gpu {

template <class T, class S, int R, int Q>
class PairOfBlocks {
  public:
    using Fft = fft::BlockFft<T, R>;
    using Complex = fft::Complex<T>;

    __device__ PairOfBlocks(const Job& job, const FftFilter<T>& filter, std::byte* memory)
        : job_(job),
          f_(filter),
          x_(reinterpret_cast<Complex*>(memory)),
          levels_(reinterpret_cast<T*>(x_ + Fft::exchange)),
          segments_(levels_ + FftShared<T, R, Q>::levels + 3),
          bounds_(segments_ - 3 + FftShared<T, R, Q>::segments(filter.keep)) {
        for (int i = thread() - 3; i < FftShared<T, R, Q>::segments(filter.keep) - 3; i += Fft::threads)
            segments_[i] = 0;
        __syncthreads();
    }

    /// Results `begin` .. of the pair at `at`: writes those that are wanted; true if all are as good as
    /// direct sums, which in float only the first warp knows. All threads of the block call it.
    __device__ __forceinline__ bool run(const PairPlace& at, int begin, const Divisor& by_decimation) {
        outer_ = at.outer;
        inner_ = at.inner;
        output_ = at.output;
        begin_ = begin;
        skipped_ = at.skipped - begin;
        wanted_ = min(at.wanted - begin, 2 * f_.keep);
        frame_ = job_.frame_of(at.output) + begin;
        Complex b[Fft::sums][16];
        T root = 0, peak = 0, least = 0;
        spoiled_ = false;
        for (int p = 0; p < f_.parts; ++p) {
            const Index offset = OverlapSave::offset_of(p, f_.part, f_.taps);
            {
                Complex a[R];
                load(offset, a);
                look(a, f_.parts_of[4 * p + 3]);
                Fft::spread(a, thread(), f_.turns, x_);
            }
            __syncthreads();
            least = least_bound(p);
            if (judges()) {
                const T top = level(0, Larger()), energy = level(1, Add());
                const T* const of = f_.parts_of + 4 * p;
                root += sqrt(fft_error_of_samples(of[0], of[1], T(Fft::size), stages, top, energy) +
                             of[2] * energy);
                peak = top > peak ? top : peak;
            }
            Fft::middle(thread(), f_.turns, x_);
            __syncwarp();
            Fft::spectrum(b, thread(), x_);
            multiply(b, p);
            if (p + 1 < f_.parts) __syncthreads();
        }
        Fft::back(b, thread(), f_.turns, x_);
        __syncwarp();
        Fft::middle_back(thread(), f_.turns, x_);
        put(4, over_warp(least, Smaller()));
        __syncthreads();
        {
            Complex a[R];
            Fft::gather(a, thread(), x_);
            size_of(a);
            store(a, by_decimation);
        }
        __syncthreads();
        if (!judges()) return true;
        const T y = fft_error_of_results(T(Fft::size), stages, level(2, Larger()), level(3, Add()));
        error_ = f_.error * sqrt(root * root + y);
        peak_ = peak;
        return !spoiled_ && (peak == 0 || (peak > faint && error_ <= f_.allowed * level(4, Smaller())));
    }

    /// Sums what run() could not promise directly; true if there was any.
    __device__ bool mend(const T* __restrict__ taps, const Divisor& by_decimation) {
        bool summed = false;
        on_type(job_.type, [&](auto in) { summed = mend_as<decltype(in)>(taps, by_decimation); });
        return __syncthreads_or(summed) != 0;
    }

  private:
    static constexpr T stages = R == 16 ? 12 : 14;
    static constexpr T faint = sizeof(T) == 4 ? T(1e-15) : T(1e-100);  // below, squares underflow
    static constexpr int warps = FftShared<T, R, Q>::warps;
    static constexpr int at_once = Q < 16 ? Q : 16;  // samples of a lane that are joined with its neighbours'
    static constexpr bool keeps_bounds = sizeof(T) == 8;  // mend() asks for them
    static __device__ int thread() { return static_cast<int>(threadIdx.x); }
    static __device__ bool judges() { return sizeof(T) == 8 || thread() < 32; }
    static __device__ int lane() { return thread() % 32; }
    static __device__ int warp() { return thread() / 32; }

    // Of one segment where two halves of a warp have one each.
    template <class Join>
    static __device__ __forceinline__ T together(T v, const Join& join) {
        if constexpr (Q == 32)
            return join(v, __shfl_xor_sync(0xffffffffu, v, 16));
        else
            return v;
    }

    /// A level of this warp; the same of all warps, after all threads have waited.
    __device__ void put(int which, T value) {
        if (lane() == 0) levels_[which * warps + warp()] = value;
    }
    template <class Join>
    __device__ T level(int which, const Join& join) const {
        T v = levels_[which * warps];
#pragma unroll
        for (int w = 1; w < warps; ++w)
            v = join(v, levels_[which * warps + w]);
        return v;
    }

    template <class In>
    __device__ PairSamples<S, In> samples() const {
        return {job_, Lane<S, In>(job_, outer_, inner_), frame_, wanted_ - 1 + f_.taps};
    }

    /// Samples n0 * threads + thread of both blocks, from `offset` on. What is not finite comes in as zero in
    /// double.
    __device__ __forceinline__ void load(Index offset, Complex (&a)[R]) {
        // Samples that count; rounding results to whole segments leaves a few of the last block's to be zero.
        const Index all = f_.keep + Fft::size, first = frame_ + offset,
                    there = wanted_ - 1 + f_.taps - offset;
        const bool last = all - Fft::threads + thread() < there;
        if (all - Fft::threads <= there && job_.plain(first, first + (there < all ? there : all)))
            on_type(job_.type, [&](auto in) {
                using In = decltype(in);
                const Lane<S, In> from(job_, outer_, inner_);
                const In *x = from.at(first + thread()), *y = from.at(first + thread() + f_.keep);
                const Index step = Fft::threads * from.stride();
                In re[R], im[R];
                if (from.stride() == 1) {
#pragma unroll
                    for (int n = 0; n < R; ++n)
                        re[n] = x[n * Fft::threads], im[n] = n + 1 < R || last ? y[n * Fft::threads] : In(0);
                } else {
#pragma unroll
                    for (int n = 0; n < R; ++n, x += step, y += step)
                        re[n] = *x, im[n] = n + 1 < R || last ? *y : In(0);
                }
#pragma unroll
                for (int n = 0; n < R; ++n)
                    a[n] = {static_cast<T>(from.value(re[n])),
                            n + 1 < R || last ? static_cast<T>(from.value(im[n])) : T(0)};
            });
        else {
            load_some(offset);
#pragma unroll
            for (int n = 0; n < R; ++n)
                a[n] = x_[n * Fft::threads + thread()];
            __syncthreads();
        }
        if constexpr (sizeof(T) == 8) {
            bool bad = false;
#pragma unroll
            for (int n = 0; n < R; ++n) {
                bad = bad || !isfinite(a[n].re) || !isfinite(a[n].im);
                a[n] = {isfinite(a[n].re) ? a[n].re : T(0), isfinite(a[n].im) ? a[n].im : T(0)};
            }
            spoiled_ = __syncthreads_or(bad) != 0 || spoiled_;
        }
    }
    // Through shared memory, since a register cannot be chosen while running.
    __device__ void load_some(Index offset) {
        on_type(job_.type, [&](auto in) {
            const auto x = samples<decltype(in)>();
#pragma unroll 1
            for (int i = thread(); i < Fft::size; i += Fft::threads)
                x_[i] = {static_cast<T>(x(offset + i)), static_cast<T>(x(offset + i + f_.keep))};
        });
    }

    /// Peak and energy of the samples, and what each segment is worth.
    __device__ __forceinline__ void look(const Complex (&a)[R], T slack) {
        T energy = 0, peak = 0;
#pragma unroll
        for (int n = 0; n < R; ++n)
            energy = fma(a[n].re, a[n].re, fma(a[n].im, a[n].im, energy));
#pragma unroll
        for (int from = 0; from < 2 * R; from += at_once) {
            T v[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                v[i] = fabs(from < R ? a[from % R + i].re : a[from % R + i].im);
            const T sum = together(across<at_once / 2>(v, Add()), Add());
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                v[i] = fabs(from < R ? a[from % R + i].re : a[from % R + i].im);
            const T top = together(across<at_once / 2>(v, Larger()), Larger());
            peak = Larger()(peak, top);
            const int sample = (from % R + lane() % at_once) * Fft::threads + warp() * 32 + lane() / Q * Q;
            const T worth = sum - slack * top;
            // The first block's last segments are the second's first.
            if ((Q < 32 || lane() < 16) && (from >= R || sample < f_.keep))
                segments_[(sample + (from < R ? 0 : f_.keep)) / Q] = worth > 0 ? worth : T(0);
        }
        put(0, over_warp(peak, Larger()));
        put(1, over_warp(energy, Add()));
    }

    /// Lower bounds for four neighbouring groups of Q outputs, which share what they load; the first is a
    /// multiple of 4.
    __device__ __forceinline__ void bounds(int part, int group, T (&sum)[4]) const {
        const T *from = segments_ + group + 1, *const weights = f_.weights + part * f_.weight_count;
        T p[8];
        load_four(p, from);
        sum[0] = sum[1] = sum[2] = sum[3] = 0;
#pragma unroll 1
        for (int d = 0; d < f_.weight_count; d += 4) {
            from += 4;
            load_four(p + 4, from);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const T w = __ldg(weights + d + k);
#pragma unroll
                for (int g = 0; g < 4; ++g)
                    sum[g] = fma(w, p[g + k], sum[g]);
            }
#pragma unroll
            for (int k = 0; k < 4; ++k)
                p[k] = p[k + 4];
        }
    }
    static __device__ __forceinline__ void load_four(T* to, const T* from) {
        load_vector(to, from);
        if constexpr (Vector<T>::size == 2) load_vector(to + 2, from + 2);
    }
    /// What groups of outputs sum up at least under the parts so far, and the smallest of it. A thread takes
    /// the same groups in each part.
    __device__ __forceinline__ T least_bound(int part) {
        T least = sizeof(T) == 4 ? T(3e38) : T(1e308);
        for (int g = 4 * thread(); g * Q < wanted_; g += 4 * Fft::threads) {
            T sum[4];
            bounds(part, g, sum);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if (part > 0) sum[i] += bounds_[g + i];
                if (keeps_bounds || f_.parts > 1) bounds_[g + i] = sum[i];
                if ((g + i) * Q < wanted_) least = Smaller()(least, sum[i]);
            }
        }
        return least;
    }
    /// For outputs [32 i, 32 i + 32), once all threads have waited.
    __device__ __forceinline__ T bound(int i) const {
        T least = sizeof(T) == 4 ? T(3e38) : T(1e308);
        for (int g = i * segment / Q; g < (i + 1) * segment / Q && g * Q < wanted_; ++g)
            least = Smaller()(least, bounds_[g]);
        return least;
    }

    __device__ __forceinline__ void multiply(Complex (&b)[Fft::sums][16], int p) {
        const Complex* const h = f_.spectra + static_cast<Index>(p) * Fft::size + thread();
        Complex* const sums = f_.sums + static_cast<Index>(blockIdx.x) * Fft::size + thread();
#pragma unroll
        for (int s = 0; s < Fft::sums; ++s)
#pragma unroll
            for (int j = 0; j < 16; ++j) {
                const int at = (s * 16 + j) * Fft::threads;
                b[s][j] = b[s][j] * fft::from_table(h + at);
                if (p > 0) b[s][j] = b[s][j] + sums[at];
                if (p + 1 < f_.parts) sums[at] = b[s][j];
            }
    }

    __device__ __forceinline__ void size_of(const Complex (&a)[R]) {
        T energy = 0, peak = 0;
#pragma unroll
        for (int n = 0; n < R; ++n) {
            energy = fma(a[n].re, a[n].re, fma(a[n].im, a[n].im, energy));
            peak = Larger()(peak, Larger()(fabs(a[n].re), fabs(a[n].im)));
        }
        put(2, over_warp(peak, Larger()));
        put(3, over_warp(energy, Add()));
    }

    __device__ S* results() const {
        return reinterpret_cast<S*>(job_.out) + job_.output_at(outer_, inner_, output_);
    }
    __device__ __forceinline__ void store(const Complex (&a)[R], const Divisor& by_decimation) const {
        S* const out = results();
        if (job_.decimate == 1 && skipped_ <= 0 && wanted_ == 2 * f_.keep) {
            S *x = out + (begin_ + thread()) * job_.inner, *y = x + f_.keep * job_.inner;
            if (job_.inner == 1) {
#pragma unroll
                for (int n = 0; n < R; ++n)
                    if (n * Fft::threads + thread() < f_.keep) {
                        x[n * Fft::threads] = static_cast<S>(a[n].re);
                        y[n * Fft::threads] = static_cast<S>(a[n].im);
                    }
                return;
            }
            const Index step = Fft::threads * job_.inner;
#pragma unroll
            for (int n = 0; n < R; ++n, x += step, y += step)
                if (n * Fft::threads + thread() < f_.keep) {
                    *x = static_cast<S>(a[n].re);
                    *y = static_cast<S>(a[n].im);
                }
            return;
        }
        // Through shared memory: the common way then needs no registers for this one.
        __syncthreads();
#pragma unroll
        for (int n = 0; n < R; ++n)
            x_[n * Fft::threads + thread()] = a[n];
        __syncthreads();
#pragma unroll 1
        for (int i = thread(); i < wanted_; i += Fft::threads) {
            const int n = by_decimation(begin_ + i);
            if (i < skipped_ || n * by_decimation.by != static_cast<unsigned>(begin_ + i)) continue;
            out[n * job_.inner] = static_cast<S>(i < f_.keep ? x_[i].re : x_[i - f_.keep].im);
        }
    }

    template <class In>
    __device__ bool mend_as(const T* __restrict__ taps, const Divisor& by_decimation) {
        const auto x = samples<In>();
        bool summed = false;
        for (int g = warp(); g * segment < wanted_; g += warps) {
            const bool stands = peak_ == 0 || (peak_ > faint && error_ <= f_.allowed * bound(g));
            if (stands && !spoiled_) continue;
            // What is in the windows of the group.
            bool zero = true, finite = true;
            const Index begin = Index{g} * segment, end = min(begin + segment - 1 + f_.taps, x.count);
            for (Index i = begin + lane(); i < end; i += 32) {
                const S v = x(i);
                zero = zero && v == 0;
                finite = finite && isfinite(v);
            }
            zero = __all_sync(0xffffffffu, zero) != 0;
            finite = __all_sync(0xffffffffu, finite) != 0;
            if (stands && finite) continue;
            const int i = g * segment + lane(), n = by_decimation(begin_ + i);
            if (i < skipped_ || i >= wanted_ || n * by_decimation.by != static_cast<unsigned>(begin_ + i))
                continue;
            T value = 0;
            if (!zero) {
                Sum<T> sum(f_.longest);
                add_from_memory(sum, 0, f_.taps, TapsInMemory<T>{taps}, job_,
                                Lane<T, In>(job_, outer_, inner_), frame_ + i);
                value = sum.value();
                summed = true;
            }
            results()[n * job_.inner] = static_cast<S>(value);
        }
        return summed;
    }

    const Job& job_;
    const FftFilter<T>& f_;
    Complex* x_;
    T *levels_, *segments_, *bounds_;
    Index outer_ = 0, inner_ = 0, output_ = 0, frame_ = 0;
    int begin_ = 0, skipped_ = 0, wanted_ = 0;
    T error_ = 0, peak_ = 0;
    bool spoiled_ = false;
};

}  // namespace convoy::conv1d::gpu
