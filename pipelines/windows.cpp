#include "pipelines/windows.hpp"

#include <cstring>

namespace convoy::pipelines {

Window window_at(std::byte* data, SampleType type, Span span, Lanes lanes) {
    return {data, type, span, lanes.outer_count, lanes.inner_count, span.count, lanes.outer_first};
}

Window from_row(Window window, Index row) {
    const Index left_out = std::clamp<Index>(row - window.outer_first, 0, window.outer);
    window.data += left_out * window.row_bytes();
    window.outer_first += left_out;
    window.outer -= left_out;
    return window;
}

Lanes from_row(Lanes lanes, Index row) {
    const Index left_out = std::clamp<Index>(row - lanes.outer_first, 0, lanes.outer_count);
    return {lanes.outer_first + left_out, lanes.outer_count - left_out, lanes.inner_first, lanes.inner_count};
}

void copy_rows(const Window& from, const Window& to, Span part) {
    if (part.count <= 0) return;
    const auto bytes = static_cast<std::size_t>(part.count * from.inner * bytes_of(from.type));
    for (Index o = 0; o < from.outer; ++o) {
        const std::size_t at_from = static_cast<std::size_t>((o * from.pitch + part.first - from.span.first) *
                                                             from.inner * bytes_of(from.type));
        const std::size_t at_to = static_cast<std::size_t>((o * to.pitch + part.first - to.span.first) *
                                                           to.inner * bytes_of(to.type));
        std::memcpy(to.data + at_to, from.data + at_from, bytes);
    }
}

Span overlap(Span a, Span b) {
    const Index first = std::max(a.first, b.first), end = std::min(a.end(), b.end());
    return end > first ? Span{first, end - first} : Span{first, 0};
}

void add_levels(const Window& window, Span part, Lanes lanes, const Shape& whole,
                std::vector<stats::Level>& into) {
    if (lanes.count() == 0) return;
    const Index share = stats::lanes_a_level(whole.lanes());
    if (share == 1 && lanes.inner_count == whole.inner) {  // the lanes lie side by side
        stats::measure(window, part, into.data() + lanes.outer_first * whole.inner);
        return;
    }
    std::vector<stats::Level> levels(static_cast<std::size_t>(lanes.count()));
    stats::measure(window, part, levels.data());
    for (Index i = 0; i < lanes.count(); ++i) {
        const Index o = lanes.outer_first + i / lanes.inner_count,
                    n = lanes.inner_first + i % lanes.inner_count;
        into[static_cast<std::size_t>((o * whole.inner + n) / share)].add(
            levels[static_cast<std::size_t>(i)]);
    }
}

}  // namespace convoy::pipelines
