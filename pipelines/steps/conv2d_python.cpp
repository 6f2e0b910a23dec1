#include "pipelines/steps/conv2d_python.hpp"

#include "pipelines/steps/python.hpp"

namespace convoy::pipelines {

namespace {

constexpr std::string_view definition =
    R"(def conv2d(x, kernel, before, size, stride, dilation, groups):
    """Planes, the last two axes of x, convolved with a kernel of rows x columns, or of filters x channels x rows x
    columns, which sums over the axis before them. `before`: rows and columns of zeros at the edges."""
    wide = np.zeros(kernel.shape[:-2] + tuple((n - 1) * d + 1 for n, d in zip(kernel.shape[-2:], dilation)))
    wide[..., ::dilation[0], ::dilation[1]] = kernel
    if kernel.ndim == 2:
        y = signal.oaconvolve(x, wide[(None,) * (x.ndim - 2)], axes=(-2, -1))
    else:
        x = x if x.ndim > 2 else x[None]
        filters, channels = len(kernel) // groups, kernel.shape[1]
        y = np.stack([sum(signal.oaconvolve(x[..., k // filters * channels + c, :, :],
                                            wide[k, c][(None,) * (x.ndim - 3)], axes=(-2, -1))
                          for c in range(channels)) for k in range(len(kernel))], axis=-3)
    for axis in (-2, -1):  # output i is where the kernel has moved i strides from the edge of the zeros
        at = wide.shape[axis] - 1 - before[axis] + np.arange(size[axis]) * stride[axis]
        there = (at >= 0) & (at < y.shape[axis])
        y = np.take(y, np.where(there, at, 0), axis=axis)
        y = y * (there[:, None] if axis == -2 else there)
    return y
)";

std::string pair(conv2d::Pair p) {
    return "(" + to_text(p.rows) + ", " + to_text(p.columns) + ")";
}

constexpr std::string_view load = R"(def load(name):
    """A kernel from .npy or file.h5:/path."""
    if name.endswith('.npy'):
        return np.load(name).astype(float)
    import h5py
    file, path = name.split(':', 1)
    with h5py.File(file, 'r') as f:
        return f[path][...].astype(float)
)";

}  // namespace

Python conv2d_python(const conv2d::Problem& problem, const io::Array& kernel, const std::string& file) {
    namespace py = python;
    std::string code;
    if (file.empty())
        code = "kernel = np.reshape(" + py::list(kernel.values) + ", " + py::list(kernel.shape) + ")\n";
    else
        code = "kernel = load(" + py::quoted(file) + ")\n";
    if (problem.channels_last) code += "x = np.moveaxis(x, -1, -3)\n";
    if (problem.correlate) code += "kernel = kernel[..., ::-1, ::-1]\n";
    code += "x = conv2d(x, kernel, before=" + pair(problem.before()) + ", size=" + pair(problem.outputs()) +
            ", stride=" + pair(problem.stride) + ", dilation=" + pair(problem.dilation) +
            ", groups=" + to_text(problem.groups) + ")\n";
    if (!problem.bias.empty())
        code += "x = x + np.reshape(" + py::list(problem.bias) +
                (kernel.shape.size() == 4 ? ", (-1, 1, 1))\n" : ", ())\n");
    if (problem.channels_last) code += "x = np.moveaxis(x, -3, -1)\n";
    if (problem.relu) code += "x = np.maximum(x, 0)\n";
    return {code, {}, {load, definition}};
}

}  // namespace convoy::pipelines
