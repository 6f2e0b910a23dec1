// What an audio output is (its width) and what travels into it, made true for the frames that are written.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/audio/writer.hpp"

namespace convoy::io::audio {
namespace {

double source_rate(const OutputSpec& spec) {
    return *spec.rate * static_cast<double>(spec.time_step) / static_cast<double>(spec.time_up);
}

/// Seconds from the source's first frame to that of the output.
double first_seconds(const OutputSpec& spec) {
    return static_cast<double>(spec.time_first) / static_cast<double>(spec.time_up) / source_rate(spec);
}

void put_text(std::string& bytes, std::size_t at, const std::string& text) {
    std::copy(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Writes a time into a bext chunk: date and time to the second, and samples since midnight.
void put_bext_time(std::string& chunk, Timestamp time, double rate) {
    const std::string text = to_iso8601(time);  // 2020-06-15T13:45:00...
    put_text(chunk, Bext::date, text.substr(0, 10));
    put_text(chunk, Bext::time, text.substr(11, 8));
    constexpr std::int64_t day_ns = 86'400'000'000'000;
    const double since_midnight = static_cast<double>(((time.nanoseconds % day_ns) + day_ns) % day_ns) * 1e-9;
    const auto count = static_cast<std::uint64_t>(std::llround(since_midnight * rate));
    put32(chunk, Bext::reference, static_cast<std::uint32_t>(count));
    put32(chunk, Bext::reference + 4, static_cast<std::uint32_t>(count >> 32));
}

/// The chunk for the first frame that is written. A sample count that has nothing to do with the time of
/// origination (a place on an editor's time line) moves on its own.
void move_bext(std::string& chunk, const OutputSpec& spec) {
    const Bext before(chunk, source_rate(spec));
    if (before.start) put_bext_time(chunk, later(*before.start, first_seconds(spec)), *spec.rate);
    if (chunk.size() < Bext::length || before.refined || (before.start && before.count == 0)) return;
    const auto up = static_cast<std::uint64_t>(spec.time_up);
    const auto moved = (before.count * up + static_cast<std::uint64_t>(spec.time_first)) /
                       static_cast<std::uint64_t>(spec.time_step);
    put32(chunk, Bext::reference, static_cast<std::uint32_t>(moved));
    put32(chunk, Bext::reference + 4, static_cast<std::uint32_t>(moved >> 32));
}

std::string made_bext(Timestamp first_frame, double rate) {
    std::string chunk(Bext::length, '\0');
    put_text(chunk, Bext::originator, "convoy");
    put_bext_time(chunk, first_frame, rate);
    chunk[346] = 1;  // version
    return chunk;
}

std::string made_cues(const std::vector<Cue>& cues) {
    std::string chunk(4 + 24 * cues.size(), '\0');
    put32(chunk, 0, static_cast<std::uint32_t>(cues.size()));
    for (std::size_t i = 0; i < cues.size(); ++i) {
        const std::size_t at = 4 + 24 * i;
        put32(chunk, at, cues[i].id);
        put32(chunk, at + 4, static_cast<std::uint32_t>(cues[i].frame));
        put_text(chunk, at + 8, "data");
        put32(chunk, at + 20, static_cast<std::uint32_t>(cues[i].frame));
    }
    return chunk;
}

std::string made_info(const std::vector<std::pair<std::string, std::string>>& tags) {
    constexpr std::pair<std::string_view, std::string_view> ids[] = {
        {"title", "INAM"}, {"artist", "IART"},   {"comment", "ICMT"},
        {"date", "ICRD"},  {"software", "ISFT"}, {"copyright", "ICOP"},
        {"album", "IPRD"}, {"genre", "IGNR"},    {"tracknumber", "ITRK"}};
    std::string list = "INFO";
    for (const auto& [name, text] : tags)
        for (const auto& [tag, id] : ids)
            if (tag == name) {
                std::string field = std::string(id) + std::string(4, '\0') + text + '\0';
                put32(field, 4, static_cast<std::uint32_t>(text.size() + 1));
                list += field + (field.size() % 2 ? std::string(1, '\0') : std::string());
            }
    return list.size() > 4 ? list : std::string();
}

/// Lines of GUANO metadata that the work changes.
std::string moved_guano(const std::string& text, const OutputSpec& spec) {
    std::string result;
    const bool ends = !text.empty() && text.back() == '\n';
    for (const std::string& line : split(ends ? text.substr(0, text.size() - 1) : text, '\n')) {
        const std::string key = line.substr(0, line.find(':'));
        std::string value = line.substr(std::min(line.size(), key.size() + 1));
        value.erase(0, value.find_first_not_of(' '));
        const auto time = key == "Timestamp" ? parse_timestamp(value) : std::nullopt;
        if (key == "Samplerate") {
            result += key + ": " + to_text(*spec.rate);
        } else if (key == "Length") {
            result += key + ": " + to_text(static_cast<double>(spec.shape.frames) / *spec.rate);
        } else if (time && spec.time_first > 0) {
            result += key + ": " + to_iso8601(later(*time, first_seconds(spec)));
        } else {
            result += line;
        }
        result += '\n';
    }
    if (!ends && !result.empty()) result.pop_back();
    return result;
}

}  // namespace

Metadata travelling(const OutputSpec& spec) {
    Metadata result;
    const Reader* source = spec.source ? &spec.source->origin() : nullptr;
    const auto* audio = dynamic_cast<const AudioReader*>(source);
    if (audio) result = audio->metadata();
    std::erase_if(result.cues, [&](const Cue& cue) {
        return cue.frame * spec.time_up < spec.time_first ||
               (cue.frame * spec.time_up - spec.time_first) / spec.time_step >= spec.shape.frames;
    });
    for (Cue& cue : result.cues)
        cue.frame = (cue.frame * spec.time_up - spec.time_first) / spec.time_step;

    const bool moved = spec.time_first > 0 || spec.time_step != spec.time_up;
    bool bext = false, info = false;
    std::erase_if(result.chunks, [&](const auto& chunk) {
        return chunk.first == "cue " || (moved && chunk.first == "iXML");
    });
    for (auto& [id, contents] : result.chunks) {
        if (id == "bext" && moved) move_bext(contents, spec);
        if (id == "guan" && moved) contents = moved_guano(contents, spec);
        bext |= id == "bext";
        info |= id == "LIST" && contents.compare(0, 4, "INFO") == 0;
    }
    if (!info)
        if (std::string list = made_info(result.tags); !list.empty())
            result.chunks.emplace_back("LIST", list);
    if (!result.cues.empty()) result.chunks.emplace_back("cue ", made_cues(result.cues));
    const auto start = source && source->recording().start_time
                           ? parse_timestamp(*source->recording().start_time)
                           : std::nullopt;
    if (!bext && start) {
        const Timestamp first = later(*start, first_seconds(spec));
        result.chunks.emplace_back("bext", made_bext(first, *spec.rate));
    }
    return result;
}

}  // namespace convoy::io::audio
