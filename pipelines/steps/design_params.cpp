#include "pipelines/steps/design_params.hpp"

#include <tuple>

#include "core/base/error.hpp"
#include "core/base/recent.hpp"

namespace convoy::pipelines {

namespace {

constexpr std::pair<std::string_view, design::Band> bands[] = {{"lowpass", design::Band::lowpass},
                                                               {"highpass", design::Band::highpass},
                                                               {"bandpass", design::Band::bandpass},
                                                               {"bandstop", design::Band::bandstop}};

}  // namespace

bool names_band(const Params& p) {
    for (const auto& [name, band] : bands)
        if (p.given(name)) return true;
    return false;
}

design::Filter design_filter(const Params& p, double rate) {
    design::Request request;
    int given = 0;
    for (const auto& [name, band] : bands) {
        if (!p.given(name)) continue;
        ++given;
        request.band = band;
        request.cutoffs = p.numbers(name);
        const std::size_t wanted = band == design::Band::bandpass || band == design::Band::bandstop ? 2 : 1;
        if (request.cutoffs.size() != wanted)
            throw usage_error(p.spelled(name) + " takes " +
                              (wanted == 2 ? "two frequencies: LO,HI" : "one frequency"));
    }
    if (given != 1) throw usage_error("give one of --lowpass, --highpass, --bandpass and --bandstop");
    if (p.given("numtaps") && p.given("transition"))
        throw usage_error("--numtaps and --transition exclude each other", "give one of them");
    if (p.given("numtaps") && p.given("window") && p.given("atten-db"))
        throw usage_error(p.spelled("atten-db") + " has no say where --numtaps and --window are given",
                          "leave out one of them");
    request.rate = rate;
    if (const auto n = p.integer_if("numtaps")) request.numtaps = *n;
    request.transition = p.number_if("transition");
    request.atten_db = p.number("atten-db");
    request.window = p.text("window");
    // The files of a batch have their filter in common.
    using Key = std::tuple<design::Band, std::vector<double>, double, std::optional<Index>,
                           std::optional<double>, double, std::string>;
    static Recent<Key, design::Filter> recent(16);
    const Key key{request.band,       request.cutoffs,  rate,          request.numtaps,
                  request.transition, request.atten_db, request.window};
    return *recent.get(key, [&] {
        const auto filter = std::make_shared<const design::Filter>(design::windowed_sinc(request));
        if (filter->lengthened)
            warn({}, p.spelled("numtaps") + " " + p.text("numtaps") + " became " +
                         to_text(static_cast<Index>(filter->taps.size())) + ": a " +
                         std::string(design::name_of(request.band)) +
                         " filter of an even length passes nothing at the Nyquist frequency");
        return filter;
    });
}

std::vector<std::pair<std::string, std::string>> design_notes(const Params& p, const design::Filter& filter) {
    std::vector<std::pair<std::string, std::string>> notes;
    for (const auto& [name, band] : bands)
        if (p.given(name)) notes.emplace_back(std::string(name), p.text(name));
    notes.emplace_back("window", filter.window);
    notes.emplace_back("transition_hz", to_text(filter.transition));
    if (filter.lengthened) notes.emplace_back("lengthened", "by 1: this band needs an odd number of taps");
    return notes;
}

}  // namespace convoy::pipelines
