// Sums of small_channel: a thread keeps eight outputs by four neighbouring columns in registers. The samples
// of four taps are eight neighbours, two loads of 16 bytes; the next four taps need only one more.
#pragma once

#include "core/conv2d/cuda_stage.hpp"

namespace convoy::conv2d::gpu {

constexpr int outputs = 8, across = 4;  // of a thread

/// A block's samples in shared memory, [channel][row][phase][place]: column place * stride + phase.
struct Tile {
    int rows, width;  // of samples; of a phase
    int phases;
    int runs;          // of taps in a row: neighbours in a phase, where taps are neighbours; else single taps
    int run_taps;      // room for the taps of a run in the weights, a multiple of 4 for rows
    int batches;       // of filters in a group
    int batches_each;  // of a block: weights of all of them fit at once, or of one
    bool resident;
    int buffers;   // of samples: while one tile is computed, the next may come
    bool vectors;  // four outputs may be written as one
    unsigned tiles_across, tiles_down, tiles;
};

/// Where run `i` of a row's taps begins, and how many it has.
struct Run {
    int at, taps;
};
__device__ __forceinline__ Run run_of(const Job& job, const Tile& tile, int i) {
    if (job.dilation_columns == 1)
        return {i * tile.width, (job.tap_columns - i + job.stride_columns - 1) / job.stride_columns};
    const int column = i * job.dilation_columns;
    return {column % job.stride_columns * tile.width + column / job.stride_columns, 1};
}

/// The sums of a thread. Chains of products end before they are too long, and are then added up; `single`:
/// there is one chain.
template <bool single>
class Sums {
  public:
    __device__ __forceinline__ Sums() { clear(sum_), clear(total_); }

    /// Room for `taps` more products.
    __device__ __forceinline__ void next(int taps, int chain) {
        if constexpr (!single) {
            summed_ += taps;
            if (summed_ <= chain) return;
            add_up();
            summed_ = taps;
        }
    }
    /// Adds `count` taps of all outputs: tap t of column j meets x[j + t]; w[t][output].
    template <int count>
    __device__ __forceinline__ void add_filters(const float* x, const float* w) {
#pragma unroll
        for (int t = 0; t < count; ++t) {
            const float4 a = reinterpret_cast<const float4*>(w)[2 * t],
                         b = reinterpret_cast<const float4*>(w)[2 * t + 1];
            const float weights[outputs] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
            for (int j = 0; j < across; ++j)
#pragma unroll
                for (int o = 0; o < outputs; ++o)
                    sum_[o][j] = fmaf(weights[o], x[j + t], sum_[o][j]);
        }
    }
    /// The same for output o alone; w[t].
    template <int count>
    __device__ __forceinline__ void add_row(int o, const float* x, const float* w) {
#pragma unroll
        for (int t = 0; t < count; t += 4) {
            const float4 a = *reinterpret_cast<const float4*>(w + t);
            const float weights[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
            for (int u = 0; u < 4 && t + u < count; ++u)
#pragma unroll
                for (int j = 0; j < across; ++j)
                    sum_[o][j] = fmaf(weights[u], x[j + t + u], sum_[o][j]);
        }
    }
    /// The end: the outputs.
    __device__ __forceinline__ float (&result())[outputs][across] {
        if constexpr (single) return sum_;
        add_up();
        return total_;
    }

  private:
    using Values = float[outputs][across];
    static __device__ __forceinline__ void clear(Values& v) {
#pragma unroll
        for (int o = 0; o < outputs; ++o)
#pragma unroll
            for (int j = 0; j < across; ++j)
                v[o][j] = 0;
    }
    __device__ __forceinline__ void add_up() {
#pragma unroll
        for (int o = 0; o < outputs; ++o)
#pragma unroll
            for (int j = 0; j < across; ++j) {
                total_[o][j] += sum_[o][j];
                sum_[o][j] = 0;
            }
    }
    Values sum_, total_;
    int summed_ = 0;
};

/// Calls add.template operator()<count>(x, tap) for the taps of a run, four at a time; x holds the samples of
/// the thread's four columns and of the taps.
template <class Add>
__device__ __forceinline__ void each_four(const float* at, int taps, bool neighbours, Add&& add) {
    float x[8];
    if (!neighbours) {  // a single tap, anywhere
#pragma unroll
        for (int j = 0; j < across; ++j)
            x[j] = at[j];
        add.template operator()<1>(x, 0);
        return;
    }
    const auto load = [&](int place, int half) {
        const float4 v = *reinterpret_cast<const float4*>(at + place);
        x[4 * half] = v.x, x[4 * half + 1] = v.y, x[4 * half + 2] = v.z, x[4 * half + 3] = v.w;
    };
    load(0, 0);
    int t = 0;
    for (; t + 4 <= taps; t += 4) {
        load(t + 4, 1);
        add.template operator()<4>(x, t);
#pragma unroll
        for (int j = 0; j < 4; ++j)
            x[j] = x[j + 4];
    }
    if (t == taps) return;
    load(t + 4, 1);
    if (taps - t == 3)
        add.template operator()<3>(x, t);
    else if (taps - t == 2)
        add.template operator()<2>(x, t);
    else
        add.template operator()<1>(x, t);
}

/// A row of S neighbouring taps, S known when it is compiled: straight code.
template <int S>
struct Window {
    static constexpr int size = (S + across - 1 + 3) / 4 * 4;
    float x[size];
    __device__ __forceinline__ explicit Window(const float* at) {
#pragma unroll
        for (int i = 0; i < size; i += 4) {
            const float4 v = *reinterpret_cast<const float4*>(at + i);
            x[i] = v.x, x[i + 1] = v.y, x[i + 2] = v.z, x[i + 3] = v.w;
        }
    }
};

/// Calls f.template operator()<phase>() for the phases of a stride.
template <int P, class F>
__device__ __forceinline__ void each_phase(F&& f) {
    f.template operator()<0>();
    if constexpr (P > 1) f.template operator()<1>();
}

/// Eight filters of one output row. x: the thread's first sample; w: [channel][row][run][tap][filter].
/// S: taps of a row, P: the stride of columns, where they are known and the dilation is 1; else 0.
template <bool single, int S, int P>
__device__ __forceinline__ void filters_of(const Job& job, const Tile& tile, const float* x, const float* w,
                                           Sums<single>& sums) {
    const bool neighbours = job.dilation_columns == 1;
    const int row_step = tile.phases * tile.width;
    for (int c = 0; c < job.group_channels; ++c, x += tile.rows * row_step)
#pragma unroll 1
        for (int r = 0; r < job.tap_rows; ++r) {
            const float* const row = x + r * job.dilation_rows * row_step;
            if constexpr (S > 0) {
                sums.next(S, job.chain);
                each_phase<P>([&]<int phase>() {
                    constexpr int taps = (S - phase + P - 1) / P;
                    if constexpr (taps > 0) {
                        const Window<taps> window(row + phase * tile.width);
                        sums.template add_filters<taps>(window.x, w);
                        w += taps * outputs;
                    }
                });
            } else {
                for (int i = 0; i < tile.runs; ++i) {
                    const Run run = run_of(job, tile, i);
                    each_four(row + run.at, run.taps, neighbours, [&]<int count>(const float(&v)[8], int t) {
                        sums.next(count, job.chain);
                        sums.template add_filters<count>(v, w + t * outputs);
                    });
                    w += run.taps * outputs;
                }
            }
        }
}

/// Eight output rows of one filter: row i of the samples meets tap row i - o of output o, and none where
/// there is no such row (a sample times zero would spoil the output if it were NaN).
/// w: [channel][row][run][run_taps].
template <bool single, int S, int P>
__device__ __forceinline__ void rows_of(const Job& job, const Tile& tile, const float* x, const float* w,
                                        Sums<single>& sums) {
    const bool neighbours = job.dilation_columns == 1;
    constexpr int room = S > 0 ? ((S + P - 1) / P + 3) / 4 * 4 : 0;
    const int weights_of_row = S > 0 ? (S < P ? S : P) * room : tile.runs * tile.run_taps;
    const int row_step = tile.phases * tile.width;
    for (int c = 0; c < job.group_channels; ++c, w += job.tap_rows * weights_of_row)
#pragma unroll 1
        for (int i = 0; i < job.tap_rows + outputs - 1; ++i) {
            const float* const row = x + (c * tile.rows + i) * row_step;
            const float* const from = w + i * weights_of_row;
            const auto each_output = [&](auto&& add) {
#pragma unroll
                for (int o = 0; o < outputs; ++o)
                    if (static_cast<unsigned>(i - o) < static_cast<unsigned>(job.tap_rows))
                        add(o, from - o * weights_of_row);
            };
            if constexpr (S > 0) {
                sums.next(S, job.chain);
                each_phase<P>([&]<int phase>() {
                    constexpr int count = (S - phase + P - 1) / P;
                    if constexpr (count > 0) {
                        const Window<count> window(row + phase * tile.width);
                        each_output([&](int o, const float* taps) {
                            sums.template add_row<count>(o, window.x, taps + phase * room);
                        });
                    }
                });
            } else {
                for (int j = 0; j < tile.runs; ++j) {
                    const Run run = run_of(job, tile, j);
                    each_four(row + run.at, run.taps, neighbours, [&]<int count>(const float(&v)[8], int t) {
                        sums.next(count, job.chain);
                        each_output([&](int o, const float* taps) {
                            sums.template add_row<count>(o, v, taps + j * tile.run_taps + t);
                        });
                    });
                }
            }
        }
}

}  // namespace convoy::conv2d::gpu
