// The instructions of Hopper behind wgmma_gemm: products of tiles in shared memory that a group of four warps
// issues together, summed in registers, asynchronously; and barriers in shared memory that count the bytes
// of copies.
#pragma once

#include <cstdint>

namespace convoy::conv2d::gpu {

/// A tile without swizzle, its terms contiguous: units of 16 bytes (four terms), rows one unit apart, eight
/// rows `group_bytes` from the next eight, the next four terms `chunk_bytes` away.
__device__ __forceinline__ std::uint64_t tile_descriptor(unsigned shared_address, unsigned chunk_bytes,
                                                         unsigned group_bytes) {
    return static_cast<std::uint64_t>((shared_address & 0x3ffffu) >> 4) |
           static_cast<std::uint64_t>(chunk_bytes >> 4) << 16 |
           static_cast<std::uint64_t>(group_bytes >> 4) << 32;
}

/// Before the first product that reads registers written otherwise.
__device__ __forceinline__ void products_begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_end() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// All but the last `pending` groups of products are done. Sums must go through keep() before they are used.
template <int pending>
__device__ __forceinline__ void products_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
__device__ __forceinline__ void keep(float& sum) {
    asm volatile("" : "+f"(sum)::"memory");
}

/// A barrier's phase ends when `count` threads have arrived and the bytes that they announced are there.
__device__ __forceinline__ void barrier_make(unsigned barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ __forceinline__ void barriers_made() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_announce(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}
/// Waits for the end of the phase of that parity.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
    int done = 0;
    while (done == 0)
        asm volatile(
            "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.b32 %0, 1, 0, p;\n}\n"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
}
/// Copies to shared memory, asynchronously; the barrier counts the bytes. Multiples of 16.
__device__ __forceinline__ void copy_bulk(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

/// Registers of each thread of this group of four warps, from here on; a multiple of 8.
template <int count>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ __forceinline__ void leave_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

/// Products that are queued after the next barrier see what this thread has stored in shared memory.
__device__ __forceinline__ void stores_seen() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// d (64 x 128) = a (64 x 8) b (8 x 128), or added to what d is. A thread of warp w and lane l has, as its
/// element i, row 16 w + l / 4 + 8 (i / 2 % 2) and column 8 (i / 4) + 2 (l % 4) + i % 2.
__device__ __forceinline__ void multiply_64x128x8(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                                  bool add) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1;\n}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),
          "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),
          "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),
          "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),
          "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

}  // namespace convoy::conv2d::gpu
