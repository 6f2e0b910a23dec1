// Window functions, by the names and parameters of scipy.signal.get_window. A leaf that FIR design and
// spectra share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy::window {

/// symmetric: w[n] = w[M-1-n], for filter design. periodic: the first M of the symmetric window of M + 1, for
/// spectra.
enum class Symmetry { symmetric, periodic };

/// A window as it is typed: "hann", "kaiser,8.6", "tukey,0.25", "exponential,none,3"; a number alone is
/// Kaiser's beta. Empty parameters, and "none", take their defaults.
struct Spec {
    std::string name;  // SciPy's own name, whatever its spelling was: "hann" for "han"
    std::vector<std::optional<double>> parameters;

    /// What to type for it: "kaiser,8.6".
    std::string text() const;
};

/// Reads a window's name and parameters. Error (a wrong request) for an unknown name (the nearest is named),
/// a missing or senseless parameter, or too many.
Spec parse(std::string_view text);

/// The `length` samples of a window, peak 1 as SciPy has it. Lengths 0 and 1 give no samples and a 1. Error
/// (a wrong request) where the window is not defined for the length or symmetry.
std::vector<double> make(const Spec& spec, Index length, Symmetry symmetry);
std::vector<double> make(std::string_view text, Index length, Symmetry symmetry);

/// The names of all windows, with their parameters, for help: "kaiser,BETA".
std::vector<std::string> usages();

/// The modified Bessel function of the first kind and order 0; x at most 700.
double bessel_i0(double x);

}  // namespace convoy::window
