// Where the kernel for converted and interleaved samples has what (staged_kernel_cuda.cuh). Plain arithmetic
// that the kernel and host tests share.
#pragma once

#include "core/conv1d/cuda_maps.hpp"

namespace convoy::conv1d::gpu {

constexpr int staged_threads = 256;
constexpr int staged_pitch = 32;  // of frames where a tile has some of the channels

/// Sizes of the tiles of a team of threads: `width` channels (1: planar) by so many frames. Where a tile has
/// all channels its samples are one row of memory, else a row each frame.
struct StagedCut {
    int width = 1;
    int pitch = 1;                         // of frames in shared memory, once they are settled
    int outputs = 1, frames = 1;           // of a channel
    int rows = 1, length = 1;              // of samples
    int row_bytes = 16;                    // from row to row as stored, a multiple of 16
    bool settle = true;                    // else samples can be used where and as they arrive
    bool gather = true;                    // sums go out in one piece, else each thread's by itself
    int taps = 1, segment = 1, table = 0;  // the last: values in shared memory
    int raw_bytes = 0, value_bytes = 0;    // of one of two buffers of a team; of its settled samples
    int team = 32;

    std::size_t bytes(std::size_t size) const {
        return static_cast<std::size_t>(table) * size +
               static_cast<std::size_t>(staged_threads / team) *
                   (2 * static_cast<std::size_t>(raw_bytes) + static_cast<std::size_t>(value_bytes));
    }
};

/// `each`: outputs of a thread. `even`: rows of fewer than all channels begin and end on 16 bytes.
/// `as_values`: samples are stored as they are summed. `size`: bytes of a sample as stored, `value`: as it is
/// summed.
CONVOY_HD constexpr StagedCut staged_cut(Index inner, int width, int team, int each, Index taps, bool even,
                                         bool as_values, int size, int value) {
    const int ahead = 4 * 16 / value;  // frames that sums load and do not use
    const bool dense = inner == width;
    StagedCut c;
    c.width = width;
    c.pitch = dense || width <= staged_pitch / 2 ? width : staged_pitch;
    c.team = team;
    c.outputs = team / width * each;
    c.frames = c.outputs + static_cast<int>(round_up(taps - 1, 4));
    c.rows = dense ? 1 : c.frames;
    c.length = dense ? c.frames * width : width;
    c.settle = !as_values || !(dense || even);
    c.gather = dense && width < 8;
    c.taps = static_cast<int>(taps);
    const Index values = round_up((c.frames + ahead) * c.pitch, 4);
    if (dense)
        c.row_bytes = static_cast<int>(round_up((values + 16 / value) * size, 16)) + 16;
    else
        c.row_bytes =
            even ? (c.settle ? width : c.pitch) * size : static_cast<int>(round_up(width * size, 16)) + 16;
    c.raw_bytes = (dense || c.settle ? c.rows : c.rows + ahead) * c.row_bytes;
    c.value_bytes = c.settle ? static_cast<int>(round_up(values * value, 16)) : 0;
    return c;
}

/// A tile's rows in the window, in samples from its start: the first, and from row to row.
struct StagedRows {
    Index first, step;
    int length;  // fewer than the cut's where channels end
    bool plain;  // all in the window, with what pieces of 16 bytes may hold beside them
};
CONVOY_HD constexpr StagedRows staged_rows(const Job& job, const StagedCut& cut, const Tile& tile, int size) {
    const int spare = 16 / size - 1;
    const Index begin = job.sample_at(tile.outer, 0, job.in_span.first);
    StagedRows r{};
    r.first = job.sample_at(tile.outer, tile.inner, job.frame_of(tile.first));
    r.step = job.inner;
    r.length = cut.rows == 1 ? cut.length : tile.rows;
    const Index end = r.first + (cut.rows - 1) * r.step + r.length;
    r.plain = r.first - spare >= begin && end + spare <= begin + job.in_span.count * job.inner;
    return r;
}

}  // namespace convoy::conv1d::gpu
