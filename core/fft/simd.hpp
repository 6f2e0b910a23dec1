// Highway, with the targets that the FFT is compiled for: vectors of a fixed size only (their transposes are
// written for 16, 32 and 64 bytes), and one target for each that differs in speed.
#pragma once

#ifndef HWY_DISABLED_TARGETS  // fewer still under the sanitizers
#define HWY_DISABLED_TARGETS \
    (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
