// Colours for values: dark to light, so that a picture reads the same in print, in grey and to the
// colour-blind.
#pragma once

#include <array>
#include <cstdint>

namespace convoy::pipelines {

/// 256 colours as 0xffRRGGBB. Lightness rises evenly from indigo over crimson and orange to pale yellow, in
/// Oklab (B. Ottosson, "A perceptual color space for image processing", 2020).
const std::array<std::uint32_t, 256>& heat_colours();

}  // namespace convoy::pipelines
