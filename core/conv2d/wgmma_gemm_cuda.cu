// implicit_gemm on Hopper's tensor cores (sm_90a): samples in lines are multiplied by weights
// (wgmma_product_cuda.cuh). Lines are made in the same kernel (wgmma_lines_cuda.cuh); those of samples that
// are not float32 as they are, and those of many filters, are packed into memory first, for a piece of the
// outputs at a time (wgmma_pack_cuda.cuh).
#include "core/conv2d/wgmma_gemm_cuda.hpp"

#include <algorithm>
#include <limits>

#include "core/conv2d/wgmma_lines_cuda.cuh"
#include "core/conv2d/wgmma_pack_cuda.cuh"

namespace convoy::conv2d::gpu {

namespace {

constexpr std::size_t room_bytes = std::size_t{256} << 20;  // for lines

/// Bytes of shared memory for stages.
std::size_t stage_room(const Problem& p, const device::Device& d) {
    const std::size_t room = std::max<std::size_t>(d.attributes.shared_bytes_per_block, 49152) - 1024;
    return room - head_bytes(p.precision != Precision::tf32);
}

bool aligned(const void* at, Index step, int bytes) {
    return reinterpret_cast<std::uintptr_t>(at) % bytes == 0 && step * Index{sizeof(float)} % bytes == 0;
}

/// Whether lines are packed first: they must be, or serve so many tiles of filters that to make them anew for
/// each takes longer.
bool packs(const Problem& p) {
    const Index tiles = (p.group_filters() + tile_filters - 1) / tile_filters;
    return p.in != SampleType::float32 || !p.scaling.trivial() ||
           tiles > (p.precision == Precision::tf32 ? 1 : 2);
}

class WgmmaGemmStage : public CudaStage {
  public:
    WgmmaGemmStage(const Problem& p, const device::Device& d)
        : CudaStage(p, d), blocks_(static_cast<unsigned>(std::max(d.attributes.multiprocessors, 1))) {
        steps_ = gemm_steps(p, stage_room(p, d));
        packs_ = packs(p);
        // float32 adds up its sums after each step. TF32 does best with a step under way, but where lines
        // take longer to make than products: those that few taps share, and those of single entries.
        const bool slow_lines = p.stride.columns > 1 || !steps_.by_channels;
        if (steps_.exact)
            product_ = packs_ ? wgmma_product<true, true, 0> : wgmma_product<true, false, 0>;
        else if (packs_)
            product_ = wgmma_product<false, true, 1>;
        else
            product_ = slow_lines ? wgmma_product<false, false, 0> : wgmma_product<false, false, 1>;
        use_shared_memory(reinterpret_cast<const void*>(product_), d);
        set_tables(p);
        if (packs_) set_packing(p);
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        const GemmPiece whole{0, job.images, 0, job.out_rows, 0, job.out_count};
        if (!packs_) return queue(job, whole, stream);
        const GemmPiece most =
            next_piece(steps_, job.groups, whole, lines_.size(), tables_.filter_tiles, blocks_);
        for (Index n = 0; n < whole.images; n += most.images)
            for (Index p = 0; p < whole.rows; p += most.rows)
                for (Index q = 0; q < whole.columns; q += most.columns)
                    queue(job,
                          {n, std::min(most.images, whole.images - n), p, std::min(most.rows, whole.rows - p),
                           q, std::min(most.columns, whole.columns - q)},
                          stream);
    }

  private:
    void set_packing(const Problem& p) {
        const Pair out = p.outputs();
        const std::size_t least = bytes({0, 1, 0, steps_.rows, 0, tile_columns}),
                          all = bytes({0, p.images, 0, out.rows, 0, out.columns});
        lines_ = device::Buffer(device(), std::min(std::max(room_bytes, least), all));
        packed_.entries = tables_.entries;
        packed_.kinds = tables_.kinds;
        packed_.width = tables_.width;
        packed_.by_channels = steps_.by_channels;
        packed_.line_step = static_cast<int>(steps_.by_channels ? 1 : p.stride.rows);
    }
    std::size_t bytes(const GemmPiece& piece) const { return packed_bytes(steps_, problem().groups, piece); }
    template <class T>
    std::byte* put(const std::vector<T>& values) {
        device::Buffer buffer(device(), values.size() * sizeof(T));
        device::upload(buffer, values.data(), buffer.size());
        kept_.push_back(std::move(buffer));
        return kept_.back().data();
    }

    void set_tables(const Problem& p) {
        Tables& t = tables_;
        t.steps = reinterpret_cast<const int4*>(put(steps_.steps));
        t.entries = reinterpret_cast<const int4*>(put(steps_.entries));
        t.weights = reinterpret_cast<const float*>(put(steps_.weights));
        t.tile_weights = steps_.tile_weights;
        std::copy_n(steps_.taps, 2, t.taps);
        std::copy_n(steps_.repeats, 2, t.repeats);
        t.rounds = static_cast<int>(steps_.steps.size()) / steps_.round();
        t.tap_hop = steps_.tap_hop;
        t.kinds = static_cast<int>(steps_.kinds());
        t.width = steps_.width;
        t.by_channels = steps_.by_channels;
        t.line_step = steps_.line_step;
        t.stages = steps_.stages;
        t.head_bytes = static_cast<unsigned>(head_bytes(steps_.exact));
        t.stage_bytes = static_cast<unsigned>(steps_.stage_bytes());
        t.tile_rows = steps_.rows;
        t.tap_bytes = static_cast<unsigned>(steps_.tap_bytes());
        t.weight_bytes = static_cast<unsigned>(steps_.taps[0]) * t.tap_bytes;
        t.line_bytes = static_cast<unsigned>(steps_.line_bytes());
        t.filter_tiles = blocks_of((p.group_filters() + tile_filters - 1) / tile_filters);
    }

    void queue(const Job& job, const GemmPiece& piece, cudaStream_t stream) const {
        Tables t = tables_;
        t.lines = reinterpret_cast<const unsigned char*>(lines_.data());
        t.tiles_across = blocks_of((piece.columns + tile_columns - 1) / tile_columns);
        t.tiles_down = blocks_of((piece.rows + steps_.rows - 1) / steps_.rows);
        t.tiles = blocks_of(tiles_of(steps_, job.groups, piece, t.filter_tiles));
        t.line_count = blocks_of(steps_.lines(piece.rows));
        t.image = piece.image;
        t.row = piece.row;
        t.rows = piece.rows;
        t.column = piece.column;
        t.pairs = job.out_steps.column == 1 && piece.column % 2 == 0 && job.out_count % 2 == 0 &&
                  aligned(job.out, job.out_steps.row, 8) && job.out_steps.channel % 2 == 0;
        t.vectors = job.in_steps.channel == 1 && aligned(job.in, job.in_steps.column, 16) &&
                    job.group_channels % 4 == 0;
        if (packs_) pack(job, piece, t, stream);
        const std::size_t shared = t.stages * steps_.stage_bytes() + t.head_bytes;
        product_<<<std::min(t.tiles, blocks_), threads_of(packs_), shared, stream>>>(job, t);
        device::check_launch("implicit_gemm");
    }

    void pack(const Job& job, const GemmPiece& piece, const Tables& t, cudaStream_t stream) const {
        Packed packed = packed_;
        packed.lines = reinterpret_cast<float*>(lines_.data());
        packed.count = t.line_count;
        packed.tiles = t.tiles_across;
        packed.image = piece.image;
        packed.first_row = piece.row * job.stride_rows - job.before_rows;
        packed.column = piece.column;
        packed.vectors = t.vectors;
        const unsigned blocks =
            blocks_of(Index{packed.tiles} * packed.count * packed.kinds * job.groups * piece.images);
        dispatch(job.type, [&](auto stored) {
            if (steps_.exact)
                pack_lines<true, decltype(stored)><<<blocks, pack_threads, 0, stream>>>(job, packed);
            else
                pack_lines<false, decltype(stored)><<<blocks, pack_threads, 0, stream>>>(job, packed);
        });
        device::check_launch("implicit_gemm");
    }

    void (*product_)(Job, Tables) = nullptr;
    unsigned blocks_;
    bool packs_ = false;
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
           p.spread().columns <= most && p.stride.rows <= 1024 && p.stride.columns <= 1024;
}

std::unique_ptr<Stage> make_wgmma_gemm(const Problem& p, const device::Device& d) {
    return std::make_unique<WgmmaGemmStage>(p, d);
}

// Tiles are whole in filters and columns, lines in entries. Slowdowns measured on one H200.
double wgmma_gemm_cost(const Problem& p, const device::Device& d) {
    const auto whole = [](Index n, Index step) {
        return static_cast<double>((n + step - 1) / step * step) / static_cast<double>(n);
    };
    const bool tf32 = p.precision == Precision::tf32, by_channels = p.group_channels() >= 8;
    const double entries =
        static_cast<double>(gemm_terms(p, stage_room(p, d))) / static_cast<double>(p.terms());
    const double wasted =
        whole(p.group_filters(), tile_filters) * whole(p.outputs().columns, tile_columns) * entries;
    if (!packs(p)) {
        // Outputs are written when a tile's products are done.
        const double written = 4.0 * static_cast<double>(p.out_shape().samples());
        return time_of(p, d, (tf32 ? 0.29 : 0.6) * wasted) + 1.5 * copy_time(d, written);
    }
    const double places = static_cast<double>(by_channels ? p.in_shape().samples()
                                                          : p.images * p.groups * p.terms() *
                                                                p.outputs().rows * p.outputs().columns);
    const double packed = places * entries * (tf32 ? 4 : 8);
    return time_of(p, d, (tf32 ? 0.21 : 0.52) * wasted) +
           (by_channels ? 1.2 : 2.2) * copy_time(d, 2 * packed);
}

}  // namespace convoy::conv2d::gpu
