// What the reader says about an input before its first sample is read.
#include <sys/stat.h>

#include <cmath>

#include "core/base/quantity.hpp"
#include "io/hdf5/stamps.hpp"

namespace convoy::io::h5 {

namespace {
/// Fills in a recording; channels are selected after it.
class Description {
  public:
    Description(const Source& source, const Storage& storage, const OpenOptions& options)
        : source_(source), storage_(storage) {
        recording_.path = source.path;
        recording_.dataset = source.name;
        recording_.format = "hdf5";
        describe_file();
        describe_array(options);
        describe_time(options);
    }
    Recording recording() && { return std::move(recording_); }

  private:
    void describe_file();
    void describe_array(const OpenOptions& options);
    void describe_time(const OpenOptions& options);
    /// Stamps in dimension scales of the time axis (and Terra15's, whose attributes are known to be off), or
    /// else beside the data.
    std::optional<StampLine> find_stamps(const OpenOptions& options, bool attached_only) const;
    void find_rate(const OpenOptions& options, const std::optional<StampLine>& attached,
                   const std::optional<StampLine>& beside);
    /// Whether an axis beside time is one of frequencies: an image.
    bool has_frequencies() const;
    void find_origin(const std::optional<StampLine>& stamps);
    void find_start(const OpenOptions& options, const std::optional<StampLine>& stamps);

    const Source& source_;
    const Storage& storage_;
    Frame frame_;
    Recording recording_;
};

void Description::describe_file() {
    struct stat about {};
    if (::stat(recording_.path.c_str(), &about) != 0) throw failed(recording_.path, "cannot be examined");
    recording_.file_bytes = about.st_size;
    recording_.modified = to_iso8601({about.st_mtim.tv_sec * 1'000'000'000LL + about.st_mtim.tv_nsec, true});
}

void Description::describe_array(const OpenOptions& options) {
    const AxisChoice choice = time_axis(source_, options);
    frame_ = frame_of(source_.dims, choice.axis);
    recording_.dims = source_.dims;
    recording_.time_axis = choice.axis;
    recording_.time_axis_source = choice.source;
    recording_.type = source_.element.type;
    recording_.stored_type = source_.element.text;
    recording_.complex = source_.element.parts == 2;
    recording_.wide = source_.element.wide;
    recording_.chunk = storage_.chunk;
    recording_.storage = storage_text(storage_);
    if (!storage_.chunk.empty()) {
        recording_.decoded_chunk_bytes = source_.element.stored_bytes;
        for (const Index extent : storage_.chunk)
            recording_.decoded_chunk_bytes *= extent;
    }
    if (options.image) recording_.axes = image_axes(source_);
    if (!options.raw) recording_.scaling = scaling_of(source_, frame_.outer * frame_.inner);
}

std::optional<StampLine> Description::find_stamps(const OpenOptions& options, bool attached_only) const {
    std::vector<std::string> paths;
    if (attached_only) {
        paths = dimension_scales(source_.dataset)[static_cast<std::size_t>(frame_.time_axis)];
        for (const std::string& name : stamp_names(source_))
            if (name.ends_with("/gps_time") || name.ends_with("/posix_time")) paths.push_back(name);
    } else {
        paths = stamp_names(source_);
    }
    for (const std::string& path : paths)
        if (auto line = stamp_line(source_, path, frame_.frames, options.gap_tolerance)) return line;
    return std::nullopt;
}

void Description::describe_time(const OpenOptions& options) {
    const auto attached = find_stamps(options, true);
    const auto beside = attached ? std::nullopt : find_stamps(options, false);
    const auto& stamps = attached ? attached : beside;
    find_rate(options, attached, beside);

    if (stamps && stamps->frames < frame_.frames) {
        warn(source_.where, "the last " + to_text(frame_.frames - stamps->frames) + " of " +
                                to_text(frame_.frames) + " samples have no time stamp in " + stamps->path +
                                " (an unfinished block): they are left out");
        recording_.dims[static_cast<std::size_t>(frame_.time_axis)] = stamps->frames;
    }
    if (stamps) recording_.gaps = stamps->gaps;
    if (stamps && !stamps->gaps.empty() && options.gaps == "error") {
        const Gap& gap = stamps->gaps.front();
        const std::size_t more = stamps->gaps.size() - 1;
        throw failed(
            source_.where,
            "time stamps in " + stamps->path + " have a gap of " + to_text(gap.seconds) + " s at sample " +
                to_text(gap.at) + (more > 0 ? ", and " + std::to_string(more) + " more" : ""),
            "--gaps split filters each piece on its own, --gaps ignore takes the samples as they follow");
    }
    find_origin(stamps);
    find_start(options, stamps);
}

/// Where the first sample is on the scale of time: attached to the signal, or stamps beside it.
void Description::find_origin(const std::optional<StampLine>& stamps) {
    std::vector<std::string> paths =
        dimension_scales(source_.dataset)[static_cast<std::size_t>(frame_.time_axis)];
    if (stamps) paths.push_back(stamps->path);
    for (const std::string& path : paths) {
        const auto origin = time_origin(source_, path, frame_.frames);
        if (!origin || (!origin->in_samples && !recording_.rate)) continue;
        recording_.time_first =
            origin->in_samples && recording_.rate ? origin->value / *recording_.rate : origin->value;
        return;
    }
}

void Description::find_start(const OpenOptions& options, const std::optional<StampLine>& stamps) {
    std::optional<Start> start;
    if (!options.filename_time.empty()) {
        const auto time = time_in_name(recording_.path, options.filename_time);
        if (!time)
            throw failed(recording_.path,
                         "its name has no time that fits --filename-time '" + options.filename_time + "'");
        start = Start{to_iso8601(*time), "file name"};
    } else if (stamps && stamps->start) {
        start = Start{to_iso8601(*stamps->start), "first time stamp in " + stamps->path};
    } else {
        start = start_in_file(source_);
        const auto zero = start && start->of_zero ? parse_timestamp(start->time) : std::nullopt;
        if (zero && recording_.rate) start->time = to_iso8601(later(*zero, recording_.time_first));
    }
    if (!start) return;
    recording_.start_time = start->time;
    recording_.start_time_source = start->source;
}

bool Description::has_frequencies() const {
    const auto scales = dimension_scales(source_.dataset);
    for (std::size_t axis = 0; axis < scales.size(); ++axis) {
        if (plain_name(axis_label(source_.dataset, static_cast<int>(axis))) == "frequency") return true;
        for (const std::string& path : scales[axis])
            if (plain_name(last_of(path)) == "frequency") return true;
    }
    return false;
}

void Description::find_rate(const OpenOptions& options, const std::optional<StampLine>& attached,
                            const std::optional<StampLine>& beside) {
    recording_.rate_looked_for = rate_looked_for(source_);
    const auto stamped = [](const std::optional<StampLine>& line) -> std::optional<Rate> {
        if (!line || !line->rate) return std::nullopt;
        return Rate{*line->rate, "time stamps in " + line->path};
    };
    std::optional<Rate> rate;
    if (options.rate) {
        if (!(*options.rate > 0) || !std::isfinite(*options.rate))
            throw usage_error("--rate must be a positive number of Hz", {}, source_.where);
        rate = Rate{*options.rate, "--rate"};
    }
    const bool gps =
        attached && (attached->path.ends_with("/gps_time") || attached->path.ends_with("/posix_time"));
    // An image's `sampling_rate` is that of the signal that it was made of: its columns are farther apart.
    if (!rate && (gps || (!options.image && has_frequencies()))) rate = stamped(attached);
    if (!rate) rate = rate_of_maker(source_);
    if (!rate) rate = rate_in_attributes(source_.dataset, source_.home_name);
    const auto scales = dimension_scales(source_.dataset);
    for (const std::string& scale : scales[static_cast<std::size_t>(frame_.time_axis)]) {
        Object open = open_object(source_.home, scale);
        if (!rate && open.valid()) rate = rate_in_attributes(open, scale);
    }
    if (!rate) rate = stamped(attached);
    if (!rate) rate = rate_in_parents(source_);
    if (!rate) rate = rate_in_siblings(source_);
    const auto from_stamps = attached ? stamped(attached) : stamped(beside);
    if (!rate) rate = from_stamps;
    if (!rate) return;
    if (from_stamps && !options.rate && !options.image &&
        std::abs(from_stamps->hertz / rate->hertz - 1) > 0.01)
        warn(source_.where, "rate is " + to_text(rate->hertz) + " Hz by " + rate->source + ", and " +
                                to_text(from_stamps->hertz) + " Hz by " + from_stamps->source +
                                ": taking the former; --rate settles it");
    recording_.rate = rate->hertz;
    recording_.rate_source = rate->source;
}

}  // namespace

Recording describe(const Source& source, const Storage& storage, const OpenOptions& options) {
    Lock lock;
    return Description(source, storage, options).recording();
}

}  // namespace convoy::io::h5
