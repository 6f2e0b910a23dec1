#include "pipelines/survival.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "pipelines/cancel.hpp"
#include "pipelines/windows.hpp"

namespace convoy::pipelines {

namespace {

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

Error refused(const std::string& path, const std::string& what, const Resemblance& c,
              const std::string& input) {
    const std::string why = c.likeness == Likeness::job_changed
                                ? "is of another job: "
                                : "is of " + input + " before that was changed: ";
    return failed(path, what + why + c.difference, "--overwrite makes it anew");
}

// What a finished output says that it is.
std::optional<Json> identity_in(const std::string& path) {
    const std::string text = io::identity_in(path);
    return text.empty() ? std::nullopt : std::optional(Json::parse(text, path));
}

}  // namespace

void Survival::identify(const JobTexts& job, io::OutputSpec& spec, const Wishes& wishes) {
    wishes_ = wishes;
    identity_ = identity_of(job, input_, joined_, wishes.resume || wishes.skip);
    spec.identity = identity_.dump(-1);
}

void Survival::look_at_pieces(const JobTexts& job, io::OutputSpec& spec, const Wishes& wishes,
                              const std::vector<std::string>& files) {
    identify(job, spec, wishes);
    if (!wishes.skip || wishes.overwrite) return;
    bool all = true;
    for (const std::string& file : files) {
        const auto before = is_there(file) ? identity_in(file) : std::nullopt;
        const Resemblance piece = before ? resemblance(*before, identity_, input_) : Resemblance{};
        if (piece.likeness == Likeness::job_changed || piece.likeness == Likeness::input_changed)
            throw refused(file, "exists already, and ", piece, input_.recording().label());
        all = all && before && piece.likeness == Likeness::same;
    }
    if (all) ending_ = Ending::skipped;
}

void Survival::look(const JobTexts& job, io::OutputSpec& spec, const Wishes& wishes, bool extendable) {
    identify(job, spec, wishes);
    const bool look = wishes.resume || (wishes.skip && !wishes.overwrite);
    const auto before = look && is_there(spec.path) ? identity_in(spec.path) : std::nullopt;
    const Resemblance finished = before ? resemblance(*before, identity_, input_) : Resemblance{};
    if (before && finished.likeness == Likeness::same) {
        ending_ = Ending::skipped;
        std::error_code
            ignored;  // a run that was killed just after it had renamed its part leaves its journal
        if (!is_there(spec.path + ".part"))
            std::filesystem::remove(io::PartFile::journal_path(spec.path), ignored);
        return;
    }
    replaces_ = before && finished.likeness == Likeness::appended;
    if (before && !replaces_ && !wishes.overwrite)
        throw refused(spec.path, "exists already, and ", finished, input_.recording().label());
    if (take_up_part(spec)) return;
    if (!replaces_ || !extendable) return;
    entry_.geometry.kept_frames = frames_that_stay(finished.frames_before);
    if (entry_.geometry.kept_frames > 0) ending_ = Ending::extended;
}

bool Survival::take_up_part(const io::OutputSpec& spec) {
    if (!wishes_.resume || !is_there(spec.path + ".part")) return false;
    const std::string label = input_.recording().label();
    auto entry = read_journal(io::PartFile::journal_path(spec.path));
    if (!entry) return false;
    const Resemblance part = resemblance(entry->identity, identity_, input_);
    if (part.likeness == Likeness::same) {
        entry_ = std::move(*entry);
        ending_ = Ending::resumed;
        return true;
    }
    if (part.likeness == Likeness::appended)
        warn(label, "was appended to after the run that is to be resumed, which starts anew");
    else if (!wishes_.overwrite)
        throw refused(spec.path, "what an interrupted run left of it ", part, label);
    return false;
}

// Of the frames of an output made when the input had `frames_before` frames: those of whole blocks that use
// none beyond.
Index Survival::frames_that_stay(Index frames_before) const {
    const Stage& last = *chain_.back();
    const Index block = last.block(), begin = wanted_.first / block * block;
    const auto stay = [&](Index count) {
        const Index end = std::min((wanted_.first + count + block - 1) / block * block, last.shape().frames);
        return spans_for(chain_, {begin, end - begin}).front().end() <= frames_before;
    };
    Index low = 0, high = wanted_.count;
    while (low < high) {
        const Index middle = low + (high - low + 1) / 2;
        if (stay(middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void Survival::prepare(io::OutputSpec& spec, StreamOptions& stream) {
    if (replaces_) spec.overwrite = true;
    stream.kept_frames = entry_.geometry.kept_frames;
    samples_kept_ = stream.kept_frames * spec.shape.lanes();
    if (ending_ == Ending::resumed) {
        stream.chunk_frames = entry_.geometry.chunk_frames;
        stream.group = entry_.geometry.group;
        const Span todo{wanted_.first + stream.kept_frames, wanted_.count - stream.kept_frames};
        const Cuts cuts = stream_cuts(input_, chain_, wanted_, false, stream);
        samples_kept_ += samples_in(cuts, todo, entry_.progress.items);
        spec.resume = samples_kept_;
    }
    spec_ = spec;
}

std::unique_ptr<Journal> Survival::begin(io::Writer& file, SampleType computed, StreamOptions& stream) {
    if (ending_ != Ending::resumed) {
        entry_.identity = identity_;
        entry_.progress.input.resize(stats::level_count(input_.recording().shape.lanes()));
        entry_.progress.output.resize(stats::level_count(chain_.back()->shape().lanes()));
    }
    if (ending_ == Ending::extended) copy_kept(file, computed);
    stream.from = &entry_.progress;
    if (!wishes_.resume) return nullptr;
    if (!file.resumable()) {
        warn(spec_.path, "is written so that it cannot be taken up: a run that is stopped starts anew");
        return nullptr;
    }
    if (ending_ != Ending::resumed) {
        const Index kept = entry_.geometry.kept_frames;
        entry_.geometry = stream_cuts(input_, chain_, wanted_, file.ordered(), stream).geometry();
        entry_.geometry.kept_frames = kept;
    }
    file.keep();
    auto journal =
        std::make_unique<Journal>(io::PartFile::journal_path(spec_.path), entry_, [&file] { file.flush(); });
    stream.journal = journal.get();
    stream.hash = true;  // of what is written now, should a resumed run be asked for it
    return journal;
}

// Frames that stay come from the output that is there, chunk by chunk.
void Survival::copy_kept(io::Writer& file, SampleType computed) {
    io::OpenOptions options;
    options.dataset = spec_.dataset;
    options.time_axis = spec_.time_axis;
    options.raw = true;
    const auto before = io::open(spec_.path, options);
    const io::Recording& r = before->recording();
    const Index frames = entry_.geometry.kept_frames;
    if (r.type != spec_.type || r.shape.outer != spec_.shape.outer || r.shape.inner != spec_.shape.inner ||
        r.shape.frames < frames)
        throw failed(spec_.path, "is not what its /convoy tells", "--overwrite makes it anew");
    const Lanes lanes = Lanes::all(spec_.shape);
    const Index step = std::max<Index>(1, (Index{8} << 20) / (lanes.count() * bytes_of(spec_.type)));
    std::vector<std::byte> samples(static_cast<std::size_t>(step * lanes.count() * bytes_of(spec_.type)));
    std::vector<float> narrow(computed != spec_.type ? static_cast<std::size_t>(step * lanes.count()) : 0);
    for (Index at = 0; at < frames; at += step) {
        check_cancelled();
        const Span span{at, std::min(step, frames - at)};
        before->read(span, lanes, samples.data(), span.count);
        file.write(span, lanes, samples.data(), span.count);
        std::byte* results = samples.data();
        if (computed != spec_.type) {  // float32 that is stored as float64
            const auto* wide = reinterpret_cast<const double*>(samples.data());
            std::transform(wide, wide + span.count * lanes.count(), narrow.begin(),
                           [](double value) { return static_cast<float>(value); });
            results = reinterpret_cast<std::byte*>(narrow.data());
        }
        const Window window{results, computed, span, spec_.shape.outer, spec_.shape.inner, span.count};
        add_levels(window, span, lanes, spec_.shape, entry_.progress.output);
        entry_.progress.hash.add(stats::hash(window, span, 0, lanes, spec_.shape));
    }
}

}  // namespace convoy::pipelines
