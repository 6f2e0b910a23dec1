// How a stream is cut: chunks along the frames, groups of lanes, and the bytes that follow. Pure arithmetic:
// nothing is opened or allocated, so that a plan can be shown without touching anything.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/stage.hpp"
#include "io/format.hpp"

namespace convoy::pipelines {

using Chain = std::vector<std::unique_ptr<Stage>>;

/// What the cutting depends on, beside the chain.
struct CutRequest {
    Span wanted;                         // output frames to be written
    Index chunk_frames = 0;              // output frames a chunk; 0: chosen
    std::size_t chunk_bytes = 1u << 20;  // of input, where the frames are chosen
    std::size_t chunk_bytes_most = 0;  // more than that, up to this, where rows would go out in short pieces
    std::size_t memory_limit = 160u << 20;
    int slots = 3;
    Index row_alignment = 1;  // rows of the input that belong together (an HDF5 chunk's)
    bool one_pass = false;    // all lanes at once: ordered writers and sequential readers
    Index group = 0;          // pieces of the result a group; 0: chosen
};

/// What says how a stream was cut, so that another run can cut it the same way.
struct Geometry {
    Index chunk_frames = 0;  // output frames a chunk
    Index group = 0;         // pieces of the result a group of lanes
    Index kept_frames = 0;   // output frames before the first chunk that stay from an earlier result
};

/// A stream's geometry.
struct Cuts {
    Index block = 1;            // of the last stage
    Span computed;              // output frames computed: wanted, widened to whole blocks
    Index chunk_frames = 0;     // a multiple of block
    Index taken = 1;            // pieces of the result a group
    std::vector<Lanes> groups;  // of the result's lanes, one pass each
    std::vector<Index> frames;  // capacity of each stage's input window; frames[0]: the ring's
    std::size_t in_bytes = 0;   // of a slot
    std::size_t out_bytes = 0;
    std::vector<std::size_t> between_bytes;  // of the windows between stages
    int slots = 3;

    Index chunks() const { return (computed.count + chunk_frames - 1) / chunk_frames; }
    /// Output frames of chunk k.
    Span chunk(Index k) const;
    std::size_t total_bytes() const;
    Geometry geometry() const;
};

/// Cuts the work (chunks_cut.cpp). `input` is the shape and type of what the reader delivers.
Cuts cut(const Chain& chain, const Shape& input, SampleType type, const CutRequest& request);

/// Samples of `wanted` that the first `items` chunks of groups write, in the order group by group, chunk by
/// chunk.
Index samples_in(const Cuts& cuts, Span wanted, Index items);

/// A span of a stage's result as whole blocks, within what there is.
Span widened(Span span, const Stage& stage);

/// Spans of every stage's input for output frames `out`, first stage first: spans[i] is what stage i reads,
/// widened to whole blocks of the stage before it.
std::vector<Span> spans_for(const Chain& chain, Span out);

/// The frames that flow behind the first `stages` of the chain while a stream so cut runs: one stretch, or
/// nothing where some are left out between chunks, or different ones for different groups of lanes.
Span frames_passing(const Cuts& cuts, const Chain& chain, std::size_t stages);

/// Lanes of every stage's input and, last, of the result, for lanes `group` of the result: whole pieces of
/// every stage.
std::vector<Lanes> lanes_for(const Chain& chain, Lanes group);

/// A group of lanes on its way: lanes_for() it, and of each the first row that no group before it had.
struct Group {
    std::vector<Lanes> lanes;
    std::vector<Index> fresh;
};
std::vector<Group> groups_of(const Cuts& cuts, const Chain& chain);

}  // namespace convoy::pipelines
