// convoy design: designs a filter, writes its taps, prints or plots its response.
#include <cmath>
#include <filesystem>

#include "app/command.hpp"
#include "app/output.hpp"
#include "core/base/error.hpp"
#include "core/design/design.hpp"
#include "io/npy.hpp"
#include "io/taps.hpp"
#include "pipelines/picture.hpp"
#include "pipelines/steps/design_params.hpp"

namespace convoy::command {

namespace {

constexpr Param own_params[] = {
    {.name = "rate", .kind = Kind::number, .value = "HZ", .help = "sample rate of the signals it is for"},
    {.name = "taps", .value = "FILE", .help = "show the response of these taps instead of designing"},
    {.name = "output",
     .value = "FILE",
     .help = "write the taps: .npy, or text (- is standard output)",
     .also = "o"},
    {.name = "response",
     .kind = Kind::flag,
     .help = "print frequency (Hz) and gain (dB) instead of the taps"},
    {.name = "points",
     .kind = Kind::integer,
     .value = "N",
     .help = "frequencies of the response",
     .fallback = "512"},
    {.name = "png", .value = "FILE", .help = "draw the response"},
    {.name = "overwrite", .kind = Kind::flag, .help = "replace files that exist already"},
};

std::vector<Group> groups() {
    return {{"Design", pipelines::design_params}, {"Filter", own_params}, {"Output", app::listing_params()}};
}

struct Response {
    std::vector<double> hz, db;
};

Response response_of(const std::vector<double>& taps, double rate, Index points) {
    Response r;
    for (Index i = 0; i < points; ++i)
        r.hz.push_back(rate / 2 * static_cast<double>(i) / static_cast<double>(points - 1));
    r.db = design::response_db(taps, r.hz, rate);
    return r;
}

std::string taps_text(const std::vector<double>& taps, const std::string& words) {
    std::string text = "# " + words + "\n";
    for (const double h : taps)
        text += to_text(h) + "\n";
    return text;
}

void save(const std::vector<double>& taps, const std::string& path, const std::string& words) {
    if (path.ends_with(".npy"))
        io::write_npy(path, {{static_cast<Index>(taps.size())}, taps});
    else
        app::write_text(path, taps_text(taps, words));
}

void print(const Call& call, const std::vector<double>& taps, const Response& response) {
    const bool as_response = call.params.flag("response");
    if (!as_response && !call.params.flag("json") && !call.params.flag("csv")) {
        app::write_text("-", taps_text(taps, call.words));
        return;
    }
    app::Table table{as_response ? "convoy.response/1" : "convoy.taps/1", {}, {}};
    table.columns = as_response ? std::vector<std::string>{"frequency_hz", "gain_db"}
                                : std::vector<std::string>{"index", "tap"};
    for (std::size_t i = 0; i < (as_response ? response.hz.size() : taps.size()); ++i)
        table.rows.push_back(as_response ? std::vector<Json>{response.hz[i], response.db[i]}
                                         : std::vector<Json>{i, taps[i]});
    app::print(table, call.params);
}

// What would be in the way of writing, before anything is written: names that promise another format too.
void check_files(const Params& p) {
    std::error_code ignored;
    const std::string ending = std::filesystem::path(p.text("output")).extension().string();
    for (const char* other : {".h5", ".hdf5", ".mat", ".wav", ".flac", ".json", ".npz", ".png"})
        if (ending == other)
            throw usage_error(
                "taps are written as .npy or as text, and " + p.text("output") + " is named as neither",
                "let --output end in .npy or .txt");
    for (const char* option : {"output", "png"}) {
        app::check_side_file(p, option);
        if (!p.flag("overwrite") && std::filesystem::is_regular_file(p.text(option), ignored))
            throw failed(p.text(option), "exists already", "--overwrite replaces it");
    }
    app::check_side_file(p, "report");
}

int run(const Call& call) {
    const Params& p = call.params;
    const double rate = p.number("rate");
    if (!p.given("rate") || !(rate > 0))
        throw usage_error(p.given("taps") ? "the response over frequency needs the sample rate"
                                          : "a filter by frequency needs the sample rate",
                          "give --rate HZ");
    const Index points = p.integer("points");
    if (points < 2 || points > 10'000'000) throw usage_error("--points must be from 2 to 10000000");
    if (p.given("taps") && pipelines::names_band(p))
        throw usage_error("--taps and a band exclude each other");
    for (const std::string_view name : {"numtaps", "transition", "atten-db", "window"})
        if (p.given("taps") && p.given(name))
            throw usage_error(
                "--" + std::string(name) + " shapes a filter that is designed, and --taps names one",
                "leave it out");
    if (p.given("points") && !p.flag("response") && !p.given("png"))
        throw usage_error("--points is of the response", "give --response or --png too");
    if (p.given("png")) pipelines::check_picture_name(p.text("png"));
    check_files(p);

    std::vector<std::pair<std::string, std::string>> notes;
    std::vector<double> taps;
    if (p.given("taps")) {
        taps = io::read_taps(p.text("taps"));
    } else {
        const design::Filter filter = pipelines::design_filter(p, rate);
        taps = filter.taps;
        notes = pipelines::design_notes(p, filter);
    }
    notes.emplace_back("numtaps", to_text(static_cast<Index>(taps.size())));
    const Response response = response_of(taps, rate, points);
    if (p.given("output")) save(taps, p.text("output"), call.words);
    if (p.given("png")) pipelines::draw_response(p.text("png"), response.hz, response.db, call.words);
    if (p.given("report")) {
        Json report;
        report["schema"] = "convoy.design/1";
        for (const auto& [key, value] : notes)
            report[key] = value;
        app::write_report(p, report);
    }
    const bool saved = p.given("output") || p.given("png") || p.given("report");
    if (!saved || p.flag("response") || p.flag("json") || p.flag("csv")) print(call, taps, response);
    return 0;
}

}  // namespace

extern constinit const Command design{
    "design",
    "design a filter, write its taps, print or plot its response",
    "",
    "",
    false,
    "convoy design --rate 48000 --bandpass 300,3000 --transition 100 -o taps.txt --png response.png",
    groups,
    run};

}  // namespace convoy::command
