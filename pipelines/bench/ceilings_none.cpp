// A build without CUDA has no GPU to measure.
#include "pipelines/bench/ceilings.hpp"

namespace convoy::pipelines::bench {

Figures gpu_ceilings(const CeilingOptions&) {
    return {};
}

}  // namespace convoy::pipelines::bench
