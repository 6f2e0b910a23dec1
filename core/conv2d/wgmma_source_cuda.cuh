// What the warps that make lines know of a tile (wgmma_samples_cuda.cuh). Places are counted from those of
// the tile, in 32 bits: to find samples must not take as long as the products.
#pragma once

#include "core/conv2d/wgmma_stages_cuda.cuh"

namespace convoy::conv2d::gpu {

/// Which of the rows or columns from a tile's first one on are there.
struct Range {
    int first;
    unsigned count;
    __device__ __forceinline__ Range(Index tile, Index begin, Index end) {
        constexpr Index most = Index{1} << 30;  // farther than a tile reaches
        first = static_cast<int>(min(max(begin - tile, Index{0}), most));
        count = static_cast<unsigned>(max(min(end - tile, most) - first, Index{0}));
    }
    __device__ __forceinline__ bool has(int i) const { return static_cast<unsigned>(i - first) < count; }
};

/// Where the samples of a tile are: of its first line and channel, and output column 0. Each warp has one in
/// shared memory: registers are for samples.
struct Source {
    const float* start;
    Range rows, columns;
    const float* weights;  // of its filters

    __device__ __forceinline__ Source(const Job& job, const Tables& t, const Place& at)
        : Source(
              job, t, at, Index{at.row} * job.stride_rows - job.before_rows,
              (job.out_first + Index{at.across} * tile_columns) * job.stride_columns - job.before_columns) {}

  private:
    __device__ __forceinline__ Source(const Job& job, const Tables& t, const Place& at, Index row,
                                      Index column)
        : start(reinterpret_cast<const float*>(job.in) + Index{at.image} * job.in_steps.image +
                Index{at.set} * job.group_channels * job.in_steps.channel + row * job.in_steps.row +
                (column - job.in_first) * job.in_steps.column),
          rows(row, 0, job.rows),
          columns(column, job.in_first, job.in_end),
          weights(weights_of(t, at)) {}
};
static_assert(line_threads / 32 * sizeof(Source) <= source_bytes);

/// Computed where it is used: a pointer to it would take registers too.
__device__ __forceinline__ Source& source_of_warp() {
    extern __shared__ __align__(128) unsigned char memory[];
    return reinterpret_cast<Source*>(memory + barrier_bytes)[threadIdx.x / 32 - groups * group_threads / 32];
}
/// The steps of the tiles of a block, one after the other.
class Walk {
  public:
    __device__ __forceinline__ Walk(const Job& job, const Tables& t) : job_(job), t_(t) { set(); }
    __device__ __forceinline__ bool next() {
        if (++i_ < t_.rounds * (t_.repeats[0] + t_.repeats[1])) return true;
        i_ = 0;
        tile_ += gridDim.x;
        if (tile_ >= t_.tiles) return false;
        set();
        return true;
    }
    __device__ __forceinline__ int step() const { return i_; }
    __device__ __forceinline__ const Source& source() const { return source_of_warp(); }

  private:
    __device__ __forceinline__ void set() {
        const Place at(job_, t_, tile_, t_.tile_rows);
        __syncwarp();
        if (threadIdx.x % 32 == 0) source_of_warp() = Source(job_, t_, at);
        __syncwarp();
    }
    const Job& job_;
    const Tables& t_;
    unsigned tile_ = blockIdx.x;
    int i_ = 0;
};

}  // namespace convoy::conv2d::gpu
