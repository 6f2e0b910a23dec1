// The only file that includes Thrust: pieces of a window are spread over the threads by its TBB system.
#include "core/stats/stats.hpp"

#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <cmath>

#include "core/base/division.hpp"
#include "core/stats/columns_cpu.hpp"
#include "core/stats/hash_cpu.hpp"

namespace convoy::stats {

namespace {

constexpr Index columns = 64;  // series that a piece sums side by side
constexpr Index piece_samples =
    1 << 15;  // of all its series: fixed, so that sums do not depend on the threads

// Integers are rare here: what is read of them is not measured.
template <class T>
void column_sums(const T* x, Index count, Index step, Index width, Column* out) {
    std::fill_n(out, width, Column{});
    for (Index n = 0; n < count; ++n, x += step)
        for (Index j = 0; j < width; ++j) {
            const double v = static_cast<double>(x[j]);
            out[j].peak = std::max(out[j].peak, std::abs(v));
            out[j].squares += v * v;
        }
}

// The level of one series, sample by sample: where some are not finite.
template <class T>
Level plain_level(const T* x, Index count, Index step) {
    Level level;
    for (Index i = 0; i < count; ++i) {
        const double v = static_cast<double>(x[i * step]), size = std::abs(v);
        level.over += size > 1;
        if (std::isnan(v)) {
            ++level.nan;
        } else if (std::isinf(v)) {
            ++level.inf;
        } else {
            ++level.finite;
            level.peak = std::max(level.peak, size);
            level.sum_squares += v * v;
        }
    }
    return level;
}

// Levels of `width` <= 64 lanes over `frames` frames that are `inner` samples apart.
template <class T>
void piece_levels(const T* x, Index frames, Index inner, Index width, Level* out) {
    // Few interleaved lanes: several frames in a row fill the columns, column j being lane j % width.
    const Index turns = width == inner ? columns / width : 1, packs = frames / turns;
    Column sums[columns], rest[columns];
    column_sums(x, packs, inner * turns, width * turns, sums);
    column_sums(x + packs * turns * inner, frames - packs * turns, inner, width, rest);
    for (Index i = 0; i < width; ++i) {
        Level level;
        const auto take = [&](const Column& c) {
            level.peak = std::max(level.peak, c.peak);
            level.sum_squares += c.squares;
            level.over += c.over;
        };
        for (Index turn = 0; turn < turns; ++turn)
            take(sums[turn * width + i]);
        take(rest[i]);
        level.finite = frames;
        // A sum that is finite says that every sample is.
        out[i] = std::isfinite(level.sum_squares) ? level : plain_level(x + i, frames, inner);
        if (!std::is_floating_point_v<T>) out[i].over = 0;
    }
}

}  // namespace

double Level::rms() const {
    return finite > 0 ? std::sqrt(sum_squares / static_cast<double>(finite)) : 0;
}

void Level::add(const Level& other) {
    peak = std::max(peak, other.peak);
    sum_squares += other.sum_squares;
    finite += other.finite;
    nan += other.nan;
    inf += other.inf;
    over += other.over;
}

void measure(const Window& window, Span part, Level* into) {
    const Index width = std::min(window.inner, columns), groups = ceil_div(window.inner, width);
    const Index length = std::max<Index>(piece_samples / width, 1), pieces = ceil_div(part.count, length);
    const Index lanes = window.outer * window.inner;
    thread_local std::vector<Level> partial;  // [piece][lane]; kept, so that a stream allocates it once
    partial.resize(static_cast<std::size_t>(std::max<Index>(pieces * lanes, 0)));
    Level* const out = partial.data();
    thrust::for_each_n(
        thrust::device, thrust::counting_iterator<Index>(0), pieces * window.outer * groups, [=](Index at) {
            const Index group = at % groups, outer = at / groups % window.outer;
            const Index piece = at / groups / window.outer, lane = group * width;
            const Index first = part.first + piece * length;
            dispatch(window.type, [&](auto zero) {
                using T = decltype(zero);
                piece_levels(window.at<T>(outer, first) + lane, std::min(length, part.end() - first),
                             window.inner, std::min(width, window.inner - lane),
                             out + piece * lanes + outer * window.inner + lane);
            });
        });
    for (Index piece = 0; piece < pieces; ++piece)
        for (Index lane = 0; lane < lanes; ++lane)
            into[lane].add(out[piece * lanes + lane]);
}

void Hash::add(const Hash& other) {
    low += other.low;
    high += other.high;
}

std::string Hash::text() const {
    std::string digits;
    for (const std::uint64_t half : {high, low})
        for (int shift = 60; shift >= 0; shift -= 4)
            digits += "0123456789abcdef"[half >> shift & 15];
    return digits;
}

Hash hash(const Window& window, Span part, Index origin, const Lanes& lanes, const Shape& whole) {
    // Frames with all their lanes follow one another in the result; of a group of lanes each frame is a run.
    const bool joined = window.inner == whole.inner;
    const Index length = std::max<Index>(piece_samples / window.inner, 1),
                pieces = ceil_div(part.count, length);
    const auto piece_hash = [=](Index at) {
        const Index outer = at % window.outer, first = part.first + at / window.outer * length;
        const Index frames = std::min(length, part.end() - first);
        const Index start = ((lanes.outer_first + outer) * whole.frames + first - origin) * whole.inner;
        const Index bytes = bytes_of(window.type), frame_bytes = window.inner * bytes;
        const std::byte* from = window.row<std::byte>(outer) + (first - window.span.first) * frame_bytes;
        if (joined) return hash_run(from, bytes, frames * window.inner, start);
        Hash sum;
        for (Index f = 0; f < frames; ++f)
            sum.add(hash_run(from + f * frame_bytes, bytes, window.inner,
                             start + f * whole.inner + lanes.inner_first));
        return sum;
    };
    const auto plus = [](Hash a, const Hash& b) {
        a.add(b);
        return a;
    };
    return thrust::transform_reduce(thrust::device, thrust::counting_iterator<Index>(0),
                                    thrust::counting_iterator<Index>(pieces * window.outer), piece_hash,
                                    Hash{}, plus);
}

}  // namespace convoy::stats
