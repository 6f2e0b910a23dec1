// Filters x terms times terms x outputs by the tensor cores of any GPU since Ampere. Tiles of weights and of
// samples, found by a table of terms, come into shared memory by asynchronous copies, several tiles ahead of
// the products.
//
// float32 is three products of TF32 (the upper and the lower half of each factor, less the product of lower
// halves), whose sums, which tensor cores round towards zero, are added up in float32 every 32 terms.
#pragma once

#include "core/conv2d/fetch_cuda.cuh"

namespace convoy::conv2d::gpu::mma {

constexpr int tile_filters = 64, tile_outputs = 128, depth = 32, stages = 3;
constexpr int threads = 256;  // 2 x 4 warps, each 32 filters x 32 outputs
// Rows of terms are 8 banks apart, so that the four terms by eight filters or outputs of a fragment meet 32
// banks.
constexpr int filter_pitch = tile_filters + 8, output_pitch = tile_outputs + 8;
constexpr int stage_floats = depth * (filter_pitch + output_pitch);
constexpr std::size_t shared_bytes = stages * stage_floats * sizeof(float);

/// Where a term's sample is, from an output's first one.
struct Term {
    int channel, down, right;
};

struct Shapes {
    const float* weights;  // [group][term][filter], both filled up with zeros
    const Term* terms;     // those that fill up lie beyond every edge
    int padded_terms, padded_filters, filter_tiles;
    Index outputs;  // positions: images x rows x columns of the window
    Index output_tiles;
};

__device__ __forceinline__ void copy4(float* to, const float* from, bool there) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(there ? 4 : 0));
}
__device__ __forceinline__ void copy16(float* to, const float* from) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
}

__device__ __forceinline__ unsigned to_tf32(float x) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}
__device__ __forceinline__ unsigned to_bf16(float low, float high) {
    unsigned bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

__device__ __forceinline__ void multiply_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void multiply_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Upper and lower half of a factor: x = high + low to 2^-22 of it.
__device__ __forceinline__ void halves(float x, unsigned& high, unsigned& low) {
    high = to_tf32(x);
    low = to_tf32(x - __uint_as_float(high));
}

// One tile's products; a and b are the warp's corner of the tile's weights and samples.
template <Precision precision>
__device__ __forceinline__ void multiply(const float* a, const float* b, int group, int member,
                                         float (&sum)[2][4][4]) {
    if constexpr (precision == Precision::bf16) {
#pragma unroll
        for (int k = 0; k < depth; k += 16) {
            unsigned fa[2][4], fb[4][2];
            const auto pair = [&](const float* from, int pitch, int term) {
                return to_bf16(from[term * pitch], from[(term + 1) * pitch]);
            };
            const int t = k + 2 * member;
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                const float* const from = a + m * 16 + group;
                fa[m][0] = pair(from, filter_pitch, t);
                fa[m][1] = pair(from + 8, filter_pitch, t);
                fa[m][2] = pair(from, filter_pitch, t + 8);
                fa[m][3] = pair(from + 8, filter_pitch, t + 8);
            }
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                fb[n][0] = pair(b + n * 8 + group, output_pitch, t);
                fb[n][1] = pair(b + n * 8 + group, output_pitch, t + 8);
            }
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
                for (int n = 0; n < 4; ++n)
                    multiply_bf16(sum[m][n], fa[m], fb[n]);
        }
    } else {
#pragma unroll
        for (int k = 0; k < depth; k += 8) {
            unsigned high_a[2][4], low_a[2][4], high_b[4][2], low_b[4][2];
            const auto take = [&](float x, unsigned& high, unsigned& low) {
                if constexpr (precision == Precision::float32)
                    halves(x, high, low);
                else
                    high = to_tf32(x), low = 0;
            };
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    take(a[(k + member + i / 2 * 4) * filter_pitch + m * 16 + group + i % 2 * 8],
                         high_a[m][i], low_a[m][i]);
#pragma unroll
            for (int n = 0; n < 4; ++n)
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    take(b[(k + member + i * 4) * output_pitch + n * 8 + group], high_b[n][i], low_b[n][i]);
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
                for (int n = 0; n < 4; ++n) {
                    if constexpr (precision == Precision::float32) {
                        multiply_tf32(sum[m][n], low_a[m], high_b[n]);
                        multiply_tf32(sum[m][n], high_a[m], low_b[n]);
                    }
                    multiply_tf32(sum[m][n], high_a[m], high_b[n]);
                }
        }
    }
}

template <Precision precision>
__global__ void __launch_bounds__(threads, 2) implicit_gemm(Job job, Shapes shapes) {
    extern __shared__ __align__(16) float memory[];
    Index rest = blockIdx.x;
    const int filter_tile = static_cast<int>(rest % shapes.filter_tiles);
    rest /= shapes.filter_tiles;
    const Index first_output = rest % shapes.output_tiles * tile_outputs;
    const int set = static_cast<int>(rest / shapes.output_tiles);  // of filters and channels

    // The output whose samples this thread brings.
    const int mine = threadIdx.x % tile_outputs, first_term = threadIdx.x / tile_outputs;
    const Index output = first_output + mine;
    const bool exists = output < shapes.outputs;
    const Index q = output % job.out_count, p = output / job.out_count % job.out_rows,
                image = exists ? output / job.out_count / job.out_rows : 0;
    const Index top = exists ? p * job.stride_rows - job.before_rows : job.rows;
    const Index left = (job.out_first + q) * job.stride_columns - job.before_columns;
    const Job::Steps& step = job.in_steps;
    const float* const x = reinterpret_cast<const float*>(job.in) + image * step.image +
                           Index{set} * job.group_channels * step.channel + top * step.row +
                           (left - job.in_first) * step.column;
    const float* const w = shapes.weights + Index{set} * shapes.padded_terms * shapes.padded_filters +
                           filter_tile * tile_filters;

    const auto bring = [&](int tile) {
        float* const a = memory + tile % stages * stage_floats;
        float* const b = a + depth * filter_pitch;
#pragma unroll
        for (int i = threadIdx.x; i < depth * tile_filters / 4; i += threads) {
            const int term = i / (tile_filters / 4), filter = i % (tile_filters / 4) * 4;
            copy16(a + term * filter_pitch + filter,
                   w + (Index{tile} * depth + term) * shapes.padded_filters + filter);
        }
#pragma unroll
        for (int k = first_term; k < depth; k += threads / tile_outputs) {
            const Term t = shapes.terms[tile * depth + k];
            const Index row = top + t.down, column = left + t.right;
            const bool there = row >= 0 && row < job.rows && column >= job.in_first && column < job.in_end;
            const float* const from =
                x + t.channel * step.channel + t.down * step.row + t.right * step.column;
            copy4(b + k * output_pitch + mine, there ? from : shapes.weights, there);
        }
    };

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int group = lane / 4, member = lane % 4;
    const int warp_filter = warp / 4 * 32, warp_output = warp % 4 * 32;
    const int tiles = shapes.padded_terms / depth;
    float total[2][4][4] = {};
    for (int tile = 0; tile < stages - 1; ++tile) {
        if (tile < tiles) bring(tile);
        asm volatile("cp.async.commit_group;");
    }
    for (int tile = 0; tile < tiles; ++tile) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2));
        __syncthreads();
        if (tile + stages - 1 < tiles) bring(tile + stages - 1);
        asm volatile("cp.async.commit_group;");
        const float* const a = memory + tile % stages * stage_floats;
        const float* const b = a + depth * filter_pitch;
        if constexpr (precision == Precision::float32) {
            float sum[2][4][4] = {};
            multiply<precision>(a + warp_filter, b + warp_output, group, member, sum);
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
                for (int n = 0; n < 4; ++n)
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                        total[m][n][i] += sum[m][n][i];
        } else {
            multiply<precision>(a + warp_filter, b + warp_output, group, member, total);
        }
    }
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const Index at = first_output + warp_output + n * 8 + member * 2 + i;
            if (at >= shapes.outputs) continue;
            const Index column = at % job.out_count, row = at / job.out_count % job.out_rows,
                        to = at / job.out_count / job.out_rows;
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int k = filter_tile * tile_filters + warp_filter + m * 16 + half * 8 + group;
                    if (k >= job.group_filters) continue;
                    finish(job, to, set * job.group_filters + k, row, column, 0, total[m][n][half * 2 + i]);
                }
        }
}

}  // namespace convoy::conv2d::gpu::mma
