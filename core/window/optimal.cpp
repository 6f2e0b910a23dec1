// Windows that are the best in some sense, and need more than a formula a sample: Dolph-Chebyshev (narrowest
// main lobe for a level of side lobes), Taylor (nearly that, with side lobes that fall off), and the first
// discrete prolate spheroidal sequence (most energy within a band).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/window/shapes.hpp"

namespace convoy::window {

namespace {

using std::numbers::pi;

using Long = long double;  // for steps that lose digits near 1 or between close eigenvalues

// The Chebyshev polynomial of degree n at x.
Long chebyshev(Long n, Long x) {
    if (std::abs(x) <= 1) return std::cos(n * std::acos(x));
    const Long sign = x < 0 && std::fmod(n, 2) != 0 ? -1 : 1;
    return sign * std::cosh(n * std::acosh(std::abs(x)));
}

// The largest eigenvalue of the symmetric tridiagonal matrix (d, e), by bisection: below it, d - x has a
// negative pivot.
Long largest_eigenvalue(const std::vector<Long>& d, const std::vector<Long>& e) {
    const auto none_above = [&](Long x) {
        Long pivot = x - d[0];
        for (std::size_t i = 1; pivot > 0 && i < d.size(); ++i)
            pivot = x - d[i] - e[i - 1] * e[i - 1] / pivot;
        return pivot > 0;
    };
    Long low = d[0], high = d[0];
    for (std::size_t i = 0; i < d.size(); ++i) {
        const Long radius = (i > 0 ? e[i - 1] : 0) + (i + 1 < d.size() ? e[i] : 0);
        low = std::min(low, d[i] - radius);
        high = std::max(high, d[i] + radius);
    }
    for (;;) {
        const Long middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) return high;
        (none_above(middle) ? high : low) = middle;
    }
}

}  // namespace

// C. L. Dolph, Proc. IRE 34 (1946): the window's transform is a Chebyshev polynomial, sampled and transformed
// back.
Samples chebwin(Index m, Arguments p) {
    const Long order = static_cast<Long>(m - 1);
    const Long beta =
        std::cosh(std::acosh(std::pow(Long{10}, static_cast<Long>(p.get(0, 100)) / 20)) / order);
    const Index period = 2 * m;  // angles are whole multiples of pi / m
    Samples cosines(static_cast<std::size_t>(period)), spectrum(static_cast<std::size_t>(m));
    for (Index k = 0; k < period; ++k) {
        const Long value = std::cos(std::numbers::pi_v<Long> * static_cast<Long>(k) / static_cast<Long>(m));
        cosines[static_cast<std::size_t>(k)] = static_cast<double>(value);
        if (k < m)
            spectrum[static_cast<std::size_t>(k)] = static_cast<double>(chebyshev(order, beta * value));
    }
    Samples w(static_cast<std::size_t>(m));
    for (Index i = 0; i < (m + 1) / 2; ++i) {
        const Index step = 2 * i - (m - 1);  // twice the distance from the middle
        double sum = 0;
        Index angle = 0;
        for (double value : spectrum) {
            sum += value * cosines[static_cast<std::size_t>(angle)];
            angle = (angle + step + period) % period;
        }
        w[static_cast<std::size_t>(i)] = w[static_cast<std::size_t>(m - 1 - i)] = sum;
    }
    const double peak = *std::max_element(w.begin(), w.end());
    for (double& value : w)
        value /= peak;
    return w;
}

// T. T. Taylor, IRE Trans. Antennas Propag. 3 (1955); W. Carrara, R. Goodman, R. Majewski, "Spotlight
// Synthetic Aperture Radar" (1995), appendix D.2.
Samples taylor(Index m, Arguments p) {
    const double nbar = p.get(0, 4), level = p.get(1, 30);
    const bool normalized = p.get(2, 1) != 0;
    const double a = std::acosh(std::pow(10.0, level / 20)) / pi;
    const double stretch = nbar * nbar / (a * a + (nbar - 0.5) * (nbar - 0.5));
    Samples f;
    for (double k = 1; k < nbar; ++k) {
        double above = 1, below = 1;
        for (double j = 1; j < nbar; ++j) {
            above *= 1 - k * k / stretch / (a * a + (j - 0.5) * (j - 0.5));
            if (j != k) below *= 1 - k * k / (j * j);
        }
        f.push_back((std::fmod(k, 2) != 0 ? 1 : -1) * above / (2 * below));
    }
    const auto value = [&](double t) {
        double sum = 1;
        for (std::size_t k = 0; k < f.size(); ++k)
            sum += 2 * f[k] * std::cos(2 * pi * static_cast<double>(k + 1) * t / static_cast<double>(m));
        return sum;
    };
    const double scale = normalized ? 1 / value(0) : 1;
    Samples w(static_cast<std::size_t>(m));
    for (Index i = 0; i < m; ++i)
        w[static_cast<std::size_t>(i)] =
            scale * value(static_cast<double>(i) - 0.5 * static_cast<double>(m) + 0.5);
    return w;
}

// D. Slepian, Bell Syst. Tech. J. 57 (1978); D. B. Percival and A. T. Walden, "Spectral Analysis for Physical
// Applications" (1993), section 8.3: the sequence is an eigenvector of a tridiagonal matrix too.
Samples dpss(Index m, Arguments p) {
    const std::size_t n = static_cast<std::size_t>(m);
    const Long size = static_cast<Long>(m);
    const Long nw = p.get(0, 4);
    const Long band = std::cos(2 * std::numbers::pi_v<Long> * nw / size);
    std::vector<Long> d(n), e(n - 1), pivot(n), v(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
        const Long t = (size - 1 - 2 * static_cast<Long>(i)) / 2;
        d[i] = t * t * band;
        if (i > 0) e[i - 1] = static_cast<Long>(i) * (size - static_cast<Long>(i)) / 2;
    }
    // Inverse iteration. Above the largest eigenvalue, lambda - T is positive definite, so it needs no
    // pivoting.
    const Long top = largest_eigenvalue(d, e);
    pivot[0] = top - d[0];
    for (std::size_t i = 1; i < n; ++i)
        pivot[i] = top - d[i] - e[i - 1] * e[i - 1] / pivot[i - 1];
    for (int step = 0; step < 4; ++step) {
        for (std::size_t i = 1; i < n; ++i)
            v[i] += v[i - 1] * e[i - 1] / pivot[i - 1];
        v[n - 1] /= pivot[n - 1];
        for (std::size_t i = n - 1; i-- > 0;)
            v[i] = (v[i] + e[i] * v[i + 1]) / pivot[i];
        const Long peak = *std::max_element(v.begin(), v.end());
        for (Long& x : v)
            x /= peak;
    }
    // An even length has no sample at the peak: the usual estimate of what is missing.
    const Long correction = m % 2 == 0 ? size * size / (size * size + nw) : 1;
    Samples w(n);
    for (std::size_t i = 0; i < n; ++i)
        w[i] = static_cast<double>(v[i] * correction);
    return w;
}

}  // namespace convoy::window
