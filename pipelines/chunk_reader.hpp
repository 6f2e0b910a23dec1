// Reading chunk after chunk of a group of lanes, each sample once.
#pragma once

#include <vector>

#include "core/device/device.hpp"
#include "core/stats/stats.hpp"
#include "io/format.hpp"

namespace convoy::pipelines {

/// Samples that a chunk shares with the one before are kept apart and copied, so that a slot in flight is
/// never touched, and the file is asked for each sample once.
class ChunkReader {
  public:
    /// `bytes`: of the largest window. Without `levels`, nothing is added to them.
    ChunkReader(io::Reader& reader, std::size_t bytes, bool levels);

    /// Fills a window. `first`: it is the first of its group. `next`: the frames of the group's next one
    /// (empty after the last). The levels of samples that no chunk has brought before are added to `levels`;
    /// rows before `fresh` came with an earlier group.
    void read(const Window& in, const Lanes& lanes, Index fresh, bool first, Span next,
              std::vector<stats::Level>& levels);

    /// An earlier run has counted these frames: their levels are not added again by the chunk that comes
    /// next.
    void counted(Span frames) { counted_ = frames; }

  private:
    void read_part(const Window& in, Span part, const Lanes& lanes, Index fresh,
                   std::vector<stats::Level>& levels);

    io::Reader& reader_;
    bool levels_;
    device::Buffer carry_;  // of which what is not used is never touched
    Window carried_;        // the frames in it
    Span counted_;
};

}  // namespace convoy::pipelines
