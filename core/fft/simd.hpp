// Highway, with the targets that the FFT is compiled for: vectors of a fixed size only (their transposes are
// written for 16, 32 and 64 bytes).
#pragma once

#ifndef HWY_DISABLED_TARGETS  // where all of the program is compiled for fewer
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
