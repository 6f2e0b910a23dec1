// Copies from global to shared memory that run beside the arithmetic: by the bulk copy engine where there is
// one (sm_90), else by the threads, 16 bytes each at a time.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

namespace convoy::conv1d::gpu {

/// The threads that share tiles: a warp, which never waits for others, or the block.
template <int Size>
struct Team {
    static constexpr int size = Size;
    static __device__ int thread() { return static_cast<int>(threadIdx.x) % Size; }
    static __device__ int number() { return static_cast<int>(threadIdx.x) / Size; }
    static __device__ void wait() {
        if constexpr (Size == 32)
            __syncwarp();
        else
            __syncthreads();
    }
};

/// Two buffers of a team that are filled and read in turns. All its threads call every function at the same
/// points.
template <class Team>
class Fetch {
  public:
    /// `barriers`: 16 bytes of shared memory. A __syncthreads() must follow before start().
    __device__ explicit Fetch(std::uint64_t* barriers) : barriers_(address(barriers)) {
#if __CUDA_ARCH__ >= 900
        if (Team::thread() == 0) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_ + 8) : "memory");
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
#endif
    }
    /// Begins to copy to buffer `which`, at `to`, which nobody reads any more; addresses and `bytes` are
    /// multiples of 16.
    __device__ void start(int which, void* to, const void* from, int bytes) {
#if __CUDA_ARCH__ >= 900
        if (Team::thread() == 0) {
            const unsigned barrier = barriers_ + 8 * which;
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                         : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                    "r"(address(to)),
                "l"(from), "r"(bytes), "r"(barrier)
                : "memory");
        }
#else
        (void)which;
        for (int i = Team::thread() * 16; i < bytes; i += Team::size * 16)
            __pipeline_memcpy_async(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, 16);
        __pipeline_commit();
#endif
    }
    /// Returns when buffer `which` has arrived; `younger`: the other one was begun after it.
    __device__ void wait(int which, bool younger) {
#if __CUDA_ARCH__ >= 900
        (void)younger;
        unsigned done = 0;
        while (done == 0)
            asm volatile(
                "{\n"
                ".reg .pred p;\n"
                "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                "selp.u32 %0, 1, 0, p;\n"
                "}\n"
                : "=r"(done)
                : "r"(barriers_ + 8 * which), "r"(turns_ >> which & 1)
                : "memory");
        turns_ ^= 1u << which;
#else
        (void)which;
        if (younger)
            __pipeline_wait_prior(1);
        else
            __pipeline_wait_prior(0);
        Team::wait();
#endif
    }

    /// After threads have written to a buffer themselves.
    __device__ static void written() {
#if __CUDA_ARCH__ >= 900
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }
    /// Begins to copy what the lanes of a warp have written to shared memory, as start() does the other way.
    __device__ static void send(void* to, const void* from, int bytes) {
#if __CUDA_ARCH__ >= 900
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                         "r"(address(from)), "r"(bytes)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
#endif
    }
    /// Returns when that has been read: lane 0 of the warp knows.
    __device__ static void sent() {
#if __CUDA_ARCH__ >= 900
        if (threadIdx.x % 32 == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
    }
#if __CUDA_ARCH__ >= 900
    static constexpr bool sends = true;
#else
    static constexpr bool sends = false;
#endif

  private:
    static __device__ unsigned address(const void* shared) {
        return static_cast<unsigned>(__cvta_generic_to_shared(shared));
    }
    unsigned barriers_;
    unsigned turns_ = 0;  // a bit for each buffer
};

}  // namespace convoy::conv1d::gpu
