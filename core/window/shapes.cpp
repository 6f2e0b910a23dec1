// Windows that are a formula for each sample. Sources: F. J. Harris, "On the use of windows for harmonic
// analysis with the discrete Fourier transform", Proc. IEEE 66 (1978); A. H. Nuttall, IEEE Trans. ASSP 29
// (1981); conventions (ends, even lengths) as in scipy.signal.windows.
#include "core/window/shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/window/window.hpp"

namespace convoy::window {

namespace {

using std::numbers::pi;

// f(distance from the middle in samples, index) for each sample.
template <class F>
Samples from_centre(Index m, F f) {
    Samples w(static_cast<std::size_t>(m));
    for (Index i = 0; i < m; ++i) {
        const double t = static_cast<double>(i) - 0.5 * static_cast<double>(m - 1);
        w[static_cast<std::size_t>(i)] = f(t);
    }
    return w;
}

// sum_k a[k] cos(k x), x from -pi to pi over the window.
template <class Coefficients>
Samples cosine_sum(Index m, const Coefficients& a) {
    return from_centre(m, [&](double t) {
        const double x = 2 * pi * t / static_cast<double>(m - 1);
        double sum = 0;
        for (std::size_t k = 0; k < a.size(); ++k)
            sum += a[k] * std::cos(static_cast<double>(k) * x);
        return sum;
    });
}

}  // namespace

double bessel_i0(double x) {
    // The power series: every term is positive, so nothing cancels.
    const double q = 0.25 * x * x;
    double term = 1, sum = 1;
    for (double k = 1; term > 1e-17 * sum; ++k) {
        term *= q / (k * k);
        sum += term;
    }
    return sum;
}

Samples boxcar(Index m, Arguments) {
    return Samples(static_cast<std::size_t>(m), 1.0);
}

Samples triang(Index m, Arguments) {
    const double base = static_cast<double>(m % 2 == 0 ? m : m + 1);
    return from_centre(m, [&](double t) { return 1 - 2 * std::abs(t) / base; });
}

Samples bartlett(Index m, Arguments) {
    return from_centre(m, [&](double t) { return 1 - 2 * std::abs(t) / static_cast<double>(m - 1); });
}

Samples parzen(Index m, Arguments) {
    const double half = 0.5 * static_cast<double>(m);
    return from_centre(m, [&](double t) {
        const double x = std::abs(t) / half;
        const bool inner = std::abs(t) <= 0.25 * static_cast<double>(m - 1);
        return inner ? 1 - 6 * x * x * (1 - x) : 2 * (1 - x) * (1 - x) * (1 - x);
    });
}

Samples bohman(Index m, Arguments) {
    Samples w = from_centre(m, [&](double t) {
        const double x = 2 * std::abs(t) / static_cast<double>(m - 1);
        return (1 - x) * std::cos(pi * x) + std::sin(pi * x) / pi;
    });
    w.front() = w.back() = 0;
    return w;
}

Samples barthann(Index m, Arguments) {
    return from_centre(m, [&](double t) {
        const double x = std::abs(t) / static_cast<double>(m - 1);
        return 0.62 - 0.48 * x + 0.38 * std::cos(2 * pi * x);
    });
}

Samples cosine(Index m, Arguments) {
    return from_centre(m, [&](double t) { return std::cos(pi * t / static_cast<double>(m)); });
}

Samples lanczos(Index m, Arguments) {
    return from_centre(m, [&](double t) {
        const double x = 2 * pi * t / static_cast<double>(m - 1);
        return t == 0 ? 1.0 : std::sin(x) / x;
    });
}

Samples general_hamming(Index m, Arguments p) {
    const double alpha = p.get(0, 0.5);
    return cosine_sum(m, std::array{alpha, 1 - alpha});
}
Samples hann(Index m, Arguments) {
    return cosine_sum(m, std::array{0.5, 0.5});
}
Samples hamming(Index m, Arguments) {
    return cosine_sum(m, std::array{0.54, 0.46});
}
Samples blackman(Index m, Arguments) {
    return cosine_sum(m, std::array{0.42, 0.5, 0.08});
}
Samples nuttall(Index m, Arguments) {
    return cosine_sum(m, std::array{0.3635819, 0.4891775, 0.1365995, 0.0106411});
}
Samples blackmanharris(Index m, Arguments) {
    return cosine_sum(m, std::array{0.35875, 0.48829, 0.14128, 0.01168});
}
Samples flattop(Index m, Arguments) {
    return cosine_sum(m, std::array{0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368});
}
Samples general_cosine(Index m, Arguments p) {
    Samples a(p.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = p.get(i, 0);
    return cosine_sum(m, a);
}

Samples tukey(Index m, Arguments p) {
    const double share = p.get(0, 0.5);
    if (share <= 0) return boxcar(m, p);
    const double alpha = std::min(share, 1.0);
    const double flat = std::floor(0.5 * alpha * static_cast<double>(m - 1));  // the last sample of the taper
    return from_centre(m, [&](double t) {
        const double from_end = 0.5 * static_cast<double>(m - 1) - std::abs(t);
        if (from_end > flat) return 1.0;
        return 0.5 * (1 - std::cos(2 * pi * from_end / (alpha * static_cast<double>(m - 1))));
    });
}

Samples kaiser(Index m, Arguments p) {
    const double beta = p.get(0, 0);
    const double peak = bessel_i0(beta);
    const double alpha = 0.5 * static_cast<double>(m - 1);
    return from_centre(m, [&](double t) {
        const double x = t / alpha;
        return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - x * x))) / peak;
    });
}

Samples kaiser_bessel_derived(Index m, Arguments p) {
    Samples sums = kaiser(m / 2 + 1, p);
    for (std::size_t i = 1; i < sums.size(); ++i)
        sums[i] += sums[i - 1];
    Samples w(static_cast<std::size_t>(m));
    for (std::size_t i = 0; i < w.size() / 2; ++i)
        w[i] = w[w.size() - 1 - i] = std::sqrt(sums[i] / sums.back());
    return w;
}

Samples gaussian(Index m, Arguments p) {
    const double deviation = p.get(0, 1);
    return from_centre(m, [&](double t) { return std::exp(-t * t / (2 * deviation * deviation)); });
}

Samples general_gaussian(Index m, Arguments p) {
    const double power = p.get(0, 1), width = p.get(1, 1);
    return from_centre(m,
                       [&](double t) { return std::exp(-0.5 * std::pow(std::abs(t / width), 2 * power)); });
}

Samples exponential(Index m, Arguments p) {
    const double middle = 0.5 * static_cast<double>(m - 1);
    const double centre = p.get(0, middle), decay = p.get(1, 1);
    return from_centre(m, [&](double t) { return std::exp(-std::abs(t + middle - centre) / decay); });
}

}  // namespace convoy::window
