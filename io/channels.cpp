// Channels as people list them.
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/format.hpp"

namespace convoy::io {
namespace {

/// "5", "5-9", "100-1100:4": first, last (included) and step.
struct Range {
    Index first, last, step;
};

std::optional<Range> parse_range(std::string_view text) {
    Index step = 1;
    if (const auto colon = text.find(':'); colon != text.npos) {
        const auto number = parse_integer(text.substr(colon + 1));
        if (!number || *number < 1) return std::nullopt;
        step = *number;
        text = text.substr(0, colon);
    }
    const auto dash = text.find('-', 1);
    const auto first = parse_integer(text.substr(0, dash));
    const auto last = dash == text.npos ? first : parse_integer(text.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
    return Range{*first, *last, step};
}

}  // namespace

std::vector<Index> parse_channels(const std::string& text, Index count, const std::string& where) {
    std::vector<Index> channels;
    for (const std::string& word : split(text, ',')) {
        const auto range = parse_range(word);
        if (!range)
            throw usage_error("--channels " + text + ": '" + word + "' is no channel or range",
                              "write it like 0,2,5-9,100-1100:4", where);
        if (range->last >= count)
            throw usage_error(
                "--channels " + text + ": there is no channel " + to_text(range->last),
                count == 1 ? "there is one channel, 0" : "there are channels 0 to " + to_text(count - 1),
                where);
        for (Index c = range->first; c <= range->last; c += range->step)
            channels.push_back(c);
    }
    return channels;
}

}  // namespace convoy::io
