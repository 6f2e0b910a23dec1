// How a stream of a reader's frames is cut: by its options, and by how the file is stored.
#include <algorithm>

#include "pipelines/stream.hpp"

namespace convoy::pipelines {

namespace {

// Rows of an array that lie in the same chunks of an HDF5 dataset.
Index rows_together(const io::Recording& in) {
    if (in.chunk.size() != in.dims.size()) return 1;
    Index together = 1, below = 1;
    for (auto axis = static_cast<std::size_t>(in.time_axis); axis-- > 0; below *= in.dims[axis])
        if (in.chunk[axis] > 1) together = below * std::min(in.chunk[axis], in.dims[axis]);
    return together;
}

}  // namespace

Cuts stream_cuts(const io::Reader& reader, const Chain& chain, Span wanted, bool ordered,
                 const StreamOptions& options) {
    const io::Recording& in = reader.recording();
    CutRequest r;
    r.wanted = {wanted.first + options.kept_frames, wanted.count - options.kept_frames};
    r.chunk_frames = options.chunk_frames;
    r.group = options.group;
    r.chunk_bytes = options.chunk_bytes;
    r.chunk_bytes_most = options.chunk_bytes_most;
    r.memory_limit = options.memory_limit;
    r.slots = options.slots;
    r.one_pass = ordered || options.one_pass || reader.sequential();
    r.row_alignment = rows_together(in);
    return cut(chain, in.shape, in.type, r);
}

}  // namespace convoy::pipelines
