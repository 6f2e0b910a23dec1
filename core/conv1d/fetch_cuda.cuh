// Copies from global to shared memory that run beside the arithmetic: by the bulk copy engine where there is
// one (sm_90), else by the threads, 16 bytes each at a time.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

namespace convoy::conv1d::gpu {

/// Whether this is the one lane of a warp that acts for it: the same one each time. All lanes call it. Where
/// the instruction is, the compiler knows by it that addresses need not be looked at lane by lane.
__device__ __forceinline__ bool acts() {
#if __CUDA_ARCH__ >= 900
    unsigned one;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "elect.sync _|p, 0xffffffff;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(one));
    return one != 0;
#else
    return threadIdx.x % 32 == 0;
#endif
}

/// The threads that share tiles: a warp, which never waits for others, or the block.
template <int Size>
struct Team {
    static constexpr int size = Size;
    static __device__ int thread() { return static_cast<int>(threadIdx.x) % Size; }
    static __device__ bool acts() { return (Size == 32 || thread() < 32) && gpu::acts(); }
    static __device__ int number() { return static_cast<int>(threadIdx.x) / Size; }
    static __device__ void wait() {
        if constexpr (Size == 32)
            __syncwarp();
        else
            asm volatile("bar.sync %0, %1;" ::"r"(number() + 1), "n"(Size) : "memory");
    }
};

/// Copies of a team from global memory, one at a time. All its threads call every function at the same
/// points.
template <class Team>
class Fetch {
  public:
    /// `barrier`: 8 bytes of shared memory. A __syncthreads() must follow before start().
    __device__ explicit Fetch(std::uint64_t* barrier) : barrier_(address(barrier)) {
#if __CUDA_ARCH__ >= 900
        if (Team::thread() == 0) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_) : "memory");
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
#endif
    }
    /// Begins to copy to where nobody reads any more; addresses and `bytes` are multiples of 16.
    __device__ void start(void* to, const void* from, int bytes) {
#if __CUDA_ARCH__ >= 900
        if (Team::acts()) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_), "r"(bytes)
                         : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                    "r"(address(to)),
                "l"(from), "r"(bytes), "r"(barrier_)
                : "memory");
        }
#else
        for (int i = Team::thread() * 16; i < bytes; i += Team::size * 16)
            __pipeline_memcpy_async(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, 16);
        __pipeline_commit();
#endif
    }
    /// Returns when that has arrived.
    __device__ void wait() {
#if __CUDA_ARCH__ >= 900
        unsigned done = 0;
        while (done == 0)
            asm volatile(
                "{\n"
                ".reg .pred p;\n"
                "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                "selp.u32 %0, 1, 0, p;\n"
                "}\n"
                : "=r"(done)
                : "r"(barrier_), "r"(turn_)
                : "memory");
        turn_ ^= 1;
#else
        __pipeline_wait_prior(0);
        Team::wait();
#endif
    }

    /// After threads have written to shared memory that is copied to or from.
    __device__ static void written() {
#if __CUDA_ARCH__ >= 900
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }
    /// Begins to copy what the lanes of a warp have written to shared memory, as start() does the other way.
    __device__ static void send(void* to, const void* from, int bytes) {
        written();
        __syncwarp();
#if __CUDA_ARCH__ >= 900
        if (acts()) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                         "r"(address(from)), "r"(bytes)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
#else
        for (int i = threadIdx.x % 32 * 16; i < bytes; i += 32 * 16)
            *reinterpret_cast<float4*>(static_cast<char*>(to) + i) =
                *reinterpret_cast<const float4*>(static_cast<const char*>(from) + i);
#endif
    }
    /// Returns when all lanes can write there again.
    __device__ static void sent() {
#if __CUDA_ARCH__ >= 900
        if (acts()) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
        __syncwarp();
    }

  private:
    static __device__ unsigned address(const void* shared) {
        return static_cast<unsigned>(__cvta_generic_to_shared(shared));
    }
    unsigned barrier_;
    unsigned turn_ = 0;
};

}  // namespace convoy::conv1d::gpu
