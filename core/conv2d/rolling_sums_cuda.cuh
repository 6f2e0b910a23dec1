// The arithmetic of rolling_rows: what a thread keeps in registers, and what leaves it.
#pragma once

#include "core/conv2d/rolling_feed_cuda.cuh"

namespace convoy::conv2d::gpu::rolling {

/// How a window is cut: strips of columns, and those into pieces of rows. A team computes a piece, or each of
/// its warps.
struct Strips {
    int sharing;
    unsigned tiles_across, tiles_down, tiles, sets;  // sets: of the filters of a team
    int rows;                                        // of outputs in a piece
    bool vectors;                                    // four outputs may be written as one
    const float* weights;                            // as arranged() has them
};

/// The sums of a thread: [output, the oldest first][filter][column]. The products of `stride` rows of a
/// channel are a chain of their own, but for the last ones.
template <class S>
class Sums {
    using L = Layout<S>;

  public:
    __device__ __forceinline__ Sums() {
#pragma unroll
        for (auto& row : of_)
            clear(row);
    }
    __device__ __forceinline__ const float (&oldest() const)[S::filters][across] {
        return of_[0];
    }

    /// Samples of channel c: x[row][phase][...]; weights_of(g) has those of the g-th `stride` rows. With the
    /// first channel, outputs move up by one.
    template <int c, class Weights>
    __device__ __forceinline__ void add(const float (&x)[S::stride][S::stride][L::window],
                                        Weights&& weights_of) {
#pragma unroll
        for (int at = 0; at < L::live; ++at) {
            const int g = L::live - 1 - at;
            const bool begins = c == 0 && g == 0, goes_on = !begins && at < L::in_one;
            const auto weights = weights_of(g);
            const Row& before = of_[c == 0 && g > 0 ? at + 1 : at];
            Row sum;
            if (goes_on) copy(before, sum);
            bool first = !goes_on;
#pragma unroll
            for (int i = 0; i < S::stride * S::taps; ++i) {
                const int down = i / S::taps, t = i % S::taps;
                if (g * S::stride + down >= S::taps) continue;
#pragma unroll
                for (int f = 0; f < S::filters; ++f)
#pragma unroll
                    for (int j = 0; j < across; ++j) {
                        const float v = x[down][t % S::stride][t / S::stride + j],
                                    w = weights(i * S::filters + f);
                        sum[f][j] = first ? w * v : fmaf(w, v, sum[f][j]);
                    }
                first = false;
            }
            if (!begins && !goes_on) add_to(before, sum);
            copy(sum, of_[at]);
        }
    }

  private:
    using Row = float[S::filters][across];
    static __device__ __forceinline__ void clear(Row& row) {
#pragma unroll
        for (int f = 0; f < S::filters; ++f)
#pragma unroll
            for (int j = 0; j < across; ++j)
                row[f][j] = 0;
    }
    static __device__ __forceinline__ void copy(const Row& from, Row& to) {
#pragma unroll
        for (int f = 0; f < S::filters; ++f)
#pragma unroll
            for (int j = 0; j < across; ++j)
                to[f][j] = from[f][j];
    }
    static __device__ __forceinline__ void add_to(const Row& before, Row& sum) {
#pragma unroll
        for (int f = 0; f < S::filters; ++f)
#pragma unroll
            for (int j = 0; j < across; ++j)
                sum[f][j] = before[f][j] + sum[f][j];
    }
    Row of_[L::live];
};

/// The weights of `stride` rows, from shared memory.
template <int count>
class Taps {
  public:
    __device__ __forceinline__ explicit Taps(const float* from) {
#pragma unroll
        for (int i = 0; i < count / 4; ++i)
            of_[i] = reinterpret_cast<const float4*>(from)[i];
    }
    __device__ __forceinline__ float operator()(int i) const {
        const float4& v = of_[i / 4];
        return i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w;
    }

  private:
    float4 of_[count / 4];
};

/// The samples of a thread, those of a channel begin at `from`.
template <class S>
__device__ __forceinline__ void take(const float* from, float (&x)[S::stride][S::stride][Layout<S>::window]) {
    using L = Layout<S>;
#pragma unroll
    for (int down = 0; down < S::stride; ++down)
#pragma unroll
        for (int phase = 0; phase < S::stride; ++phase)
#pragma unroll
            for (int i = 0; i < L::window; i += 4) {
                const float4 v =
                    *reinterpret_cast<const float4*>(from + (down * S::stride + phase) * L::width + i);
                float* const to = x[down][phase] + i;
                to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
            }
}

/// Keeps the compiler from computing a value anew wherever it is used.
template <class T>
__device__ __forceinline__ T settled(T x) {
    asm volatile("" : "+r"(x));
    return x;
}

/// The outputs of a thread: four columns of some filters, from a row on.
template <class S>
class Output {
  public:
    __device__ __forceinline__ Output(const Job& job, const Strips& strips, Index image, int group, int first,
                                      Index row, Index column) {
        const Job::Steps& to = job.out_steps;
        const Index q = column + threadIdx.x % lanes * across;
        filter_ = group * job.group_filters + first;
        filters_ = settled(job.group_filters - first);
        there_ = settled(static_cast<int>(max(min(job.out_count - q, Index{across}), Index{0})));
        line_ = reinterpret_cast<float*>(job.out) + image * to.image + filter_ * to.channel + row * to.row +
                q * to.column;
        vector_ = settled(static_cast<int>(strips.vectors && there_ == across));
        plain_ = settled(
            static_cast<int>(vector_ != 0 && filters_ >= S::filters && job.bias == nullptr && !job.relu));
    }
    /// Writes the next row.
    __device__ __forceinline__ void write(const Job& job, const float (&sum)[S::filters][across]) {
        float* line = line_;
        line_ += job.out_steps.row;
        if (plain_ != 0) {
#pragma unroll
            for (int f = 0; f < S::filters; ++f, line += job.out_steps.channel)
                *reinterpret_cast<float4*>(line) = {sum[f][0], sum[f][1], sum[f][2], sum[f][3]};
            return;
        }
#pragma unroll
        for (int f = 0; f < S::filters; ++f, line += job.out_steps.channel)
            if (f < filters_) write(job, filter_ + f, line, sum[f]);
    }

  private:
    __device__ __forceinline__ void write(const Job& job, int filter, float* line,
                                          const float (&sum)[across]) const {
        float v[across] = {sum[0], sum[1], sum[2], sum[3]};
        const float bias = job.bias != nullptr ? static_cast<const float*>(job.bias)[filter] : 0.0f;
#pragma unroll
        for (float& x : v) {
            if (job.bias != nullptr) x += bias;
            if (job.relu && x < 0) x = 0;
        }
        if (vector_ != 0) {
            *reinterpret_cast<float4*>(line) = {v[0], v[1], v[2], v[3]};
            return;
        }
#pragma unroll
        for (int j = 0; j < across; ++j, line += job.out_steps.column)
            if (j < there_) *line = v[j];
    }

    float* line_;
    int filter_, filters_, there_;
    int vector_, plain_;  // whether
};

}  // namespace convoy::conv2d::gpu::rolling
