// Outputs in whose window loud samples stand beside very faint ones, summed in double.
//
// Where large terms cancel, the rounding of float32 taps alone can be more than the faint rest. So that a
// burst beside a faint signal costs no digits, an output is summed in double, with double taps, if its
// window's peak is more than 2^17 times (102 dB above) the peak of some 8 samples in a row in it that are not
// all zero. No 16-bit recording has such a window. Whether an output is one of these depends on the samples
// that it uses and on nothing else.
#pragma once

#include <memory>

#include "core/conv1d/cpu_stage.hpp"

namespace convoy::conv1d {

inline constexpr float wide_range = 0x1p17f;
inline constexpr Index wide_stretch = 8;  // samples in a row whose peak is their level
/// Whether the problem can have such outputs: short windows hold no stretch beside a burst, samples of 16
/// bits no such range, and sums in double need no help.
bool may_be_wide(const Problem& problem);

/// `kernel` (of block 1), with the outputs of such windows replaced; they are counted as outputs_float64.
std::unique_ptr<RowKernel<float>> with_wide_range(std::unique_ptr<RowKernel<float>> kernel,
                                                  const Problem& problem);

}  // namespace convoy::conv1d
