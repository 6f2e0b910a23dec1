// What survives a run that is killed: a journal beside its output tells of which job it is, and how much is
// known to be on the disk.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/stats/stats.hpp"
#include "io/file.hpp"
#include "pipelines/chunks.hpp"
#include "pipelines/json.hpp"

namespace convoy::pipelines {

/// How far a stream has come. Items are chunks of lane groups, in the order in which the stream takes them.
struct Progress {
    Index items = 0;
    Index clipped = 0;                        // samples clipped so far
    stats::Hash hash;                         // of what has been written
    std::vector<stats::Level> input, output;  // by lane, of what those items have read and written
};

/// What a journal says.
struct JournalEntry {
    Json identity;      // of the job (pipelines/identity.hpp)
    Geometry geometry;  // how its stream is cut
    Progress progress;  // all of this is on the disk
    std::uint64_t sequence = 0;
};

/// The last state that a journal holds; nothing where there is none, or the run was killed while it was made.
std::optional<JournalEntry> read_journal(const std::string& path);

/// A journal being kept. The data are waited for (and recorded) by a thread of its own, so the stream never
/// stops.
class Journal {
  public:
    /// Makes the journal of a run that stands at `start`, or goes on with the one at `path` that said so
    /// (sequence above 0). `flush_data` returns when all data written before its call are on the disk. Error
    /// where it cannot be written.
    Journal(std::string path, JournalEntry start, std::function<void()> flush_data);
    Journal(const Journal&) = delete;
    ~Journal();

    const JournalEntry& start() const { return start_; }
    /// Whether it is time to offer() again: the last record is some time ago.
    bool due();
    /// What has been written by now; recorded soon. Error where the last record could not be written.
    void offer(const Progress& progress);
    /// Returns when the last offer is recorded. Error where that failed.
    void flush();

  private:
    void make();
    void keep_recording(const std::stop_token& stop);
    void record(const Progress& progress);
    std::vector<std::byte> packed(const Progress& progress) const;

    std::string path_;
    JournalEntry start_;
    std::function<void()> flush_data_;
    io::File file_;
    std::uint64_t sequence_ = 0;
    Index slots_at_ = 0, slot_bytes_ = 0;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Progress> offered_;
    bool busy_ = false;
    std::chrono::steady_clock::time_point rest_until_;
    std::exception_ptr failure_;
    std::jthread thread_;
};

}  // namespace convoy::pipelines
