// Runs checks as other processors would: with each vector target that this one has and that was compiled.
#pragma once

#include <hwy/targets.h>

#include "tests/catch.hpp"

namespace convoy::test {

/// Calls f once for each vector target (AVX-512, AVX2, SSE2) as the one that Highway dispatches to.
template <class F>
void each_vector_target(F&& f) {
    for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target | HWY_STATIC_TARGET);
        hwy::GetChosenTarget().DeInit();  // the next dispatch chooses anew
        INFO("vector target " << hwy::TargetName(target));
        f();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
}

}  // namespace convoy::test
