// A build without CUDA has no device to measure.
#include "core/base/error.hpp"
#include "pipelines/bench/fir_cuda.hpp"

namespace convoy::pipelines::bench {

FirBench bench_fir_on_gpu(const FirBenchOptions&) {
    throw failed({}, "no GPU to measure on: " + device::gpu_remark(), "use --device " + device::cpu().id());
}

}  // namespace convoy::pipelines::bench
