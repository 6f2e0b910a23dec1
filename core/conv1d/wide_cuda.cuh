// Outputs in whose window loud samples stand beside very faint ones (wide_range.hpp), on the GPU: it is seen
// cheaply, and for a whole run, whether there can be any; only then each window is looked at, and sums are
// taken in double.
//
// A stretch of 8 samples in a row holds a whole quad, 4 samples from a 16-byte boundary on. So where no quad
// that is not silent is 2^17 times fainter than the loudest sample, no stretch is.
#pragma once

#include "core/conv1d/samples_cuda.cuh"
#include "core/conv1d/wide_range.hpp"

namespace convoy::conv1d::gpu {

/// From here on the kernel that comes next in the stream may begin, if it was launched so (launch_wide): its
/// blocks lie ready when the last ones of this kernel end.
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
/// Returns when the kernel before has ended, and what it wrote is there.
__device__ __forceinline__ void wait_for_last() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The loudest sample and the faintest quad that is not silent. A NaN is passed over.
class LoudAndFaint {
  public:
    __device__ __forceinline__ void sample(float x) { loudest_ = fmaxf(loudest_, fabsf(x)); }
    __device__ __forceinline__ void quad(float4 q) {
        const float level = fmaxf(fmaxf(fabsf(q.x), fabsf(q.y)), fmaxf(fabsf(q.z), fabsf(q.w)));
        loudest_ = fmaxf(loudest_, level);
        faintest_ = min(faintest_, __float_as_uint(level) - 1);  // silence becomes the largest
    }
    /// Whether such a range may hold a window that is wide.
    static __device__ bool wide(const Range& r) {
        return r.faintest != 0xffffffffu &&
               __uint_as_float(r.loudest) > wide_range * __uint_as_float(r.faintest + 1);
    }
    /// Of the whole warp; the faintest as its bits less 1.
    __device__ unsigned loudest() const { return __reduce_max_sync(0xffffffffu, __float_as_uint(loudest_)); }
    __device__ unsigned faintest() const { return __reduce_min_sync(0xffffffffu, faintest_); }
    /// What a warp has seen joins what others have; lanes of a warp call it together.
    __device__ __forceinline__ void join(Range* all) const {
        const unsigned loud = loudest(), faint = faintest();
        if (threadIdx.x % 32 != 0) return;
        // Mostly others have seen as much before; an old value that a cache holds does no harm.
        if (loud > all->loudest) atomicMax(&all->loudest, loud);
        if (faint < all->faintest) atomicMin(&all->faintest, faint);
    }

  private:
    float loudest_ = 0;
    unsigned faintest_ = 0xffffffffu;  // its bits as a number, less 1
};

}  // namespace convoy::conv1d::gpu
