// Ways for a thread to add up products. Each output's sum is taken in segments: products of `segment` taps in
// order, then the segments in order, so that the rounding error grows with the square root of the taps for
// any data.
#pragma once

#include "core/conv1d/samples_cuda.cuh"

namespace convoy::conv1d::gpu {

/// sum_j tap(j) x(j), j < taps.
template <class T, class Tap, class Sample>
__device__ T sum_products(Index taps, int segment, const Tap& tap, const Sample& x) {
    T total = 0;
    for (Index first = 0; first < taps; first += segment) {
        const int count = static_cast<int>(min(static_cast<Index>(segment), taps - first));
        T sum = 0;
#pragma unroll 4
        for (int j = 0; j < count; ++j)
            sum = fma(tap(first + j), x(first + j), sum);
        total += sum;
    }
    return total;
}

/// Outputs at, at + threads, ...: neighbouring threads read neighbouring words, one load of a tap for all
/// outputs.
template <class T, int Outputs>
struct Strided {
    static constexpr int per_thread = Outputs, body = 1;
    static __device__ void add(T (&totals)[Outputs], const T* row, int at, int threads, const T* taps,
                               int count, int segment) {
        const T* x = row + at;
        for (int first = 0; first < count; first += segment) {
            const int end = min(first + segment, count);
            T sums[Outputs] = {};
#pragma unroll 4
            for (int j = first; j < end; ++j) {
                const T tap = taps[j];
#pragma unroll
                for (int e = 0; e < Outputs; ++e)
                    sums[e] = fma(tap, x[j + e * threads], sums[e]);
            }
#pragma unroll
            for (int e = 0; e < Outputs; ++e)
                totals[e] += sums[e];
        }
    }
    static __device__ void put(const T (&totals)[Outputs], T* row, int at, int threads) {
#pragma unroll
        for (int e = 0; e < Outputs; ++e)
            row[at + e * threads] = totals[e];
    }
};

/// `Outputs` neighbouring outputs, whose samples pass through registers: a window of Outputs + Vector samples
/// turns round by one vector a step, so that each load of 16 bytes feeds Outputs x Vector products. With an
/// odd number of vectors a thread the loads have no bank conflicts. A full turn is `body` taps; the last,
/// shorter turn stops at the last tap: no sample is multiplied that an output does not use.
template <class T, int Outputs>
struct Neighbouring {
    static constexpr int V = Vector<T>::size;
    static constexpr int per_thread = Outputs, window = Outputs + V, body = window;
    static_assert(Outputs % V == 0 && Outputs / V % 2 == 1);

    static __device__ __forceinline__ void add(T (&totals)[Outputs], const T* row, int at, int, const T* taps,
                                               int count, int segment) {
        const T* x = row + at * Outputs;
        T w[window], tap[V], next[V];
#pragma unroll
        for (int i = 0; i < Outputs; i += V)
            load_vector(&w[i], x + i);
        load_vector(next, taps);
        int left = count;
        while (left >= body) {
            T sums[Outputs] = {};
            const int stop = left - min(left / body * body, segment);
            for (; left > stop; left -= body, x += body, taps += body) {
#pragma unroll
                for (int s = 0; s < body; s += V) {
                    load_vector(&w[(s + Outputs) % window], x + s + Outputs);
                    turn(tap, next, taps + s + V);
#pragma unroll
                    for (int v = 0; v < V; ++v)
                        products(sums, w, tap[v], s + v);
                }
            }
            merge(totals, sums);
        }
        if (left == 0) return;
        T sums[Outputs] = {};
        finish<0>(sums, w, next, x, taps, left);
        merge(totals, sums);
    }
    static __device__ __forceinline__ void put(const T (&totals)[Outputs], T* row, int at, int) {
#pragma unroll
        for (int e = 0; e < Outputs; e += V)
            store_vector(row + at * Outputs + e, &totals[e]);
    }

  private:
    // The last, shorter turn from step s on. Written as a recursion, for every index of the window must be a
    // constant.
    template <int s>
    static __device__ __forceinline__ void finish(T (&sums)[Outputs], T (&w)[window], T (&next)[V],
                                                  const T* x, const T* taps, int left) {
        if constexpr (s < body) {
            T tap[V];
            load_vector(&w[(s + Outputs) % window], x + s + Outputs);
            turn(tap, next, taps + s + V);
            if (left - s >= V) {
#pragma unroll
                for (int v = 0; v < V; ++v)
                    products(sums, w, tap[v], s + v);
                finish<s + V>(sums, w, next, x, taps, left);
            } else {
#pragma unroll
                for (int v = 0; v < V - 1; ++v)
                    if (v < left - s) products(sums, w, tap[v], s + v);
            }
        }
    }
    static __device__ __forceinline__ void turn(T (&tap)[V], T (&next)[V], const T* from) {
#pragma unroll
        for (int v = 0; v < V; ++v)
            tap[v] = next[v];
        load_vector(next, from);
    }
    static __device__ __forceinline__ void products(T (&sums)[Outputs], const T (&w)[window], T tap,
                                                    int shift) {
#pragma unroll
        for (int e = 0; e < Outputs; ++e)
            sums[e] = fma(tap, w[(shift + e) % window], sums[e]);
    }
    static __device__ __forceinline__ void merge(T (&totals)[Outputs], const T (&sums)[Outputs]) {
#pragma unroll
        for (int e = 0; e < Outputs; ++e)
            totals[e] += sums[e];
    }
};

}  // namespace convoy::conv1d::gpu
