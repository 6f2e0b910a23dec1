// What kernels of rolling_rows are compiled for, and how samples come into shared memory for them: by
// asynchronous copies, some units ahead.
#pragma once

#include <cstdint>

#include "core/conv2d/cuda_stage.hpp"

namespace convoy::conv2d::gpu::rolling {

constexpr int lanes = 32, across = 4, columns = lanes * across;

/// Warps of a block that share samples, beside the one that brings them; 0: each brings its own, all for the
/// same filters.
struct Team {
    static constexpr int alone = 4, most_sharing = 8;
    int sharing;
    int pieces() const { return sharing == 0 ? alone : 1; }
    int warps() const { return sharing == 0 ? alone : sharing + 1; }
    int warps_of_filters() const { return sharing == 0 ? 1 : sharing; }
};

/// What a kernel is compiled for: a square kernel of `taps` rows over `channels`, its stride, how many
/// filters a warp has at once, and whether their weights are parameters (of the only filter) or in shared
/// memory.
template <int taps_, int stride_, int channels_, int filters_, bool in_parameters_>
struct Shape {
    static constexpr int taps = taps_, stride = stride_, channels = channels_, filters = filters_;
    static constexpr bool in_parameters = in_parameters_;
    /// Warps bring their own samples: with a stride that would be many.
    static constexpr bool alone = stride == 1;
};

/// How many of an output's last chains of products may be one with the sum before, so that no term is rounded
/// more often than longest_chain() allows. A chain has the products of `stride` rows of a channel.
constexpr int chains_in_one(int taps, int stride, int channels) {
    const int live = (taps + stride - 1) / stride, terms = channels * taps * taps;
    int root = 0;  // of 16 terms
    while ((root + 1) * (root + 1) <= 16 * terms)
        ++root;
    const int allowed = 8 + root - 4;
    int rounded = stride * taps + channels * live, chains = 0;
    for (; chains < live; ++chains) {
        const int rows = taps - (live - 1 - chains) * stride;  // of this one, if fewer than a stride
        rounded += channels * ((rows < stride ? rows : stride) * taps - 1);
        if (rounded > allowed) break;
    }
    return chains;
}

template <class S>
struct Layout {
    static constexpr int live = (S::taps + S::stride - 1) / S::stride;  // outputs that a row concerns
    static constexpr int window = (live + across - 1 + 3) / 4 * 4;      // samples of a thread, of a phase
    static constexpr int raw = (columns - 1) * S::stride + S::taps;     // samples of a row
    static constexpr int turns = (raw + lanes - 1) / lanes;
    // The phases of a row lie half of the banks apart.
    static constexpr int width =
        S::stride == 1 ? columns - across + window : (columns - across + window + 31) / 32 * 32 + 16;
    static constexpr int plane = S::stride * S::stride * width;                // `stride` rows of a channel
    static constexpr int unit = S::channels * plane;                           // of all: what a step takes
    static constexpr int ahead = S::taps == 3 ? 5 : S::channels == 1 ? 3 : 2;  // units under way
    static constexpr int weight_rows = (S::stride * S::taps * S::filters + 3) / 4 * 4;  // of `stride` rows
    static constexpr int warp_weights = S::channels * live * weight_rows;
    static constexpr int in_one = chains_in_one(S::taps, S::stride, S::channels);
    static constexpr bool brings_first = S::filters == 1 && !S::in_parameters;  // as measured
    // What a multiprocessor is to hold at least, where blocks are as large as can be. With fewer registers
    // the compiler would move the weights of the largest to and fro.
    static constexpr int threads = (S::alone ? Team::alone : Team::most_sharing + 1) * lanes;
    static constexpr int blocks = !S::alone                                             ? 2
                                  : S::taps == 3 && S::channels == 1 && S::filters == 1 ? 8
                                  : S::taps == 15 && S::in_parameters                   ? 3
                                                                                        : 4;

    static std::size_t shared_bytes(const Team& team) {
        const int weights = S::in_parameters ? 0 : team.warps_of_filters() * warp_weights;
        return static_cast<std::size_t>(team.pieces() * (ahead + 1) * unit + weights) * sizeof(float) +
               (S::alone ? 0 : 2 * (ahead + 1) * sizeof(std::uint64_t));
    }
};

/// Brings units of samples into a ring, in order: the work of a warp. Zeros lie beyond the edges.
template <class S>
class Feed {
    using L = Layout<S>;

  public:
    __device__ __forceinline__ Feed(const Job& job, const float* ring, Index image, int channel, Index row,
                                    Index column)
        : row_(static_cast<int>(row)) {
        const int lane = threadIdx.x % lanes;
        from_ = reinterpret_cast<const float*>(job.in) + image * job.in_steps.image +
                channel * job.in_steps.channel + row * job.in_steps.row + (column - job.in_first) + lane;
        begin_ = static_cast<unsigned>(__cvta_generic_to_shared(ring)) +
                 static_cast<unsigned>((lane % S::stride * L::width + lane / S::stride) * sizeof(float));
        // Samples beyond the window are beyond the edges, or not used.
#pragma unroll
        for (int k = 0; k < L::turns; ++k) {
            const Index at = column + lane + lanes * k;
            if (at >= job.in_first && at < job.in_end) inside_ |= 1u << k;
        }
    }
    /// The next one, into a place of the ring.
    __device__ __forceinline__ void next(const Job& job, int slot) {
        const unsigned to = begin_ + slot * L::unit * static_cast<unsigned>(sizeof(float));
#pragma unroll
        for (int down = 0; down < S::stride; ++down) {
            const bool there = row_ + down >= 0 && row_ + down < static_cast<int>(job.rows);
            const unsigned inside = there ? inside_ : 0;
            const float* const line = from_ + down * job.in_steps.row;
#pragma unroll
            for (int k = 0; k < L::turns; ++k) {
                if (lanes * (k + 1) > L::raw && threadIdx.x % lanes + lanes * k >= L::raw) continue;
                const int bytes = (inside >> k & 1) != 0 ? 4 : 0;
#pragma unroll
                for (int c = 0; c < S::channels; ++c)
                    asm volatile(
                        "cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                            to + (c * L::plane + down * S::stride * L::width + lanes / S::stride * k) *
                                     static_cast<unsigned>(sizeof(float))),
                        "l"(line + c * job.in_steps.channel + lanes * k), "r"(bytes)
                        : "memory");
            }
        }
        row_ += S::stride;
        from_ += S::stride * job.in_steps.row;
    }

  private:
    const float* from_;
    unsigned begin_, inside_ = 0;
    int row_;
};

/// Barriers in shared memory between the warp that brings units and those that take them: a place of the ring
/// is full, or free again.
class Barriers {
  public:
    __device__ __forceinline__ Barriers(const void* memory, int places)
        : full_(static_cast<unsigned>(__cvta_generic_to_shared(memory))), free_(full_ + 8 * places) {}
    __device__ __forceinline__ void make(int places, int takers) const {
        for (int i = 0; i < places; ++i) {
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(full_ + 8 * i), "r"(lanes) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(free_ + 8 * i), "r"(takers) : "memory");
        }
    }
    /// Full when what this thread has copied so far is there, and what the others have.
    __device__ __forceinline__ void fill(int place) const {
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(full_ + 8 * place) : "memory");
    }
    __device__ __forceinline__ void free(int place) const {
        asm volatile(
            "{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(free_ + 8 * place)
            : "memory");
    }
    __device__ __forceinline__ void wait_full(int place, unsigned parity) const {
        wait(full_ + 8 * place, parity);
    }
    __device__ __forceinline__ void wait_free(int place, unsigned parity) const {
        wait(free_ + 8 * place, parity);
    }

  private:
    static __device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
        int done = 0;
        while (done == 0) {
#if __CUDA_ARCH__ >= 900  // the thread sleeps for a while meanwhile
            asm volatile(
                "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
                "selp.b32 %0, 1, 0, p;\n}\n"
                : "=r"(done)
                : "r"(barrier), "r"(parity)
                : "memory");
#else
            asm volatile(
                "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
                "selp.b32 %0, 1, 0, p;\n}\n"
                : "=r"(done)
                : "r"(barrier), "r"(parity)
                : "memory");
#endif
        }
    }
    unsigned full_, free_;
};

}  // namespace convoy::conv2d::gpu::rolling
