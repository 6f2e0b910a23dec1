// Windows of the stream: where they lie, what they share, and how threads take them apart.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "core/base/stage.hpp"
#include "core/stats/stats.hpp"

namespace convoy::pipelines {

/// Frames `span` of `lanes` at `data`, one row behind the other.
Window window_at(std::byte* data, SampleType type, Span span, Lanes lanes);

/// The rows from `row` of the whole array on: none where they end before it.
Window from_row(Window window, Index row);
Lanes from_row(Lanes lanes, Index row);

/// What both have; empty (at b's or a's first frame) where that is nothing.
Span overlap(Span a, Span b);

/// Copies frames `part`, which both windows hold.
void copy_rows(const Window& from, const Window& to, Span part);

/// Adds the levels of frames `part` of a window's lanes to those of the whole array, which has shape `whole`
/// (stats::level_count() of them).
void add_levels(const Window& window, Span part, Lanes lanes, const Shape& whole,
                std::vector<stats::Level>& into);

/// Calls f(part, lanes, data) on pieces of frames `part` of a window that threads may read or write at once:
/// rows where there are enough, else stretches of frames. Not `at_once`: on all of it.
template <class F>
void in_pieces(const Window& window, Span part, const Lanes& lanes, bool at_once, F&& f) {
    constexpr Index piece_bytes = 1 << 20, most = 8;  // a file takes no more at once
    const Index frame = window.inner * bytes_of(window.type);
    std::byte* const first = window.data + (part.first - window.span.first) * frame;
    const Index threads = tbb::this_task_arena::max_concurrency();
    const Index pieces =
        std::clamp<Index>(part.count * frame * window.outer / piece_bytes, 1, std::min(threads, most));
    if (!at_once || pieces == 1) return f(part, lanes, first);
    const bool rows = window.outer >= pieces;
    const Index units = rows ? window.outer : part.count;
    tbb::parallel_for(Index{0}, pieces, [&](Index i) {
        const Index from = units * i / pieces, count = units * (i + 1) / pieces - from;
        if (rows) {
            Lanes some = lanes;
            some.outer_first += from;
            some.outer_count = count;
            f(part, some, first + from * window.row_bytes());
        } else {
            f(Span{part.first + from, count}, lanes, first + from * frame);
        }
    });
}

}  // namespace convoy::pipelines
