// What earlier runs left of an output, how a run goes on from it, and what it leaves itself should it be
// killed.
#pragma once

#include <memory>
#include <string_view>

#include "pipelines/identity.hpp"
#include "pipelines/journal.hpp"
#include "pipelines/stream.hpp"

namespace convoy::pipelines {

/// How a job's output comes about: all of it made now; the rest of a killed run's; the tail of one whose
/// input was appended to; nothing, since it is finished.
enum class Ending { done, resumed, extended, skipped };
constexpr std::string_view name_of(Ending ending) {
    constexpr std::string_view names[] = {"done", "resumed", "extended", "skipped"};
    return names[static_cast<int>(ending)];
}

/// What the user wants of what is there.
struct Wishes {
    bool resume = false;  // take up a part, keep a journal; leave a finished output, extend it
    bool skip = false;    // leave a finished output, extend it
    bool overwrite = false;
};

/// Of one job: look() first, then prepare() before the file is made, and begin() before the stream.
class Survival {
  public:
    /// `joined`: the files behind the input's first.
    Survival(io::Reader& input, std::vector<std::string> joined, const Chain& chain, Span wanted)
        : input_(input), joined_(std::move(joined)), chain_(chain), wanted_(wanted) {}

    /// Looks at spec.path and what lies beside it; adds the job's identity to the spec. `extendable`: the
    /// outputs depend on the samples that they use only. Error where an output or a part is of another job,
    /// or of an input that was changed (not with `overwrite`).
    void look(const JobTexts& job, io::OutputSpec& spec, const Wishes& wishes, bool extendable);
    /// The same where the result is cut into `files`: they are left where all of them are finished, else made
    /// anew.
    void look_at_pieces(const JobTexts& job, io::OutputSpec& spec, const Wishes& wishes,
                        const std::vector<std::string>& files);
    Ending ending() const { return ending_; }
    /// Has a finished output made again, with what belongs to it and is not there.
    void make_anew() {
        ending_ = Ending::done;
        replaces_ = true;
    }

    /// Makes spec and stream go on from what is there.
    void prepare(io::OutputSpec& spec, StreamOptions& stream);
    /// The file is there: copies what stays of an older output, and starts the journal (none where nobody
    /// asked for it, or the file cannot be taken up), which `file` must outlive. `computed`: type of the
    /// chain's result.
    std::unique_ptr<Journal> begin(io::Writer& file, SampleType computed, StreamOptions& stream);

    /// What the stream started with.
    const Progress& from() const { return entry_.progress; }
    Index samples_kept() const { return samples_kept_; }

  private:
    bool take_up_part(const io::OutputSpec& spec);
    Index frames_that_stay(Index frames_before) const;
    void copy_kept(io::Writer& file, SampleType computed);

    void identify(const JobTexts& job, io::OutputSpec& spec, const Wishes& wishes);

    io::Reader& input_;
    std::vector<std::string> joined_;
    const Chain& chain_;
    Span wanted_;
    Wishes wishes_;
    Ending ending_ = Ending::done;
    bool replaces_ = false;  // an older output of the same job is there
    Json identity_;
    io::OutputSpec spec_;  // as it was prepared
    JournalEntry entry_;   // where the stream starts
    Index samples_kept_ = 0;
};

}  // namespace convoy::pipelines
