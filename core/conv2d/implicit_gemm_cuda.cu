// The matrix product of gemm without its unrolled matrix, on tensor cores: those of Hopper where they suit
// (wgmma_gemm_cuda.hpp), else by instructions that older GPUs have too (implicit_gemm_cuda.cuh).
#include <algorithm>
#include <cmath>

#include "core/conv2d/implicit_gemm_cuda.cuh"
#include "core/conv2d/wgmma_gemm_cuda.hpp"

namespace convoy::conv2d {

namespace gpu {
namespace {

using namespace mma;

int up(Index n, int step) {
    return static_cast<int>((n + step - 1) / step * step);
}

class ImplicitGemmStage : public CudaStage {
  public:
    ImplicitGemmStage(const Problem& p, const device::Device& d) : CudaStage(p, d) {
        shapes_.padded_terms = up(p.terms(), depth);
        shapes_.padded_filters = up(p.group_filters(), tile_filters);
        shapes_.filter_tiles = shapes_.padded_filters / tile_filters;
        const auto terms = static_cast<std::size_t>(shapes_.padded_terms),
                   filters = static_cast<std::size_t>(shapes_.padded_filters);
        std::vector<double> weights(static_cast<std::size_t>(p.groups) * terms * filters, 0.0);
        std::vector<Term> table(terms, Term{0, static_cast<int>(p.extent.rows + p.before().rows), 0});
        std::size_t term = 0;
        for (Index c = 0; c < p.group_channels(); ++c)
            for (Index r = 0; r < p.taps.rows; ++r)
                for (Index s = 0; s < p.taps.columns; ++s, ++term) {
                    table[term] = {static_cast<int>(c), static_cast<int>(r * p.dilation.rows),
                                   static_cast<int>(s * p.dilation.columns)};
                    for (Index k = 0; k < p.filters; ++k) {
                        const auto set = static_cast<std::size_t>(k / p.group_filters()),
                                   one = static_cast<std::size_t>(k % p.group_filters());
                        weights[(set * terms + term) * filters + one] = p.weight(k, c, r, s);
                    }
                }
        weights_ = upload_values(d, SampleType::float32, weights);
        terms_ = device::Buffer(d, table.size() * sizeof(Term));
        device::upload(terms_, table.data(), table.size() * sizeof(Term));
        shapes_.weights = reinterpret_cast<const float*>(weights_.data());
        shapes_.terms = reinterpret_cast<const Term*>(terms_.data());
        use_shared_memory(reinterpret_cast<const void*>(kernel()), d);
    }

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        Shapes shapes = shapes_;
        shapes.outputs = job.images * job.out_rows * job.out_count;
        shapes.output_tiles = (shapes.outputs + tile_outputs - 1) / tile_outputs;
        const unsigned blocks = blocks_of(shapes.output_tiles * shapes.filter_tiles * job.groups);
        kernel()<<<blocks, threads, shared_bytes, stream>>>(job, shapes);
        device::check_launch("implicit_gemm");
    }

  private:
    void (*kernel() const)(Job, Shapes) {
        switch (problem().precision) {
            case Precision::tf32:
                return implicit_gemm<Precision::tf32>;
            case Precision::bf16:
                return implicit_gemm<Precision::bf16>;
            default:
                return implicit_gemm<Precision::float32>;
        }
    }

    Shapes shapes_{};
    device::Buffer weights_, terms_;
};

std::string cannot(const Problem& p, const device::Device& d) {
    if (wgmma_gemm_fits(p, d)) return {};
    if (p.precision == Precision::float64) return "it computes in float32, tf32 or bf16";
    if (p.in != SampleType::float32 || p.complex || !p.scaling.trivial())
        return "it takes real float32 samples as they are";
    if (d.attributes.compute_major < 8) return "the GPU has no TF32";
    if (d.attributes.shared_bytes_per_block < shared_bytes) return "its tiles do not fit into shared memory";
    if (p.precision == Precision::float32 && p.terms() < 64)
        return "for fewer than 64 terms tensor cores are less exact than float32";
    const Index most = Index{1} << 30;
    if (p.channels > most || p.spread().rows > most || p.spread().columns > most ||
        p.extent.rows + p.before().rows > most)
        return "its offsets do not fit into 32 bits";
    return {};
}

// Tiles are whole in filters and terms.
std::optional<double> cost(const Problem& p, const device::Device& d) {
    if (wgmma_gemm_fits(p, d)) return wgmma_gemm_cost(p, d);
    const double filters = static_cast<double>(p.group_filters()), terms = static_cast<double>(p.terms());
    const double wasted = up(p.group_filters(), tile_filters) / filters * (up(p.terms(), depth) / terms);
    const double slowdown = p.precision == Precision::float32 ? 2.8 : 2.1;  // of FMA, measured on one H200
    return time_of(p, d, slowdown * wasted);
}

}  // namespace
}  // namespace gpu

extern constinit const Strategy implicit_gemm_cuda{
    "implicit_gemm",
    device::Backend::cuda,
    "a product on tensor cores, samples found on the fly",
    gpu::cannot,
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        if (gpu::wgmma_gemm_fits(p, d)) return gpu::make_wgmma_gemm(p, d);
        return std::make_unique<gpu::ImplicitGemmStage>(p, d);
    },
    gpu::cost};

}  // namespace convoy::conv2d
