// Numbers whose squares a type holds: sqrt(re^2 + im^2) beyond them is taken of numbers scaled by powers of
// two, which round nothing, so that a magnitude is held wherever its number is.
#pragma once

namespace convoy::spectrum {

/// Where max(|re|, |im|) is above `high`, both are multiplied by `down`, where it is below `low`, by `up`.
template <class T>
struct Squares;

template <>
struct Squares<float> {
    static constexpr float high = 0x1p60f, down = 0x1p-66f, low = 0x1p-40f, up = 0x1p80f;
};

template <>
struct Squares<double> {
    static constexpr double high = 0x1p500, down = 0x1p-520, low = 0x1p-400, up = 0x1p600;
};

}  // namespace convoy::spectrum
