// The general way: any length, type and option. A block makes one column after another; its transforms are
// Stockham passes between two buffers in shared memory, or in global memory where they are too long for that.
#pragma once

#include "core/spectrum/values_cuda.cuh"

namespace convoy::spectrum::gpu {

constexpr int block_threads = 256;

/// One pass, as fft::MixedRadix has it.
struct Pass {
    int radix;
    Index groups, stride;
    Index twiddles, roots;  // where they start in the table
};

template <class T>
struct Tables {
    const T* window;
    const Pass* passes;
    int pass_count;
    const Complex<T>* turns;     // twiddles and roots of all passes
    const Complex<T>* untangle;  // exp(-2 pi i k / nfft); nullptr: the transform is of complex numbers
    Index size;                  // complex numbers that are transformed
    Index linear_bins;
    const Index* band_first;    // nullptr: bins as they are
    const Index* band_weights;  // [bands + 1]: where each band's weights start
    const T* weights;
};

/// Memory of one block beyond its shared memory.
template <class T>
struct Scratch {
    Complex<T>* buffers;  // nullptr: they are in shared memory
    double* sums;         // [blocks][bins]: means and largest values
    T* all;               // [blocks][each][bins]: for percentiles
};

// The sum over the block of v, the same for all threads.
__device__ inline double block_sum(double v) {
    __shared__ double parts[block_threads / 32];
    __shared__ double whole;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        whole = 0;
        for (const double part : parts)
            whole += part;
    }
    __syncthreads();
    return whole;
}

// The windowed frame of a channel as real numbers [nfft] in pairs, or complex ones [nfft].
template <class T>
__device__ void load_block(const Job& job, const Tables<T>& tables, Index channel, Index first, T* z) {
    const Frames& f = job.frames;
    const bool pairs = tables.untangle != nullptr;
    for (int part = 0; part < (pairs ? 1 : 2); ++part) {
        const bool there = part < job.in.parts;
        T mean = 0;
        if (f.detrend && there) {
            double sum = 0;
            for (Index n = threadIdx.x; n < f.length; n += block_threads)
                sum += static_cast<double>(sample<T>(job.in, channel, part, first + n));
            mean = static_cast<T>(block_sum(sum) / static_cast<double>(f.length));
        }
        for (Index i = threadIdx.x; i < f.nfft; i += block_threads) {
            const Index n = i - f.lead;
            const bool used = there && n >= 0 && n < f.length;
            z[pairs ? i : 2 * i + part] =
                used ? tables.window[n] * (sample<T>(job.in, channel, part, first + n) - mean) : T{0};
        }
    }
    __syncthreads();
}

template <int Radix, class T>
__device__ void small_pass(const Pass& p, const Complex<T>* turns, const Complex<T>* x, Complex<T>* y) {
    for (Index i = threadIdx.x; i < p.groups * p.stride; i += block_threads) {
        const Index g = i / p.stride, q = i % p.stride;
        Complex<T> a[Radix];
#pragma unroll
        for (int r = 0; r < Radix; ++r)
            a[r] = x[q + p.stride * (g + r * p.groups)];
        transform_registers(a);
        y[q + p.stride * Radix * g] = a[0];
#pragma unroll
        for (int u = 1; u < Radix; ++u)
            y[q + p.stride * (Radix * g + u)] =
                a[reversed(u, Radix)] * turns[p.twiddles + g * (Radix - 1) + u - 1];
    }
}

template <class T>
__device__ void any_pass(const Pass& p, const Complex<T>* turns, const Complex<T>* x, Complex<T>* y) {
    for (Index i = threadIdx.x; i < p.groups * p.stride * p.radix; i += block_threads) {
        const Index q = i % p.stride, u = i / p.stride % p.radix, g = i / p.stride / p.radix;
        Complex<T> sum = x[q + p.stride * g];
        int root = 0;
        for (int r = 1; r < p.radix; ++r) {
            root += static_cast<int>(u);
            if (root >= p.radix) root -= p.radix;
            sum = sum + x[q + p.stride * (g + r * p.groups)] * turns[p.roots + root];
        }
        if (u > 0) sum = sum * turns[p.twiddles + g * (p.radix - 1) + u - 1];
        y[q + p.stride * (p.radix * g + u)] = sum;
    }
}

// Linear values of all bins, [bin] or [bin][part], from the transform z.
template <class T>
__device__ void block_values(const Job& job, const Tables<T>& tables, const Complex<T>* z, T* values) {
    const Output& out = job.out;
    const Index n = tables.size;
    const auto put = [&](Index bin, Complex<T> x, bool alone) {
        if (out.quantity == Quantity::complex) {
            values[2 * bin] = x.re;
            values[2 * bin + 1] = x.im;
        } else {
            values[bin] = value_of(out, x, alone);
        }
    };
    if (tables.untangle != nullptr) {
        for (Index k = threadIdx.x; k <= n / 2; k += block_threads) {
            const Pair<T> x = real_pair(z[k], z[(n - k) % n], tables.untangle[k]);
            put(k, x.low, k == 0);
            if (n - k != k) put(n - k, x.high, k == 0);
        }
    } else {
        const bool two_sided = job.in.parts == 2;
        const Index first = two_sided ? n - n / 2 : 0;
        for (Index b = threadIdx.x; b < tables.linear_bins; b += block_threads)
            put(b, z[(first + b) % n], two_sided || b == 0);
    }
    __syncthreads();
}

template <class T>
__device__ T band_value(const Tables<T>& tables, const T* values, Index b) {
    if (tables.band_first == nullptr) return values[b];
    T sum = 0;
    const T* const from = values + tables.band_first[b] - tables.band_weights[b];
    for (Index i = tables.band_weights[b]; i < tables.band_weights[b + 1]; ++i)
        sum = fma(from[i], tables.weights[i], sum);
    return sum;
}

// Bits whose order as whole numbers is that of the values.
__device__ inline unsigned key_of(float v) {
    const unsigned bits = __float_as_uint(v);
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ inline unsigned long long key_of(double v) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(v));
    return (bits >> 63) != 0 ? ~bits : bits | 0x8000000000000000ull;
}
__device__ inline float value_of_key(unsigned key) {
    return __uint_as_float((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}
__device__ inline double value_of_key(unsigned long long key) {
    return __longlong_as_double(
        static_cast<long long>((key >> 63) != 0 ? key & 0x7fffffffffffffffull : ~key));
}

// numpy.percentile of values first[0], first[step], ...: the key of the one below is found bit by bit.
template <class T>
__device__ T percentile(const T* first, Index step, Index count, double percent) {
    using Key = decltype(key_of(T{}));
    const double at = percent / 100 * static_cast<double>(count - 1);
    const Index below = static_cast<Index>(at);
    Key key = 0;
    for (Key bit = Key{1} << (8 * sizeof(Key) - 1); bit != 0; bit >>= 1) {
        Index smaller = 0;
        for (Index i = 0; i < count; ++i) {
            const T v = first[i * step];
            if (isnan(v)) return v;
            smaller += key_of(v) < (key | bit) ? 1 : 0;
        }
        if (smaller <= below) key |= bit;
    }
    const double low = static_cast<double>(value_of_key(key)), share = at - static_cast<double>(below);
    if (share == 0) return static_cast<T>(low);
    Index up_to = 0;
    Key next = ~Key{0};
    for (Index i = 0; i < count; ++i) {
        const Key k = key_of(first[i * step]);
        up_to += k <= key ? 1 : 0;
        if (k > key && k < next) next = k;
    }
    const double high = up_to > below + 1 ? low : static_cast<double>(value_of_key(next));
    return static_cast<T>(low + (high - low) * share);
}

template <class T>
__device__ void take_column(const Frames& f, const Tables<T>& tables, const T* values, Index bins, Index i,
                            double* sums, T* all) {
    for (Index b = threadIdx.x; b < bins; b += block_threads) {
        const T v = band_value(tables, values, b);
        if (f.kind == Average::Kind::percentile) {
            all[i * bins + b] = v;
            continue;
        }
        const double value = static_cast<double>(v), sum = sums[b];
        if (i == 0)
            sums[b] = value;
        else if (f.kind == Average::Kind::mean)
            sums[b] = sum + value;
        else if (!(value <= sum))  // larger, or NaN; a NaN then stays
            sums[b] = isnan(sum) ? sum : value;
    }
}

template <class T>
__device__ T average_of(const Frames& f, Index bins, Index b, Index count, const double* sums, const T* all) {
    if (f.kind == Average::Kind::mean) return static_cast<T>(sums[b] / static_cast<double>(count));
    if (f.kind == Average::Kind::max) return static_cast<T>(sums[b]);
    return percentile(all + b, bins, count, f.percent);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    block_kernel(const Job job, const Tables<T> tables, const Scratch<T> scratch) {
    extern __shared__ __align__(16) std::byte memory[];
    const Index room = tables.size + 1;
    Complex<T>* const buffers = scratch.buffers == nullptr ? reinterpret_cast<Complex<T>*>(memory)
                                                           : scratch.buffers + 2 * room * blockIdx.x;
    const Frames& f = job.frames;
    const Output& out = job.out;
    double* const sums = scratch.sums == nullptr ? nullptr : scratch.sums + out.bins * blockIdx.x;
    T* const all = scratch.all == nullptr ? nullptr : scratch.all + f.each * out.bins * blockIdx.x;
    for (Index item = blockIdx.x; item < out.channels * out.span.count; item += gridDim.x) {
        const Index channel = item / out.span.count, column = out.span.first + item % out.span.count;
        const Index first = column * f.each, left = f.total - first, count = left < f.each ? left : f.each;
        const int parts = out.quantity == Quantity::complex ? 2 : 1;
        T* const to = reinterpret_cast<T*>(out.data) +
                      (channel * out.bins * out.pitch + column - out.span.first) * parts;
        for (Index i = 0; i < count; ++i) {
            Complex<T>*x = buffers, *y = buffers + room;
            __syncthreads();
            load_block(job, tables, channel, f.first + (first + i) * f.hop, reinterpret_cast<T*>(x));
            for (int p = 0; p < tables.pass_count; ++p) {
                const Pass pass = tables.passes[p];
                if (pass.radix == 4)
                    small_pass<4>(pass, tables.turns, x, y);
                else if (pass.radix == 2)
                    small_pass<2>(pass, tables.turns, x, y);
                else
                    any_pass(pass, tables.turns, x, y);
                __syncthreads();
                Complex<T>* const done = y;
                y = x;
                x = done;
            }
            T* const values = reinterpret_cast<T*>(y);
            block_values(job, tables, x, values);
            if (f.averaged) {
                take_column(f, tables, values, out.bins, i, sums, all);
                continue;
            }
            for (Index b = threadIdx.x; b < out.bins; b += block_threads) {
                if (parts == 1) {
                    to[b * out.pitch] = finished(out, band_value(tables, values, b));
                } else {
                    to[2 * b * out.pitch] = values[2 * b];
                    to[2 * b * out.pitch + 1] = values[2 * b + 1];
                }
            }
        }
        for (Index b = threadIdx.x; f.averaged && b < out.bins; b += block_threads)
            to[b * out.pitch] = finished(out, average_of(f, out.bins, b, count, sums, all));
    }
}

}  // namespace convoy::spectrum::gpu
