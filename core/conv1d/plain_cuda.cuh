// Blocks of outputs of planar rows as they are stored: the common ones, and the only ones that need to be
// fast. What they need of a Job is worked out before the launch, for these kernels have nothing to do while a
// constant or an index is on its way. A plain block has all its samples in the window; beside these, blocks
// at the ends of rows that are padded with zeros take part, which are clipped. Other paddings, layouts and
// scalings are for kernels that can do any.
#pragma once

#include "core/conv1d/sums_cuda.cuh"
#include "core/conv1d/wide_cuda.cuh"

namespace convoy::conv1d::gpu {

template <class T, class In>
struct PlainRun {
    const In* in;               // the sample under output 0 of row 0 (it may lie before the window)
    T* out;                     // output 0 of row 0
    Index in_pitch, out_pitch;  // of rows
    Index outputs;              // of a row
    Index low, high;            // samples that there are, counted from `in`
    unsigned begin, count;      // the plain blocks of a row, from `begin` on
    int taps, decimate, segment;
    Range* wide;

    __device__ bool plain(unsigned block) const { return block - begin < count; }
    static __device__ bool last(unsigned block) { return block + 1 == gridDim.x; }

    /// Sample i of a row that begins at x; zero beyond its ends.
    __device__ T clipped(const In* x, Index i) const {
        return i >= low && i < high ? static_cast<T>(x[i]) : T{0};
    }
};

/// Whether the kernels for plain blocks do a run.
inline bool has_plain(const Job& job) {
    return job.inner == 1 && job.scales == nullptr && job.padding == Padding::zero && job.outer <= 65535 &&
           job.taps < (Index{1} << 30) && job.decimate < 65536;
}
/// Whether they look for outputs of a wide range by the way (wide_cuda.cuh).
inline bool plain_looks(const Job& job) {
    return has_plain(job) && job.type == SampleType::float32 && job.decimate == 1;
}

/// `outputs` are those of a block; it may read so many samples more on either side, `spare`.
template <class T, class In>
PlainRun<T, In> plain_run(const Job& job, int outputs, int spare, int segment) {
    const PlainBlocks blocks = plain_blocks(job, outputs, spare);
    PlainRun<T, In> run;
    run.in = reinterpret_cast<const In*>(job.in) + blocks.in;
    run.out = reinterpret_cast<T*>(job.out);
    run.in_pitch = job.in_pitch, run.out_pitch = job.out_pitch;
    run.outputs = job.out_span.count;
    run.low = -blocks.in, run.high = job.in_span.count - blocks.in;
    run.begin = static_cast<unsigned>(blocks.begin);
    run.count = static_cast<unsigned>(blocks.end - blocks.begin);
    run.taps = static_cast<int>(job.taps), run.decimate = static_cast<int>(job.decimate);
    run.segment = segment;
    run.wide = job.wide;
    return run;
}

/// A block for every so many outputs of a row, and the rows along y.
inline dim3 plain_grid(const Job& job, int outputs) {
    return dim3(static_cast<unsigned>(ceil_div(job.out_span.count, outputs)),
                static_cast<unsigned>(job.outer));
}

}  // namespace convoy::conv1d::gpu
