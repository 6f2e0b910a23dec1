#include "io/hdf5/stamps.hpp"

#include <algorithm>
#include <cmath>

#include "io/hdf5/stamp_fit.hpp"

namespace convoy::io::h5 {

namespace {
/// Stamps as seconds after the first one; whole numbers are subtracted before they are rounded.
class Stamps final : public StampSeries {
  public:
    Stamps(Dataset dataset, const std::string& where) : dataset_(std::move(dataset)), where_(where) {
        Type type(check(H5Dget_type(dataset_), where_, "time stamps cannot be read"));
        whole_ = H5Tget_class(type) == H5T_INTEGER;
        if (whole_) read_as(H5T_NATIVE_INT64, 0, 1, &first_whole_);
        read_as(H5T_NATIVE_DOUBLE, 0, 1, &first_);
        const double size = std::abs(first_);
        const bool single = !whole_ && H5Tget_size(type) <= 4;
        resolution_ = whole_ ? 1 : single ? size * 0x1p-23 : size * 0x1p-52;
        find_unit();
    }

    bool unit_known() const { return unit_.has_value(); }
    double first() const { return first_ * unit_.value_or(1); }
    double resolution() const override { return resolution_ * unit_.value_or(1); }
    /// Of the first stamp, where they are absolute.
    std::optional<Timestamp> start() const { return start_; }

    /// Seconds after the first stamp (counts of an unknown unit where that is unknown); NaN where a stamp is
    /// NaN.
    void read(Index from, Index count, std::vector<double>& out) override {
        out.resize(static_cast<std::size_t>(count));
        const double unit = unit_.value_or(1);
        if (whole_) {
            whole_block_.resize(out.size());
            read_as(H5T_NATIVE_INT64, from, count, whole_block_.data());
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = static_cast<double>(whole_block_[i] - first_whole_) * unit;
        } else {
            read_as(H5T_NATIVE_DOUBLE, from, count, out.data());
            for (double& value : out)
                value = (value - first_) * unit;
        }
    }

    /// Frames up to the last stamp that is neither 0 nor NaN; all of them where the stamps do not begin above
    /// 0.
    Index finished(Index frames) {
        std::vector<double> block;
        for (Index end = frames; end > 0;) {
            const Index from = std::max<Index>(0, end - block_frames);
            block.resize(static_cast<std::size_t>(end - from));
            read_as(H5T_NATIVE_DOUBLE, from, end - from, block.data());
            for (Index i = end; i > from; --i) {
                const double value = block[static_cast<std::size_t>(i - 1 - from)];
                if (value > 0) return i;
                if (value < 0) return frames;  // negative times: zeros are stamps like others
            }
            end = from;
        }
        return frames;
    }

  private:
    void read_as(hid_t type, Index from, Index count, void* data) {
        Lock lock;
        const hsize_t start = static_cast<hsize_t>(from), size = static_cast<hsize_t>(count);
        Space stored(check(H5Dget_space(dataset_), where_, "time stamps cannot be read"));
        check(H5Sselect_hyperslab(stored, H5S_SELECT_SET, &start, nullptr, &size, nullptr), where_,
              "time stamps cannot be read");
        Space memory(check(H5Screate_simple(1, &size, nullptr), where_, "time stamps cannot be read"));
        check(H5Dread(dataset_, type, memory, stored, H5P_DEFAULT, data), where_,
              "time stamps cannot be read");
    }

    void find_unit() {
        const std::string text = units_of(dataset_);
        unit_ = seconds_in(text);
        if (!unit_) unit_ = epoch_unit(first_);
        if (!unit_ && !whole_) unit_ = 1;
        if (!unit_) return;
        Timestamp epoch{0, true};
        if (const auto since = text.find(" since "); since != std::string::npos) {
            std::string_view rest;  // CF also writes "+00:00" behind a space
            const auto named = parse_timestamp(std::string_view(text).substr(since + 7), &rest);
            if (!named) return;
            epoch.nanoseconds = named->nanoseconds;  // CF means UTC where it names no zone
        } else if (first_ * *unit_ < 1e8) {
            return;  // counted from some start of their own
        }
        const double nanoseconds = *unit_ * 1e9;
        // A float64 of seconds since 1970 is good to 0.2 us: finer digits are noise.
        epoch.nanoseconds += whole_ && nanoseconds >= 1 ? first_whole_ * std::llround(nanoseconds)
                                                        : std::llround(first_ * *unit_ * 1e6) * 1000;
        start_ = epoch;
    }

    Dataset dataset_;
    std::string where_;
    bool whole_ = false;
    double first_ = 0;
    std::int64_t first_whole_ = 0;
    std::optional<double> unit_;
    std::optional<Timestamp> start_;
    double resolution_ = 0;
    std::vector<std::int64_t> whole_block_;
};

/// The numbers at `path` in source.home, one for each of `frames`; an invalid handle for anything else.
Dataset open_series(const Source& source, const std::string& path, Index frames) {
    Dataset dataset(H5Dopen2(source.home, path.c_str(), H5P_DEFAULT));
    if (!dataset.valid() || dataset_extents(dataset) != std::vector<Index>{frames}) return {};
    const Type type(H5Dget_type(dataset));
    const auto element = element_of(type);
    if (!element || element->parts != 1) return {};
    return dataset;
}

}  // namespace

std::optional<StampLine> stamp_line(const Source& source, const std::string& path, Index frames,
                                    double tolerance) {
    Lock lock;
    Dataset dataset = open_series(source, path, frames);
    if (!dataset.valid() || frames < 2) return std::nullopt;
    StampLine line;
    line.path = path;
    if (const auto even = even_scale(dataset)) {
        const double step = even->step * seconds_in(units_of(dataset)).value_or(0);
        if (!(step > 0)) return std::nullopt;
        line.frames = frames;
        line.rate = simplest(1 / step, 1e-12);
        return line;
    }
    Stamps stamps(std::move(dataset), source.path + ":" + path);
    line.frames = stamps.finished(frames);
    if (line.frames < 2) return std::nullopt;
    auto fit = fit_stamps(stamps, line.frames, tolerance);
    if (!fit) return std::nullopt;
    if (stamps.unit_known()) line.rate = fit->rate;
    line.start = stamps.start();
    line.gaps = std::move(fit->gaps);
    return line;
}

std::optional<TimeOrigin> time_origin(const Source& source, const std::string& path, Index frames) {
    Lock lock;
    Dataset dataset = open_series(source, path, frames);
    if (!dataset.valid()) return std::nullopt;
    const std::string units = units_of(dataset);
    const bool in_samples = units == "sample" || units == "samples";
    if (const auto even = even_scale(dataset)) {
        const double unit = in_samples ? 1 : seconds_in(units).value_or(0);
        return unit > 0 ? std::optional(TimeOrigin{even->first * unit, in_samples}) : std::nullopt;
    }
    const Stamps stamps(std::move(dataset), source.path + ":" + path);
    if (stamps.start() || !(stamps.unit_known() || in_samples) || !std::isfinite(stamps.first()))
        return std::nullopt;
    return TimeOrigin{stamps.first(), in_samples};
}

}  // namespace convoy::io::h5
