#include "pipelines/steps/python.hpp"

#include <algorithm>

#include "core/base/quantity.hpp"
#include "core/window/window.hpp"

namespace convoy::pipelines::python {

std::string quoted(std::string_view text) {
    std::string word = "'";
    for (const char c : text) {
        if (c == '\\' || c == '\'') word += '\\';
        if (c == '\n')
            word += "\\n";
        else
            word += c;
    }
    return word + "'";
}

namespace {

template <class T>
std::string list_of(const std::vector<T>& values) {
    std::string text = "[";
    for (const T& value : values)
        text += (text.size() > 1 ? ", " : "") + to_text(value);
    return text + "]";
}

}  // namespace

std::string list(const std::vector<double>& values) {
    return list_of(values);
}
std::string list(const std::vector<Index>& values) {
    return list_of(values);
}

std::string window(std::string_view text) {
    const std::string spec = window::parse(text).text();
    const auto words = split(spec, ',');
    if (words.size() == 1) return python::quoted(words[0]);
    std::string tuple = "(" + python::quoted(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i)
        tuple += ", " + words[i];
    return tuple + ")";
}

std::string slice(int axis, const std::string& part) {
    std::string text = "x[";
    for (int a = 0; a < axis; ++a)
        text += ":, ";
    return text + part + "]";
}

int channel_axis(const Flow& flow) {
    return flow.dims.size() != 2 ? -1 : flow.time_axis == 0 ? 1 : 0;
}

std::string note(const Planned& planned, std::string_view key) {
    for (const auto& [name, value] : planned.notes)
        if (name == key) return value;
    return {};
}

const std::string_view extend = R"(def extend(x, before, after, padding, axis):
    """x with samples beyond its ends: zero, reflect, edge or odd (turned about the end point)."""
    widths = [(0, 0)] * x.ndim
    widths[axis] = (before, after)
    if padding == 'zero':
        return np.pad(x, widths)
    if padding == 'odd':
        return np.pad(x, widths, mode='reflect', reflect_type='odd')
    return np.pad(x, widths, mode=padding)
)";

const std::string_view fir = R"(def fir(x, taps, axis, mode='same', padding='zero'):
    """x convolved with taps along an axis."""
    n, m = x.shape[axis], len(taps)
    first = {'full': 0, 'same': (m - 1) // 2, 'valid': m - 1}[mode]
    count = {'full': n + m - 1, 'same': n, 'valid': n - m + 1}[mode]
    x = extend(x, m - 1, m - 1, padding, axis)
    shape = [1] * x.ndim
    shape[axis] = m
    y = signal.oaconvolve(x, np.reshape(taps, shape), mode='valid', axes=axis)
    return np.take(y, np.arange(first, first + count), axis=axis)
)";

const std::string_view read_taps = R"(def read_taps(name):
    """Taps from .npy, file.h5:/path, or text with # comments."""
    if name.endswith('.npy'):
        return np.load(name).astype(float).ravel()
    if ':/' in name:
        import h5py
        file, path = name.split(':', 1)
        with h5py.File(file, 'r') as f:
            return f[path][...].astype(float).ravel()
    with open(name) as lines:
        words = ' '.join(line.split('#')[0] for line in lines).replace(',', ' ').replace(';', ' ').split()
    return np.array(words, float)
)";

}  // namespace convoy::pipelines::python
