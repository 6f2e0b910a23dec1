// Lines of samples made straight in shared memory, where entries are channels and samples are float32 as they
// are: eight warps, four for every other step, load its samples while the products of the steps before run,
// and put them down as packed lines have them (wgmma_pack_cuda.cuh).
#pragma once

#include "core/conv2d/wgmma_pack_cuda.cuh"
#include "core/conv2d/wgmma_product_cuda.cuh"

namespace convoy::conv2d::gpu {

constexpr int half_threads = line_threads / 2;

/// Where the samples of a step are: of its first line and channel, and output column 0 of the tile.
struct Source {
    const float* start;  // as if the window began with column 0 of the image
    Index row, column;
    int lines;     // of outputs that there are
    int channels;  // from this one on

    __device__ __forceinline__ Source(const Job& job, const Tables& t, const Place& at, int rows,
                                      const Step& step) {
        const int4 first = __ldg(t.entries + step.kind * GemmSteps::entries_each);
        channels = job.group_channels - first.x;
        lines = static_cast<int>(min(t.rows - Index{at.row}, Index{rows}));
        row = Index{at.row} * job.stride_rows - job.before_rows + step.down;
        column = (job.out_first + Index{at.across} * tile_columns) * job.stride_columns - job.before_columns +
                 first.z;
        start = reinterpret_cast<const float*>(job.in) + Index{at.image} * job.in_steps.image +
                (Index{at.set} * job.group_channels + first.x) * job.in_steps.channel -
                job.in_first * job.in_steps.column;
    }
    __device__ __forceinline__ bool has_line(const Job& job, int r) const {
        const Index at = row + r * job.stride_rows;
        return r < lines && at >= 0 && at < job.rows;
    }
};

/// The samples that one thread brings of a step, in registers. `vectors`: channels are neighbours that may be
/// read four at a time, and four threads make a place.
template <bool exact, bool vectors>
class Samples {
    static constexpr int rows = rows_of(exact), turns = chunks * tile_columns / half_threads;

  public:
    /// `thread`: of those that make the lines of a step.
    __device__ __forceinline__ Samples(const Job& job, const Tables& t, int thread)
        : job_(job), t_(t), thread_(thread) {}

    __device__ __forceinline__ void load(const Source& from) {
        if (from.channels >= GemmSteps::entries_each)
            take<true>(from);
        else
            take<false>(from);
        beyond(thread_, [&](int r, int c, int p) { take(from, r, c, p, more_); });
    }
    /// Puts down what has been loaded; lines: [row][upper, lower half][chunk][place].
    __device__ __forceinline__ void store(const Source& from, unsigned char* lines) const {
#pragma unroll
        for (int r = 0; r < rows; ++r)
#pragma unroll
            for (int j = 0; j < turns; ++j)
                put(lines, r, chunk(j), place(j), v_[r][j]);
        beyond(thread_, [&](int r, int c, int p) { put(lines, r, c, p, more_); });
        const int units = rows * chunks * (t_.width - tile_columns);
        for (int i = thread_ + half_threads; i < units; i += half_threads)
            beyond(i, [&](int r, int c, int p) {
                float v[4];
                take(from, r, c, p, v);
                put(lines, r, c, p, v);
            });
    }

  private:
    __device__ __forceinline__ int chunk(int j) const {
        return vectors ? thread_ % chunks : j;
    }
    __device__ __forceinline__ int place(int j) const {
        return vectors ? thread_ / chunks + half_threads / chunks * j : thread_;
    }
    /// Unit i of those whose places are beyond a tile's columns.
    template <class F>
    __device__ __forceinline__ void beyond(int i, F&& f) const {
        const int width = t_.width - tile_columns;
        if (i < rows * chunks * width) f(i / width / chunks, i / width % chunks, tile_columns + i % width);
    }
    /// Those of the tile's columns; `all`: of as many channels as a line has.
    template <bool all>
    __device__ __forceinline__ void take(const Source& source) {
        const Job::Steps& step = job_.in_steps;
        const Index row_hop = job_.stride_rows * step.row,
                    place_hop = Index{half_threads / chunks} * job_.stride_columns;
        const Index column = source.column + Index{place(0)} * job_.stride_columns;
        const float* line =
            source.start + source.row * step.row + column * step.column + 4 * chunk(0) * step.channel;
#pragma unroll
        for (int r = 0; r < rows; ++r, line += row_hop) {
            const bool row_there = source.has_line(job_, r);
            const float* from = line;
#pragma unroll
            for (int j = 0; j < turns; ++j) {
                const Index at = vectors ? column + j * place_hop : column;
                const bool inside = row_there && at >= job_.in_first && at < job_.in_end;
                if constexpr (vectors) {
                    const bool there = inside && (all || 4 * chunk(0) < source.channels);
                    const float4 x =
                        there ? __ldg(reinterpret_cast<const float4*>(from)) : float4{0, 0, 0, 0};
                    v_[r][j][0] = x.x, v_[r][j][1] = x.y, v_[r][j][2] = x.z, v_[r][j][3] = x.w;
                    from += place_hop * step.column;
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e, from += step.channel)
                        v_[r][j][e] = inside && (all || 4 * j + e < source.channels) ? __ldg(from) : 0.0f;
                }
            }
        }
    }
    __device__ __forceinline__ void take(const Source& source, int r, int c, int p, float (&v)[4]) const {
        const Job::Steps& step = job_.in_steps;
        const Index row = source.row + r * job_.stride_rows,
                    column = source.column + Index{p} * job_.stride_columns;
        const bool inside = source.has_line(job_, r) && column >= job_.in_first && column < job_.in_end;
        const float* const at = source.start + row * step.row + column * step.column + 4 * c * step.channel;
        if constexpr (vectors) {
            const float4 x = inside && 4 * c < source.channels ? __ldg(reinterpret_cast<const float4*>(at))
                                                               : float4{0, 0, 0, 0};
            v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
        } else {
#pragma unroll
            for (int e = 0; e < 4; ++e)
                v[e] = inside && 4 * c + e < source.channels ? __ldg(at + e * step.channel) : 0.0f;
        }
    }
    __device__ __forceinline__ void put(unsigned char* lines, int r, int c, int p,
                                        const float (&v)[4]) const {
        put_unit<exact>(reinterpret_cast<float4*>(lines + r * t_.line_bytes) + c * t_.width + p,
                        chunks * t_.width, v);
    }

    const Job& job_;
    const Tables& t_;
    int thread_;
    float v_[rows][turns][4], more_[4] = {};
};

/// The steps of the tiles of a block, one after the other.
struct Walk {
    unsigned tile = blockIdx.x;
    int i = 0;
    Place at;
    __device__ __forceinline__ Walk(const Job& job, const Tables& t, int rows) : at(job, t, tile, rows) {}
    __device__ __forceinline__ bool next(const Job& job, const Tables& t, int rows) {
        if (++i < t.rounds * (t.repeats[0] + t.repeats[1])) return true;
        i = 0;
        tile += gridDim.x;
        if (tile >= t.tiles) return false;
        at = Place(job, t, tile, rows);
        return true;
    }
};

/// Brings the weights and makes the lines of all steps of all tiles, as stages become free. Each half of the
/// warps makes every other step, so that the samples of two are on their way.
template <bool exact, bool vectors>
__device__ void make_lines(const Job& job, const Tables& t, Ring ring, unsigned char* memory) {
    constexpr int rows = rows_of(exact);
    const int thread = static_cast<int>(threadIdx.x) - groups * group_threads;
    const unsigned start = ring.memory;
    Walk walk(job, t, rows);
    bool more = true;
    const auto skip = [&] {
        ring.next();
        more = more && walk.next(job, t, rows);
    };
    if (thread >= half_threads) skip();
    Samples<exact, vectors> samples(job, t, thread % half_threads);
    while (more) {
        const Step step(t, walk.i);
        const Source source(job, t, walk.at, rows, step);
        samples.load(source);
        const unsigned full = ring.full + 8 * ring.at;
        barrier_wait(ring.empty + 8 * ring.at, ring.parity ^ 1);
        if (thread % half_threads == 0) StepWeights(t, walk.at, step, walk.i).bring(ring.stage(), full, 0);
        samples.store(source, memory + (ring.stage() - start) + t.weight_bytes);
        stores_seen();
        __syncwarp();
        if (thread % 32 == 0) barrier_arrive(full);
        skip();
        skip();
    }
}

/// The kernel of wgmma_gemm: two groups of four warps multiply what the others bring, which are one that
/// copies packed lines, or eight that make lines. These leave registers to those that multiply: of 128 that
/// each thread has at first.
template <bool exact, bool packed>
__global__ void __launch_bounds__(threads_of(packed), 1)
    wgmma_product(const __grid_constant__ Job job, const __grid_constant__ Tables t) {
    extern __shared__ __align__(128) unsigned char memory[];
    constexpr int fillers = packed ? 1 : 1 + half_threads / 32;
    const Ring ring = set_up(t, rows_of(exact), threads_of(packed), fillers, memory);
    if (threadIdx.x < groups * group_threads) {
        if (!packed) take_registers<160>();
        compute<exact>(job, t, shifts_in(t, ring, memory), ring);
    } else if constexpr (packed) {
        if (threadIdx.x == groups * group_threads) bring<exact>(job, t, ring);
    } else {
        leave_registers<96>();
        if (t.vectors)
            make_lines<exact, true>(job, t, ring, memory);
        else
            make_lines<exact, false>(job, t, ring, memory);
    }
}

}  // namespace convoy::conv2d::gpu
