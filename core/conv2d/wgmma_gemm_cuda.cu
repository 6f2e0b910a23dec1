// Filters x terms times terms x outputs on Hopper's tensor cores (sm_90a). Two groups of four warps compute
// 64 filters by one row (TF32: two rows) of 128 outputs each, from weights and lines of samples that one more
// warp has copied into shared memory steps ahead (gemm_steps.hpp says what a step is, wgmma_pack_cuda.cuh
// how lines are made). Blocks stay and take one tile after the other, so that copies do not stop between
// tiles.
//
// float32 is three products of TF32: the upper and the lower half of each factor, less the product of lower
// halves. Tensor cores round sums towards zero, so each step begins new ones, small products first, which
// are then added up in float32.
#include "core/conv2d/wgmma_gemm_cuda.hpp"

#include <algorithm>
#include <limits>

#include "core/conv2d/gemm_steps.hpp"
#include "core/conv2d/wgmma_cuda.cuh"
#include "core/conv2d/wgmma_pack_cuda.cuh"

namespace convoy::conv2d::gpu {

namespace {

constexpr int groups = 2, group_threads = 128, threads = groups * group_threads + 32;
constexpr int tile_filters = GemmSteps::tile_filters, tile_columns = GemmSteps::tile_columns;
constexpr int chunks = GemmSteps::chunks;
constexpr int unit = 16;  // bytes: four entries of a place, four terms of a filter
constexpr int most_stages = 8, most_shifts = 1024;
constexpr std::size_t barrier_bytes = 2 * most_stages * 8;
constexpr std::size_t workspace_bytes = std::size_t{256} << 20;

struct Tables {
    const int4* steps;  // GemmSteps::Step, two each
    const int* shifts;
    const float* weights;
    Index tile_weights;
    int step_count, taps, shift_count, kinds, width, line_step;
    int stages;
    unsigned weight_bytes, line_bytes;  // of a step, of a line
    const unsigned char* lines;
    unsigned line_count, filter_tiles, tiles_across, tiles_down, tiles;
    Index image, row, column;  // of the piece's first output
    Index rows;                // of the piece
    bool pairs;                // neighbouring outputs may be written as one
};

struct Step {
    int kind, down, weights, first_tap;
    bool begins, ends;
    __device__ __forceinline__ Step(const Tables& t, int i) {
        const int4 a = __ldg(t.steps + 2 * i), b = __ldg(t.steps + 2 * i + 1);
        kind = a.x, down = a.y, weights = a.z, first_tap = a.w;
        begins = b.x != 0, ends = b.y != 0;
    }
};

/// Where a tile's outputs are in the piece.
struct Place {
    unsigned filter_tile, across, row, set, image;  // set: of filters and channels

    __device__ Place(const Job& job, const Tables& t, unsigned tile, int rows) {
        filter_tile = tile % t.filter_tiles;
        tile /= t.filter_tiles;
        across = tile % t.tiles_across;
        tile /= t.tiles_across;
        row = tile % t.tiles_down * rows;
        tile /= t.tiles_down;
        set = tile % static_cast<unsigned>(job.groups);
        image = tile / static_cast<unsigned>(job.groups);
    }
};

/// Shared memory: stages (weights, then lines), barriers, shifts. Where the next step is in the ring.
struct Ring {
    unsigned memory, stage_bytes, full, empty;
    int stages, at = 0;
    unsigned parity = 0;

    __device__ Ring(unsigned shared, const Tables& t, int rows)
        : memory(shared),
          stage_bytes(t.weight_bytes + rows * t.line_bytes),
          full(shared + t.stages * stage_bytes),
          empty(full + 8 * most_stages),
          stages(t.stages) {}
    __device__ __forceinline__ unsigned stage() const { return memory + at * stage_bytes; }
    __device__ __forceinline__ void next() {
        if (++at < stages) return;
        at = 0;
        parity ^= 1;
    }
};

/// One thread copies the weights and lines of all steps of all tiles, as stages become free.
template <bool exact>
__device__ void bring(const Job& job, const Tables& t, Ring ring) {
    constexpr int rows = exact ? 2 : 4;
    for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
        const Place at(job, t, tile, rows);
        const float* const weights =
            t.weights + (Index{at.set} * t.filter_tiles + at.filter_tile) * t.tile_weights;
        const Index set = (Index{at.image} * job.groups + at.set) * t.kinds;
        for (int i = 0; i < t.step_count; ++i) {
            const Step step(t, i);
            barrier_wait(ring.empty + 8 * ring.at, ring.parity ^ 1);
            const unsigned full = ring.full + 8 * ring.at;
            barrier_announce(full, ring.stage_bytes);
            copy_bulk(ring.stage(), weights + step.weights, t.weight_bytes, full);
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                // Rows that are not there are computed from the last one, and not written.
                const Index row = min(Index{at.row} + r, t.rows - 1);
                const Index line = (set + step.kind) * t.line_count + row * t.line_step + step.down;
                copy_bulk(ring.stage() + t.weight_bytes + r * t.line_bytes,
                          t.lines + (line * t.tiles_across + at.across) * t.line_bytes, t.line_bytes, full);
            }
            ring.next();
        }
    }
}

/// Queues the products of a step: for each row of a group, 64 filters x 128 outputs.
template <bool exact, int rows>
__device__ __forceinline__ void multiply(const Tables& t, const Step& step, const int* shifts,
                                         unsigned weights, unsigned lines, float (&sum)[rows][64]) {
    constexpr int parts = exact ? 2 : 1, passes = exact ? 3 : 1;
    const std::uint64_t a0 = tile_descriptor(weights, tile_filters * unit, 8 * unit),
                        b0 = tile_descriptor(lines, static_cast<unsigned>(t.width) * unit, 8 * unit);
    products_begin();
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
        const int lower_a = exact && pass == 0, lower_b = exact && pass == 1;
#pragma unroll 1
        for (int tap = 0; tap < t.taps; ++tap) {
            const int shift = shifts[step.first_tap + tap];
#pragma unroll
            for (int d = 0; d < chunks / 2; ++d) {
                const std::uint64_t a =
                    a0 + static_cast<unsigned>(((tap * parts + lower_a) * chunks + 2 * d) * tile_filters);
#pragma unroll
                for (int r = 0; r < rows; ++r) {
                    const std::uint64_t b =
                        b0 +
                        static_cast<unsigned>(((r * parts + lower_b) * chunks + 2 * d) * t.width + shift);
                    multiply_64x128x8(sum[r], a, b, !(step.begins && pass == 0 && tap == 0 && d == 0));
                }
            }
        }
    }
    products_end();
}

/// Writes a row of the outputs of this thread.
__device__ __forceinline__ void write(const Job& job, const Tables& t, const Place& at, unsigned row,
                                      const float (&sum)[64]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    if (row >= t.rows) return;
    const Job::Steps& to = job.out_steps;
    const Index first = t.column + Index{at.across} * tile_columns + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int k = static_cast<int>(at.filter_tile) * tile_filters + warp * 16 + half * 8 + lane / 4;
        if (k >= job.group_filters) continue;
        const int filter = static_cast<int>(at.set) * job.group_filters + k;
        const float bias = job.bias != nullptr ? static_cast<const float*>(job.bias)[filter] : 0.0f;
        float* const line = reinterpret_cast<float*>(job.out) + (t.image + at.image) * to.image +
                            filter * to.channel + (t.row + row) * to.row;
        const auto finished = [&](float v) {
            if (job.bias != nullptr) v += bias;
            return job.relu && v < 0 ? 0.0f : v;
        };
#pragma unroll
        for (int j = 0; j < tile_columns / 8; ++j) {
            const Index column = first + 8 * j;
            const float left = finished(sum[4 * j + 2 * half]), right = finished(sum[4 * j + 2 * half + 1]);
            if (t.pairs && column + 1 < job.out_count) {
                *reinterpret_cast<float2*>(line + column) = {left, right};
            } else {
                if (column < job.out_count) line[column * to.column] = left;
                if (column + 1 < job.out_count) line[(column + 1) * to.column] = right;
            }
        }
    }
}

template <bool exact>
__device__ void compute(const Job& job, const Tables& t, const int* shifts, Ring ring) {
    constexpr int rows = exact ? 2 : 4, mine = rows / groups;
    const int group = threadIdx.x / group_threads;
    const bool first_lane = threadIdx.x % 32 == 0;
    float sum[mine][64], total[exact ? 64 : 1];
    const auto wait_for = [&](auto pending) {
        products_wait<decltype(pending)::value>();
#pragma unroll
        for (int r = 0; r < mine; ++r)
#pragma unroll
            for (int i = 0; i < 64; ++i)
                keep(sum[r][i]);
    };
    for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
        const Place at(job, t, tile, rows);
        if constexpr (exact)
#pragma unroll
            for (float& x : total)
                x = 0;
        unsigned before = 0;  // the stage that the products under way do not read
        for (int i = 0; i < t.step_count; ++i) {
            const Step step(t, i);
            barrier_wait(ring.full + 8 * ring.at, ring.parity);
            multiply<exact, mine>(t, step, shifts, ring.stage(),
                                  ring.stage() + t.weight_bytes + group * mine * t.line_bytes, sum);
            const unsigned now = ring.empty + 8 * ring.at;
            if constexpr (exact) {
                wait_for(std::integral_constant<int, 0>{});
                if (first_lane) barrier_arrive(now);
                if (step.ends)
#pragma unroll
                    for (int j = 0; j < 64; ++j)
                        total[j] += sum[0][j];
            } else {
                wait_for(std::integral_constant<int, 1>{});
                if (i > 0 && first_lane) barrier_arrive(before);
                before = now;
            }
            ring.next();
        }
        if constexpr (exact) {
            write(job, t, at, at.row + group, total);
        } else {
            wait_for(std::integral_constant<int, 0>{});
            if (first_lane) barrier_arrive(before);
#pragma unroll
            for (int r = 0; r < mine; ++r)
                write(job, t, at, at.row + group * mine + r, sum[r]);
        }
    }
}

template <bool exact>
__global__ void __launch_bounds__(threads, 1)
    wgmma_gemm(const __grid_constant__ Job job, const __grid_constant__ Tables t) {
    extern __shared__ __align__(128) unsigned char memory[];
    const Ring ring(static_cast<unsigned>(__cvta_generic_to_shared(memory)), t, exact ? 2 : 4);
    int* const shifts = reinterpret_cast<int*>(memory + t.stages * ring.stage_bytes + barrier_bytes);
    for (int i = threadIdx.x; i < t.shift_count; i += threads)
        shifts[i] = t.shifts[i];
    if (threadIdx.x == 0) {
        for (int i = 0; i < t.stages; ++i) {
            barrier_make(ring.full + 8 * i, 1);
            barrier_make(ring.empty + 8 * i, groups * group_threads / 32);
        }
        barriers_made();
    }
    __syncthreads();
    if (threadIdx.x < groups * group_threads)
        compute<exact>(job, t, shifts, ring);
    else if (threadIdx.x == groups * group_threads)
        bring<exact>(job, t, ring);
}

class WgmmaGemmStage : public CudaStage {
  public:
    WgmmaGemmStage(const Problem& p, const device::Device& d)
        : CudaStage(p, d), kernel_(p.precision == Precision::tf32 ? wgmma_gemm<false> : wgmma_gemm<true>) {
        const std::size_t room = use_shared_memory(reinterpret_cast<const void*>(kernel_), d);
        steps_ = gemm_steps(p, room - barrier_bytes - most_shifts * sizeof(int));
        const Pair out = p.outputs();
        const auto whole = [&](Index columns) {
            return packed_bytes(steps_, p.groups, {0, p.images, 0, out.rows, 0, columns});
        };
        lines_ = device::Buffer(d, std::min(std::max(workspace_bytes, least_bytes()), whole(out.columns)));
        Tables& t = tables_;
        t.steps = reinterpret_cast<const int4*>(put(steps_.steps));
        t.shifts = reinterpret_cast<const int*>(put(steps_.shifts));
        t.weights = reinterpret_cast<const float*>(put(steps_.weights));
        t.tile_weights = steps_.tile_weights;
        t.step_count = static_cast<int>(steps_.steps.size());
        t.taps = steps_.taps;
        t.shift_count = static_cast<int>(steps_.shifts.size());
        t.kinds = static_cast<int>(steps_.kinds());
        t.width = steps_.width;
        t.line_step = steps_.line_step;
        t.stages = steps_.stages;
        t.weight_bytes = static_cast<unsigned>(steps_.weight_bytes());
        t.line_bytes = static_cast<unsigned>(steps_.line_bytes());
        t.lines = reinterpret_cast<const unsigned char*>(lines_.data());
        t.filter_tiles = blocks_of((p.group_filters() + tile_filters - 1) / tile_filters);
        packed_.lines = reinterpret_cast<float*>(lines_.data());
        packed_.entries = reinterpret_cast<const int4*>(put(steps_.entries));
        packed_.kinds = t.kinds;
        packed_.width = t.width;
        packed_.by_channels = steps_.by_channels;
        packed_.line_step = static_cast<int>(steps_.by_channels ? 1 : p.stride.rows);
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        const GemmPiece most =
            largest_piece(steps_, job.groups, job.images, job.out_rows, job.out_count, lines_.size());
        const auto cut = [](Index first, Index most_there, Index all) {
            return std::min(most_there, all - first);
        };
        for (Index n = 0; n < job.images; n += most.images)
            for (Index p = 0; p < job.out_rows; p += most.rows)
                for (Index q = 0; q < job.out_count; q += most.columns)
                    launch(job,
                           {n, cut(n, most.images, job.images), p, cut(p, most.rows, job.out_rows), q,
                            cut(q, most.columns, job.out_count)},
                           stream);
    }

  private:
    template <class T>
    std::byte* put(const std::vector<T>& values) {
        device::Buffer buffer(device(), values.size() * sizeof(T));
        device::upload(buffer, values.data(), buffer.size());
        kept_.push_back(std::move(buffer));
        return kept_.back().data();
    }
    // Lines of one block of rows by one of columns.
    std::size_t least_bytes() const {
        return packed_bytes(steps_, problem().groups, {0, 1, 0, steps_.rows, 0, tile_columns});
    }

    void launch(const Job& job, const GemmPiece& piece, cudaStream_t stream) const {
        Tables t = tables_;
        t.tiles_across = blocks_of((piece.columns + tile_columns - 1) / tile_columns);
        t.tiles_down = blocks_of((piece.rows + steps_.rows - 1) / steps_.rows);
        t.tiles =
            blocks_of(Index{t.filter_tiles} * t.tiles_across * t.tiles_down * job.groups * piece.images);
        t.line_count = blocks_of(steps_.lines(piece.rows));
        t.image = piece.image;
        t.row = piece.row;
        t.rows = piece.rows;
        t.column = piece.column;
        const auto aligned = [](const void* at, Index step, int bytes) {
            return reinterpret_cast<std::uintptr_t>(at) % bytes == 0 && step * 4 % bytes == 0;
        };
        t.pairs = job.out_steps.column == 1 && piece.column % 2 == 0 &&
                  aligned(job.out, job.out_steps.row, 8) && job.out_steps.channel % 2 == 0;
        pack(job, piece, t, aligned(job.in, job.in_steps.column, 16) && job.group_channels % 4 == 0, stream);
        const unsigned resident = static_cast<unsigned>(std::max(device().attributes.multiprocessors, 1));
        const std::size_t shared =
            t.stages * steps_.stage_bytes() + barrier_bytes + t.shift_count * sizeof(int);
        kernel_<<<std::min(t.tiles, resident), threads, shared, stream>>>(job, t);
        device::check_launch("implicit_gemm");
    }

    void pack(const Job& job, const GemmPiece& piece, const Tables& t, bool vectors,
              cudaStream_t stream) const {
        Packed packed = packed_;
        packed.count = t.line_count;
        packed.tiles = t.tiles_across;
        packed.image = piece.image;
        packed.first_row = piece.row * job.stride_rows - job.before_rows;
        packed.column = piece.column;
        packed.vectors = vectors && job.in_steps.channel == 1;
        const unsigned blocks =
            blocks_of(Index{packed.tiles} * packed.count * packed.kinds * job.groups * piece.images);
        const int places = (packed.width + 31) / 32 * 32;
        dispatch(job.type, [&](auto stored) {
            if (steps_.exact)
                pack_lines<true, decltype(stored)><<<blocks, places, 0, stream>>>(job, packed);
            else
                pack_lines<false, decltype(stored)><<<blocks, places, 0, stream>>>(job, packed);
        });
        device::check_launch("implicit_gemm");
    }

    void (*kernel_)(Job, Tables);
    GemmSteps steps_;
    Tables tables_{};
    Packed packed_{};
    device::Buffer lines_;
    std::vector<device::Buffer> kept_;
};

}  // namespace

bool wgmma_gemm_fits(const Problem& p, const device::Device& d) {
    const auto& a = d.attributes;
    const Index most = Index{1} << 20;
    return a.compute_major == 9 && a.compute_minor == 0 && a.shared_bytes_per_block >= (227u << 10) &&
           (p.precision == Precision::float32 || p.precision == Precision::tf32) && !p.complex &&
           p.terms() >= 48 && p.group_channels() <= most && p.spread().rows <= 4096 &&
           p.taps.columns <= most_shifts / 4 && p.spread().columns <= most && p.stride.rows <= 1024 &&
           p.stride.columns <= 1024;
}

std::unique_ptr<Stage> make_wgmma_gemm(const Problem& p, const device::Device& d) {
    return std::make_unique<WgmmaGemmStage>(p, d);
}

// Tiles are whole in filters and columns, lines in entries. Slowdowns measured on one H200.
double wgmma_gemm_cost(const Problem& p, const device::Device& d) {
    const auto whole = [](Index n, Index step) {
        return static_cast<double>((n + step - 1) / step * step) / static_cast<double>(n);
    };
    const Index entries = p.group_channels() >= 8 ? p.group_channels() : p.terms();
    const double wasted =
        whole(p.group_filters(), tile_filters) * whole(p.outputs().columns, tile_columns) * whole(entries, 8);
    return time_of(p, d, (p.precision == Precision::tf32 ? 0.2 : 0.5) * wasted);
}

}  // namespace convoy::conv2d::gpu
