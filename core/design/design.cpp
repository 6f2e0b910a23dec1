#include "core/design/design.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/window/window.hpp"

namespace convoy::design {

namespace {

using std::numbers::pi;

constexpr Index longest = Index{1} << 24;  // taps; a longer one is a slip in the transition

double sinc(double x) {
    return x == 0 ? 1 : std::sin(pi * x) / (pi * x);
}

std::string hz(double f) {
    return to_text(f) + " Hz";
}

bool passes_nyquist(Band band) {
    return band == Band::highpass || band == Band::bandstop;
}

void check_band(Band band, std::span<const double> cutoffs, double rate) {
    const std::string name(name_of(band));
    const std::size_t wanted = band == Band::lowpass || band == Band::highpass ? 1 : 2;
    if (!(rate > 0 && std::isfinite(rate)))
        throw usage_error("a " + name + " filter needs a sampling rate, not " + hz(rate), "give --rate");
    if (cutoffs.size() != wanted)
        throw usage_error(name + " takes " +
                              (wanted == 1 ? "one cut-off frequency" : "two cut-off frequencies") + ", not " +
                              to_text(static_cast<Index>(cutoffs.size())),
                          wanted == 1 ? "write --" + name + " HZ" : "write --" + name + " LO,HI");
    for (double f : cutoffs) {
        if (!(f > 0)) throw usage_error("the " + name + " cut-off " + hz(f) + " is not above 0 Hz");
        if (!(f < 0.5 * rate))
            throw usage_error("the " + name + " cut-off " + hz(f) + " is not below the Nyquist frequency " +
                                  hz(0.5 * rate) + " of a signal at " + hz(rate),
                              "choose a lower one");
    }
    if (wanted == 2 && !(cutoffs[0] < cutoffs[1]))
        throw usage_error("the " + name + " cut-offs " + hz(cutoffs[0]) + " and " + hz(cutoffs[1]) +
                              " are not in rising order",
                          "write --" + name + " LO,HI");
}

// Edges of the pass bands, as fractions of the Nyquist frequency: pairs of left, right.
std::vector<double> pass_edges(Band band, std::span<const double> cutoffs, double rate) {
    std::vector<double> edges;
    if (band == Band::lowpass || band == Band::bandstop) edges.push_back(0);
    for (double f : cutoffs)
        edges.push_back(f / (0.5 * rate));
    if (passes_nyquist(band)) edges.push_back(1);
    return edges;
}

Index length_for(const Request& request, double transition) {
    if (!(transition > 0))
        throw usage_error("the transition of " + hz(transition) + " is not above 0 Hz",
                          "give a wider --transition");
    if (transition >= 0.5 * request.rate)
        throw usage_error("the transition of " + hz(transition) + " is not below the Nyquist frequency " +
                              hz(0.5 * request.rate),
                          "give a narrower --transition");
    const Kaiser order = kaiserord(request.atten_db, transition / (0.5 * request.rate));
    if (order.numtaps > longest)
        throw usage_error("a transition of " + hz(transition) + " at " + hz(request.rate) + " needs " +
                              to_text(order.numtaps) + " taps, more than " + to_text(longest),
                          "give a wider --transition, or decimate first");
    return order.numtaps | 1;
}

}  // namespace

std::string_view name_of(Band band) {
    switch (band) {
        case Band::lowpass:
            return "lowpass";
        case Band::highpass:
            return "highpass";
        case Band::bandpass:
            return "bandpass";
        default:
            return "bandstop";
    }
}

double kaiser_beta(double atten_db) {
    if (atten_db > 50) return 0.1102 * (atten_db - 8.7);
    if (atten_db > 21) return 0.5842 * std::pow(atten_db - 21, 0.4) + 0.07886 * (atten_db - 21);
    return 0;
}

double kaiser_atten(Index numtaps, double width) {
    return 2.285 * static_cast<double>(numtaps - 1) * pi * width + 7.95;
}

Kaiser kaiserord(double atten_db, double width) {
    if (!(atten_db >= 8 && atten_db <= 1000))
        throw usage_error("an attenuation of " + to_text(atten_db) + " dB is outside Kaiser's formula",
                          "choose --atten-db between 8 and 1000");
    const double numtaps = std::ceil((atten_db - 7.95) / 2.285 / (pi * width) + 1);
    return {static_cast<Index>(std::min(numtaps, 9e15)), kaiser_beta(atten_db)};
}

double default_transition(std::span<const double> cutoffs, double rate) {
    double least = std::numeric_limits<double>::infinity();
    for (double f : cutoffs)
        least = std::min({least, std::max(f / 4, 2.0), f, 0.5 * rate - f});
    return least;
}

std::vector<double> firwin(Index numtaps, std::span<const double> cutoffs, Band band, std::string_view window,
                           double rate, bool scale) {
    check_band(band, cutoffs, rate);
    if (numtaps < 1)
        throw usage_error("a filter of " + to_text(numtaps) + " taps does nothing", "give at least 1");
    if (passes_nyquist(band) && numtaps % 2 == 0)
        throw usage_error("a " + std::string(name_of(band)) + " filter needs an odd number of taps, not " +
                          to_text(numtaps));
    const std::vector<double> edges = pass_edges(band, cutoffs, rate);
    std::vector<double> taps = window::make(window, numtaps, window::Symmetry::symmetric);
    const double middle = 0.5 * static_cast<double>(numtaps - 1);
    // Unit gain at 0 Hz, at the Nyquist frequency, or in the middle of the first pass band.
    const double unit = edges[0] == 0 ? 0 : edges[1] == 1 ? 1 : 0.5 * (edges[0] + edges[1]);
    double gain = 0;
    for (std::size_t k = 0; k < taps.size(); ++k) {
        const double t = static_cast<double>(k) - middle;
        double ideal = 0;
        for (std::size_t b = 0; b < edges.size(); b += 2)
            ideal += edges[b + 1] * sinc(edges[b + 1] * t) - edges[b] * sinc(edges[b] * t);
        taps[k] *= ideal;
        gain += taps[k] * std::cos(pi * t * unit);
    }
    if (scale)
        for (double& tap : taps)
            tap /= gain;
    if (std::any_of(taps.begin(), taps.end(), [](double tap) { return !std::isfinite(tap); }))
        throw usage_error("the window " + std::string(window) + " of " + to_text(numtaps) +
                              " taps leaves nothing in the pass band that could be scaled to a gain of 1",
                          "give a larger --numtaps or another --window");
    return taps;
}

Filter windowed_sinc(const Request& request) {
    check_band(request.band, request.cutoffs, request.rate);
    const double nyquist = 0.5 * request.rate;
    const double beta = kaiserord(request.atten_db, 1).beta;
    Filter filter;
    filter.window = request.window.empty() ? "kaiser," + to_text(beta) : window::parse(request.window).text();
    Index length = 0;
    if (request.numtaps) {
        length = *request.numtaps;
        if (length > longest)
            throw usage_error(to_text(length) + " taps are more than " + to_text(longest),
                              "give a smaller --numtaps");
        filter.lengthened = passes_nyquist(request.band) && length >= 1 && length % 2 == 0;
        length += filter.lengthened ? 1 : 0;
        filter.transition =
            length > 1 ? nyquist * (request.atten_db - 7.95) / (2.285 * pi * static_cast<double>(length - 1))
                       : nyquist;
    } else {
        filter.transition = request.transition.value_or(default_transition(request.cutoffs, request.rate));
        length = length_for(request, filter.transition);
    }
    filter.taps = firwin(length, request.cutoffs, request.band, filter.window, request.rate);
    return filter;
}

std::vector<double> decimation_lowpass(Index q) {
    const double cutoff = 1 / static_cast<double>(q);
    if (q <= 1) return {1.0};
    return firwin(20 * q + 1, {&cutoff, 1}, Band::lowpass, "hamming", 2);
}

std::vector<double> response_db(std::span<const double> taps, std::span<const double> frequencies,
                                double rate) {
    std::vector<double> decibels;
    decibels.reserve(frequencies.size());
    for (double f : frequencies) {
        const std::complex<double> back = std::polar(1.0, -2 * pi * f / rate);
        double re = 0, im = 0;  // Horner's rule, from the last tap
        for (std::size_t k = taps.size(); k-- > 0;) {
            const double next = re * back.real() - im * back.imag() + taps[k];
            im = re * back.imag() + im * back.real();
            re = next;
        }
        decibels.push_back(20 * std::log10(std::hypot(re, im)));
    }
    return decibels;
}

}  // namespace convoy::design
