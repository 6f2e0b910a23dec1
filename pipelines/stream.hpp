// The stream: read | compute | write over a ring of chunk slots. Works out chunks and channel groups, so that
// memory is bounded whatever the file, runs a chain of stages on each chunk, and counts what passes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/stage.hpp"
#include "core/device/device.hpp"
#include "core/memory/memory.hpp"
#include "core/stats/stats.hpp"
#include "io/format.hpp"
#include "pipelines/chunks.hpp"
#include "pipelines/journal.hpp"

namespace convoy::pipelines {

/// Frames `frames` of what flows behind the first `stages` of the chain go to a writer too, which has frame
/// `origin` first. On the CPU only, and only frames that pass (frames_passing()).
struct Tap {
    std::size_t stages;
    Span frames;
    Index origin;
    io::Writer* writer;
};

struct StreamOptions {
    Index chunk_frames = 0;          // output frames a chunk; 0: chosen
    Index group = 0;                 // pieces of the result a group of lanes; 0: chosen
    Index kept_frames = 0;           // of `wanted`: the writer holds them already
    Index items_most = 0;            // chunks of groups, of a trial; 0: all
    const Progress* from = nullptr;  // goes on from there; the writer holds what came before
    Journal* journal = nullptr;      // where it is kept how far the stream is
    const memory::Mode* memory = nullptr;
    device::Device device;
    std::size_t chunk_bytes = 1u << 20;     // of input, where the frames are chosen
    std::size_t chunk_bytes_most = 0;       // where rows would go out in short pieces
    std::size_t memory_limit = 160u << 20;  // bytes for rings and intermediate windows
    int slots = 4;                          // chunks in flight
    bool hash = false;                      // of the result, for the report
    bool levels = true;                     // of input and result, for the report
    bool one_pass = false;                  // all lanes at once: a tap's writer may want whole frames
    std::vector<Tap> taps = {};
    std::function<void(Index done, Index total)> progress;  // output samples, from one thread at a time
};

/// What happened, for the report.
struct StreamReport {
    Index chunk_frames = 0;        // output frames a chunk, as used
    Index chunks = 0, passes = 0;  // passes over the file, by channel groups
    Index slots = 0;
    double setup_s = 0, read_s = 0, compute_s = 0, measure_s = 0, write_s = 0, wait_s = 0, total_s = 0;
    std::vector<double> stage_s;  // seconds in each stage, on the CPU
    memory::Traffic traffic;
    memory::Ring::Footprint footprint;
    std::vector<stats::Level> input, output;  // by lane, stats::level_count() of them
    std::string hash;  // of the samples, whatever the chunks; empty where not asked for
    /// Adds chunks, times, traffic and levels of another stream over the same lanes.
    void add(const StreamReport& other);
};

/// How run_stream() cuts the work.
Cuts stream_cuts(const io::Reader& reader, const Chain& chain, Span wanted, bool ordered,
                 const StreamOptions&);

/// Runs the chain over output frames `wanted` of its result: frame wanted.first becomes frame 0 of the
/// writer. Cancelled by SIGINT and the like (pipelines/cancel.hpp): throws Cancelled, the journal being
/// brought up to date.
StreamReport run_stream(io::Reader& reader, const Chain& chain, Span wanted, io::Writer& writer,
                        const StreamOptions&);

}  // namespace convoy::pipelines
