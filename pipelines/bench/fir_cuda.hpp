// bench_fir on a GPU: device time by events, the samples already there.
#pragma once

#include "pipelines/bench/fir.hpp"

namespace convoy::pipelines::bench {

/// As bench_fir, for a device of backend cuda. The floor of a row is the longer of a device copy of the same
/// bytes and the products at the rate of FMA, both measured in this run.
FirBench bench_fir_on_gpu(const FirBenchOptions& options);

}  // namespace convoy::pipelines::bench
