#include "core/spectrum/spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/spectrum/long_average.hpp"
#include "core/spectrum/stage.hpp"

namespace convoy::spectrum {

Index Problem::transforms() const {
    const Index extended = shape.frames + (centered ? nfft / 2 * 2 : 0);
    const Index longest = centered ? nfft : window_length();
    return extended < longest ? 0 : (extended - longest) / hop + 1;
}

Index Problem::outputs() const {
    const Index each = average ? average->frames : 1;
    return (transforms() + each - 1) / each;
}

Span Problem::transforms_of(Span out) const {
    if (!average) return out;
    const Index first = out.first * average->frames;
    return {first, std::min(out.end() * average->frames, transforms()) - first};
}

Quantity Problem::stored() const {
    const auto alone = [](const Band& b) { return b.weights.size() == 1 && b.weights[0] == 1; };
    const bool root =
        decibels && !average && is_power(quantity) && std::all_of(bands.begin(), bands.end(), alone);
    return root ? Quantity::magnitude : quantity;
}

Problem::Logarithm Problem::logarithm() const {
    const double factor = quantity == Quantity::magnitude ? 20 : 10;
    return {stored() == Quantity::magnitude ? 20.0 : 10.0,
            decibels->offset - factor * std::log10(decibels->reference), decibels->floor};
}

double Problem::gain(Index bin) const {
    if (quantity != Quantity::density && quantity != Quantity::spectrum) return 1;
    double sum = 0, squares = 0;
    for (double w : window) {
        sum += w;
        squares += w * w;
    }
    const bool alone = complex || bin == 0 || 2 * bin == nfft;  // no bin at a negative frequency beside it
    const double gain = (alone ? 1 : 2) / (quantity == Quantity::density ? rate * squares : sum * sum);
    return stored() == Quantity::magnitude ? std::sqrt(gain) : gain;
}

void check(const Problem& p) {
    const Index length = p.window_length();
    if (p.nfft < 1 || p.nfft > Index{1} << 28)
        throw usage_error("--nfft " + to_text(p.nfft) + " makes no sense", "choose 1 to 268435456");
    if (length < 1)
        throw usage_error("a window of 0 samples sees nothing", "give a --window-length of 1 or more");
    if (length > p.nfft)
        throw usage_error(
            "the window of " + to_text(length) + " samples is longer than --nfft " + to_text(p.nfft),
            "raise --nfft or shorten --window-length");
    if (p.hop < 1) throw usage_error("--hop " + to_text(p.hop) + " does not move", "give 1 sample or more");
    if (p.average && p.average->frames < 1)
        throw usage_error("an average over " + to_text(p.average->frames) + " frames makes no sense",
                          "give a longer --average");
    if (p.average && p.average->kind == Average::Kind::percentile) {
        const double bytes = 8 * static_cast<double>(p.bins()) * static_cast<double>(p.average->frames);
        if (!(p.average->percent >= 0 && p.average->percent <= 100))
            throw usage_error("a percentile of " + to_text(p.average->percent) + " makes no sense",
                              "choose 0 to 100");
        constexpr double most = 512.0 * 1048576;
        if (bytes > most)
            throw usage_error("a median or percentile over " + to_text(p.average->frames) + " frames of " +
                                  to_text(p.bins()) + " bins would hold " + bytes_text(bytes) +
                                  " a channel, and at most " + bytes_text(most) + " are held",
                              "use a shorter --average, or --average-kind mean or max");
        const double samples = static_cast<double>(p.shape.lanes() * bytes_of(p.in)) *
                               std::min(static_cast<double>(p.shape.frames),
                                        static_cast<double>(p.average->frames) * static_cast<double>(p.hop));
        if (samples > most)
            throw usage_error("a median or percentile over " + to_text(p.average->frames) + " frames of " +
                                  to_text(p.channels()) + " channels would hold " + bytes_text(samples) +
                                  " of samples, and at most " + bytes_text(most) + " are held",
                              "use a shorter --average, fewer --channels, or --average-kind mean or max");
    }
    if (p.quantity == Quantity::complex && (p.decibels || p.average || !p.bands.empty())) {
        const char* what = p.decibels  ? "decibels"
                           : p.average ? "averages"
                                       : "bands and limits of frequencies";
        throw usage_error(std::string(what) + " of complex values have no meaning",
                          "choose --scaling density, spectrum, magnitude or power");
    }
    if (p.decibels && !(p.decibels->reference > 0 && std::isfinite(p.decibels->reference)))
        throw usage_error("--db " + to_text(p.decibels->reference) + ": the reference must be above 0");
    if (p.shape.lanes() > 0 && p.transforms() < 1)
        throw usage_error("the signal of " + to_text(p.shape.frames) +
                              " samples is shorter than one frame of " +
                              to_text(p.centered ? p.nfft : length) + " samples",
                          "choose a smaller --nfft, or --center");
}

Span SpectrogramStage::needed(Span out) const {
    if (out.count == 0) return {0, 0};
    const Span used = samples_of(p_.transforms_of(out));
    return folded(used.first, used.end(), p_.shape.frames, p_.padding);
}

Index SpectrogramStage::needed_at_most(Index count) const {
    const Index transforms = count * (p_.average ? p_.average->frames : 1);
    // One more than the window's own: `odd` padding also uses the end sample.
    return std::min(p_.shape.frames, (transforms - 1) * p_.hop + p_.window_length() + 1);
}

Lanes SpectrogramStage::lanes_of(Index first, Index count) const {
    if (!apart()) return Lanes::all(shape());
    return {first * p_.bins(), count * p_.bins(), 0, p_.parts()};
}

Lanes SpectrogramStage::used(Lanes out) const {
    if (!apart()) return Lanes::all(p_.shape);
    const Index first = out.outer_first / p_.bins(), count = out.outer_count / p_.bins();
    if (p_.shape.outer > 1) return {first, count, 0, p_.shape.inner};
    return {0, 1, first * input_parts(), count * input_parts()};
}

Lanes SpectrogramStage::rows_of(Lanes in) const {
    const Index inner = p_.shape.inner / input_parts(), bins = p_.bins();
    const Index first = in.outer_first * inner + in.inner_first / input_parts();
    return {first * bins, in.count() / input_parts() * bins, 0, p_.parts()};
}

std::unique_ptr<Stage> plan(const Problem& problem, const device::Device& device) {
    check(problem);
    const Strategy* found = catalog().find_if([&](const Strategy& s) { return s.backend == device.backend; });
    std::string why =
        found == nullptr ? "this build has no spectrogram for it" : found->unsupported(problem, device);
    if (!why.empty()) throw usage_error("no spectrogram on " + device.id() + ": " + why, "use --device cpu");
    if (is_long_average(problem)) return plan_long_average(problem, device);
    return found->make(problem, device);
}

}  // namespace convoy::spectrum
