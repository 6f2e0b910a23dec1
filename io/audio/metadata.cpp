// Tags, markers and start times of audio files.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/quantity.hpp"
#include "io/audio/audio.hpp"

namespace convoy::io::audio {
namespace {

constexpr std::pair<std::string_view, std::string_view> info_names[] = {
    {"INAM", "title"},       {"IART", "artist"},    {"ICMT", "comment"}, {"ICRD", "date"},
    {"ISFT", "software"},    {"ICOP", "copyright"}, {"IPRD", "album"},   {"IGNR", "genre"},
    {"ITRK", "tracknumber"}, {"IENG", "engineer"},  {"ISBJ", "subject"}, {"IKEY", "keywords"}};

void read_info(const std::string& list, Metadata& metadata) {
    for (std::size_t at = 4; at + 8 <= list.size();) {
        const std::string id = list.substr(at, 4);
        const std::size_t size = get32(list, at + 4);
        const auto known = std::find_if(std::begin(info_names), std::end(info_names),
                                        [&](const auto& name) { return name.first == id; });
        const std::string text = fixed_text(list, at + 8, size);
        if (known != std::end(info_names) && !text.empty()) metadata.tags.emplace_back(known->second, text);
        at += 8 + size + size % 2;
    }
}

void read_cues(const std::string& chunk, Metadata& metadata) {
    const std::size_t count =
        std::min<std::size_t>(chunk.size() < 4 ? 0 : get32(chunk, 0), chunk.size() / 24);
    for (std::size_t i = 0; i < count && 4 + 24 * (i + 1) <= chunk.size(); ++i)
        metadata.cues.push_back(
            {get32(chunk, 4 + 24 * i), static_cast<Index>(get32(chunk, 4 + 24 * i + 20))});
}

/// "Timestamp: 2019-05-01T20:15:00+02:00" among the lines of GUANO metadata.
std::optional<Timestamp> guano_time(const std::string& text) {
    for (const std::string& line : split(text, '\n')) {
        constexpr std::string_view key = "Timestamp:";
        if (line.compare(0, key.size(), key) != 0) continue;
        std::string value = line.substr(key.size());
        value.erase(0, value.find_first_not_of(" \t"));
        value.erase(value.find_last_not_of(" \t\r") + 1);
        return parse_timestamp(value);
    }
    return std::nullopt;
}

/// "Recorded at 13:45:00 15/06/2020 (UTC+1) by AudioMoth ...", or an ISO 8601 time anywhere in the text.
std::optional<Timestamp> time_in_text(const std::string& text) {
    int h = 0, m = 0, s = 0, day = 0, month = 0, year = 0, n = 0;
    if (std::sscanf(text.c_str(), "Recorded at %2d:%2d:%2d %2d/%2d/%4d%n", &h, &m, &s, &day, &month, &year,
                    &n) == 6) {
        int zone_h = 0, zone_m = 0;
        const bool utc = text.compare(static_cast<std::size_t>(n), 5, " (UTC") == 0;
        if (utc) std::sscanf(text.c_str() + n + 5, "%3d:%2d", &zone_h, &zone_m);
        const auto time = make_timestamp(year, month, day, h, m, s, utc);
        return time ? later(*time, -(zone_h * 3600.0 + (zone_h < 0 ? -zone_m : zone_m) * 60.0)) : time;
    }
    for (std::size_t at = 0; at + 16 <= text.size(); ++at) {
        if (text[at] < '0' || text[at] > '9' || (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9'))
            continue;
        std::string_view rest;
        const std::string_view from = std::string_view(text).substr(at);
        const auto time = parse_timestamp(from, &rest);
        if (time && from.size() - rest.size() >= 16) return time;  // a date with a time of day
    }
    return std::nullopt;
}

}  // namespace

std::uint32_t get32(const std::string& bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
        value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return value;
}

void put32(std::string& bytes, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
        bytes.at(at + i) = static_cast<char>(value >> (8 * i) & 0xFF);
}

std::string fixed_text(const std::string& bytes, std::size_t at, std::size_t length) {
    if (at >= bytes.size()) return {};
    const std::string text = bytes.substr(at, length);
    return text.substr(0, text.find('\0'));
}

Bext::Bext(const std::string& chunk, double rate) {
    if (chunk.size() < length) return;
    count = get32(chunk, reference) + (std::uint64_t{get32(chunk, reference + 4)} << 32);
    const std::string day = fixed_text(chunk, date, 10), clock = fixed_text(chunk, time, 8);
    int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
    // The standard allows several separators: - _ : . and space.
    if (std::sscanf(day.c_str(), "%4d%*c%2d%*c%2d", &y, &mo, &d) != 3) return;
    if (std::sscanf(clock.c_str(), "%2d%*c%2d%*c%2d", &h, &mi, &s) < 1) return;
    origin = start = make_timestamp(y, mo, d, h, mi, s, false);
    const auto midnight = make_timestamp(y, mo, d, 0, 0, 0, false);
    if (!origin || !midnight || count == 0) return;
    const Timestamp counted = later(*midnight, static_cast<double>(count) / rate);
    refined = std::abs(static_cast<double>(counted.nanoseconds - origin->nanoseconds)) <= 2e9;
    if (refined) start = counted;
}

Metadata read_metadata(const File& file, const std::string& path, const Riff& riff) {
    constexpr std::string_view travelling[] = {"bext", "LIST", "cue ", "guan", "iXML"};
    Metadata metadata;
    for (const ChunkPlace& place : riff.chunks) {
        const std::string id = place.id == "list" ? "LIST" : place.id;
        if (std::find(std::begin(travelling), std::end(travelling), id) == std::end(travelling)) continue;
        if (place.bytes > (64 << 20)) continue;  // no text is that long
        std::string contents(static_cast<std::size_t>(place.bytes), '\0');
        file.read_at(path, place.offset, contents.data(), place.bytes);
        if (id == "LIST" && contents.compare(0, 4, "INFO") == 0) read_info(contents, metadata);
        if (id == "cue ") read_cues(contents, metadata);
        if (id == "bext") {
            const std::string description = fixed_text(contents, Bext::description, 256);
            const std::string originator = fixed_text(contents, Bext::originator, 32);
            if (!description.empty()) metadata.tags.emplace_back("description", description);
            if (!originator.empty()) metadata.tags.emplace_back("originator", originator);
        }
        metadata.chunks.emplace_back(id, std::move(contents));
    }
    return metadata;
}

std::optional<Start> start_of(const Metadata& metadata, double rate) {
    for (const auto& [id, contents] : metadata.chunks)
        if (id == "bext")
            if (const auto time = Bext(contents, rate).start) return Start{to_iso8601(*time), "bext"};
    for (const auto& [id, contents] : metadata.chunks)
        if (id == "guan")
            if (const auto time = guano_time(contents)) return Start{to_iso8601(*time), "GUANO"};
    for (const std::string_view name : {"comment", "description", "date"})
        for (const auto& [tag, text] : metadata.tags)
            if (tag == name)
                if (const auto time = time_in_text(text)) return Start{to_iso8601(*time), tag};
    return std::nullopt;
}

}  // namespace convoy::io::audio
