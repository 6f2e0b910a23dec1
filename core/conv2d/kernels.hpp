// Kernels by name.
#pragma once

#include <string_view>
#include <vector>

#include "core/conv2d/conv2d.hpp"

namespace convoy::conv2d {

/// A kernel R x S that acts on each plane.
struct Kernel {
    Pair extent;
    std::vector<double> values;
};

/// The names of built-in kernels, with their parameters, for help and messages.
inline constexpr std::string_view kernel_names =
    "sobel-x, sobel-y, gaussian:SIGMA, log:SIGMA, box:N, gabor:WAVELENGTH,DEGREES,SIGMA,ASPECT";

/// Whether `text` starts with the name of a built-in kernel: "gaussian", "box:3,5".
bool names_kernel(std::string_view text);

/// The kernel that NAME[:PARAM,...] means, to be correlated with an image (columns to the right, rows
/// downwards):
///   sobel-x, sobel-y              scipy.ndimage.sobel along columns, along rows: 1 2 1 across, -1 0 1 along
///   gaussian[:SIGMA[,COLUMNS]]    scipy.ndimage.gaussian_filter (default 1; cut off at 4 sigma)
///   log[:SIGMA[,COLUMNS]]         scipy.ndimage.gaussian_laplace
///   box[:N[,COLUMNS]]             scipy.ndimage.uniform_filter: the mean (default 3)
///   gabor[:WAVELENGTH[,DEGREES[,SIGMA[,ASPECT]]]]   a wave of that length (default 8) across lines at that
///   angle to the
///                                 rows' direction (0: along columns), under a Gaussian of SIGMA (default
///                                 0.56 wavelengths, one octave) along the wave and SIGMA / ASPECT (default
///                                 1) across, of area 1 and cut off at 3 sigma: the real part of
///                                 skimage.filters.gabor_kernel
/// Error (a wrong request) for other names and parameters.
Kernel make_kernel(std::string_view text);

}  // namespace convoy::conv2d
