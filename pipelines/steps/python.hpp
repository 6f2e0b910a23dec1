// How steps are told in Python: words for values, and the helpers that several steps use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipelines/step.hpp"

namespace convoy::pipelines::python {

/// 'text', with what Python asks to be escaped.
std::string quoted(std::string_view text);
/// [1, 2.5]
std::string list(const std::vector<double>& values);
std::string list(const std::vector<Index>& values);
/// "rate = rate / 4" on a line of its own, where what flows is a signal: an image keeps that of its signal.
inline std::string new_rate(const Flow& in, const std::string& change) {
    return in.signal ? "\nrate = rate " + change : "";
}
/// 'hann', ('kaiser', 8.6): a window as scipy.signal names it.
std::string window(std::string_view text);
/// x[:, 3:10], x[::4]: a slice along an axis.
std::string slice(int axis, const std::string& part);
/// The axis of channels of a signal with two axes; -1 where there is none.
int channel_axis(const Flow& flow);
/// What the planning of a step noted under `key`, or "".
std::string note(const Planned& planned, std::string_view key);

/// def extend(x, before, after, padding, axis)
extern const std::string_view extend;
/// def fir(x, taps, axis, mode, padding); uses extend
extern const std::string_view fir;
/// def read_taps(name)
extern const std::string_view read_taps;

}  // namespace convoy::pipelines::python
