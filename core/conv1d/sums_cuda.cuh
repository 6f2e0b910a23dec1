// Ways for a thread to add up products. Each output's sum is taken in segments: products of `segment` taps in
// order, then the segments in order, so that the rounding error grows with the square root of the taps for
// any data.
#pragma once

#include "core/conv1d/samples_cuda.cuh"

namespace convoy::conv1d::gpu {

/// The sum of one output, fed by runs of consecutive taps.
template <class T>
class Sum {
  public:
    __device__ explicit Sum(int segment) : segment_(segment), left_(segment) {}
    /// Adds tap(first + j) x(j) for j < count.
    template <class Tap, class Sample>
    __device__ void add(Index first, Index count, const Tap& tap, const Sample& x) {
        for (Index done = 0; done < count;) {
            const int n = static_cast<int>(min(static_cast<Index>(left_), count - done));
            const auto taps = tap.from(first + done);
            const auto samples = x.from(done);
#pragma unroll 4
            for (int j = 0; j < n; ++j)
                sum_ = fma(taps(j), samples(j), sum_);
            done += n;
            left_ -= n;
            if (left_ > 0) continue;
            total_ += sum_;
            sum_ = 0;
            left_ = segment_;
        }
    }
    __device__ T value() const {
        return total_ + sum_;
    }

  private:
    T total_ = 0, sum_ = 0;
    int segment_, left_;
};

/// The same for the whole sum at once: sum_j tap(j) x[j].
template <class T, class In, class Tap>
__device__ __forceinline__ T sum_products(int taps, int segment, Tap tap, const In* x) {
    T total = 0;
    for (int first = 0; first < taps; first += segment) {
        const int count = min(segment, taps - first);
        T sum = 0;
#pragma unroll 8
        for (int j = 0; j < count; ++j)
            sum = fma(tap(j), static_cast<T>(x[j]), sum);
        total += sum;
        tap = tap.from(count);
        x += count;
    }
    return total;
}

/// Runs of samples for Sum: stored next to one another; stored a stride apart or scaled; beyond the window's
/// ends.
template <class T, class In>
struct Stored {
    const In* x;
    __device__ Stored from(Index first) const { return {x + first}; }
    __device__ T operator()(int j) const { return static_cast<T>(x[j]); }
};
template <class T, class In>
struct Spaced {
    const Lane<T, In>& lane;
    const In* x;
    __device__ Spaced from(Index first) const { return {lane, x + first * lane.stride()}; }
    __device__ T operator()(int j) const { return lane.value(x[j * lane.stride()]); }
};
template <class T, class In>
struct Extended {
    const Job& job;
    const Lane<T, In>& lane;
    Index frame;
    __device__ Extended from(Index first) const { return {job, lane, frame + first}; }
    __device__ T operator()(int j) const { return lane.extended(job, frame + j); }
};

/// Adds the products of taps first .. first + count - 1 with the samples from `frame` on.
template <class T, class In, class Tap>
__device__ void add_from_memory(Sum<T>& sum, Index first, Index count, const Tap& tap, const Job& job,
                                const Lane<T, In>& lane, Index frame) {
    if (count <= 0) return;
    if (!job.plain(frame, frame + count))
        sum.add(first, count, tap, Extended<T, In>{job, lane, frame});
    else if (lane.stride() == 1 && !lane.scaled())
        sum.add(first, count, tap, Stored<T, In>{lane.at(frame)});
    else
        sum.add(first, count, tap, Spaced<T, In>{lane, lane.at(frame)});
}

/// Taps in global memory.
template <class T>
struct TapsInMemory {
    const T* __restrict__ taps;
    __device__ TapsInMemory from(Index first) const { return {taps + first}; }
    __device__ T operator()(int j) const { return __ldg(taps + j); }
};

/// Outputs at, at + threads, ...: neighbouring threads read neighbouring words, one load of a tap for all
/// outputs.
template <class T, int Outputs>
struct Strided {
    static constexpr int per_thread = Outputs, body = 1, blocks = 6;
    static constexpr T nothing = 0;  // that totals begin with
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
/// shorter turn stops at the last tap: no sample is multiplied that an output does not use. Samples lie Pitch
/// apart, or if this is 0 as far as add() is told; those of a channel of interleaved ones do.
template <class T, int Outputs, int Pitch = 1>
struct Neighbouring {
    static constexpr int V = Vector<T>::size;
    static constexpr int per_thread = Outputs, window = Outputs + V, body = window, blocks = 4;
    /// Totals begin with -0, which leaves what is added as it is, whatever its sign: as if they began with
    /// it.
    static constexpr T nothing = T{-0.0};
    static_assert(Outputs % V == 0 && Outputs / V % 2 == 1);

    static __device__ __forceinline__ void add(T (&totals)[Outputs], const T* row, int at, int pitch,
                                               const T* taps, int count, int segment) {
        const int piece =
            segment % body == 0 ? count : segment;  // segments that are no whole turns begin anew
#pragma unroll 1
        for (int first = 0; first < count; first += piece)
            add_piece(totals, row + (at * Outputs + first) * apart(pitch), pitch, taps + first,
                      min(piece, count - first), segment);
    }
    static __device__ __forceinline__ void put(const T (&totals)[Outputs], T* row, int at, int) {
#pragma unroll
        for (int e = 0; e < Outputs; e += V)
            store_vector(row + at * Outputs + e, &totals[e]);
    }

  private:
    static __device__ __forceinline__ int apart(int pitch) {
        return Pitch > 0 ? Pitch : pitch;
    }
    static __device__ __forceinline__ void load(T* w, const T* x, int i, int pitch) {
        if constexpr (Pitch == 1)
            load_vector(w, x + i);
        else
#pragma unroll
            for (int k = 0; k < V; ++k)
                w[k] = x[(i + k) * apart(pitch)];
    }
    static __device__ __forceinline__ void add_piece(T (&totals)[Outputs], const T* x, int pitch,
                                                     const T* taps, int count, int segment) {
        T w[window], tap[2][V];  // the taps of this step and of the next
#pragma unroll
        for (int i = 0; i < Outputs; i += V)
            load(&w[i], x, i, pitch);
        load_vector(tap[0], taps);
        for (int left = count; left > 0;) {
            T sums[Outputs] = {};
            const int stop = left - segment;
            do {
                turn<0>(sums, w, tap, x, pitch, taps, left);
                x += body * apart(pitch);
                taps += body;
                left -= body;
            } while (left > 0 && left > stop);
#pragma unroll
            for (int e = 0; e < Outputs; ++e)
                totals[e] += sums[e];
        }
    }
    // A turn from tap s on, which ends early after the last tap. A recursion, for every index of the window
    // must be a constant. Products come in pairs of taps, each pair a block of its own: this keeps the
    // compiler from mixing more taps, which would cost the register file a third read an instruction.
    template <int s>
    static __device__ __forceinline__ void turn(T (&sums)[Outputs], T (&w)[window], T (&tap)[2][V],
                                                const T* x, int pitch, const T* taps, int left) {
        if constexpr (s < body) {
            if constexpr (s % V == 0) {
                load(&w[(s + Outputs) % window], x, s + Outputs, pitch);
                load_vector(tap[(s / V + 1) % 2], taps + s + V);
            }
            if (left - s < 2) {
                if (left - s == 1) products<s>(sums, w, tap[s / V % 2][s % V]);
                return;
            }
            products<s>(sums, w, tap[s / V % 2][s % V]);
            products<s + 1>(sums, w, tap[s / V % 2][s % V + 1]);
            turn<s + 2>(sums, w, tap, x, pitch, taps, left);
        }
    }
    template <int shift>
    static __device__ __forceinline__ void products(T (&sums)[Outputs], const T (&w)[window], T tap) {
#pragma unroll
        for (int e = 0; e < Outputs; ++e)
            sums[e] = fma(tap, w[(shift + e) % window], sums[e]);
    }
};

}  // namespace convoy::conv1d::gpu
