// One thread an output, samples and weights straight from global memory: what one writes first.
#include "core/conv2d/fetch_cuda.cuh"

namespace convoy::conv2d {

namespace gpu {
namespace {

constexpr int threads = 256;

template <class A, class In>
__global__ void __launch_bounds__(threads) naive(Job job, Index total) {
    const Index i = Index{blockIdx.x} * threads + threadIdx.x;
    if (i >= total) return;
    const Index column = i % job.out_count;
    Index rest = i / job.out_count;
    const int part = static_cast<int>(rest % job.parts);
    rest /= job.parts;
    const Index row = rest % job.out_rows;
    rest /= job.out_rows;
    const int filters = job.groups * job.group_filters;
    const int filter = static_cast<int>(rest % filters);
    const Index image = rest / filters;
    const int channel = filter / job.group_filters * job.group_channels;
    const Index top = row * job.stride_rows - job.before_rows;
    const Index left = (job.out_first + column) * job.stride_columns - job.before_columns;
    const A* w = static_cast<const A*>(job.weights) +
                 Index{filter} * job.group_channels * job.tap_rows * job.tap_columns;
    A total_sum = 0, chain = 0;
    int summed = 0;
    for (int c = 0; c < job.group_channels; ++c)
        for (int r = 0; r < job.tap_rows; ++r) {
            const Index at = top + Index{r} * job.dilation_rows;
            if (at < 0 || at >= job.rows) {
                w += job.tap_columns;
                continue;
            }
            const Line<A, In> line(job, image, channel + c, at, part);
            for (int s = 0; s < job.tap_columns; ++s) {
                chain += *w++ * line.at(job, left + Index{s} * job.dilation_columns);
                if (++summed < job.chain) continue;
                total_sum += chain;
                chain = 0;
                summed = 0;
            }
        }
    finish(job, image, filter, row, column, part, total_sum + chain);
}

class NaiveStage : public CudaStage {
  public:
    using CudaStage::CudaStage;

  protected:
    void launch(const Job& job, cudaStream_t stream) override {
        const Index total = job.images * problem().filters * job.out_rows * job.parts * job.out_count;
        with_types(problem(), [&](auto arithmetic, auto stored) {
            naive<decltype(arithmetic), decltype(stored)>
                <<<blocks_of((total + threads - 1) / threads), threads, 0, stream>>>(job, total);
        });
        device::check_launch("naive");
    }
};

}  // namespace
}  // namespace gpu

extern constinit const Strategy naive_cuda{
    "naive",
    device::Backend::cuda,
    "one thread an output, everything from global memory",
    [](const Problem&, const device::Device&) { return std::string(); },
    [](const Problem& p, const device::Device& d) -> std::unique_ptr<Stage> {
        return std::make_unique<gpu::NaiveStage>(p, d);
    },
    [](const Problem& p, const device::Device& d) { return std::optional(gpu::time_of(p, d, 60)); }};

}  // namespace convoy::conv2d
