#include "io/hdf5/stamps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/quantity.hpp"

namespace convoy::io::h5 {

namespace {
constexpr Index block_frames = 1 << 18;
constexpr std::size_t most_breaks = 1 << 16;  // beyond, the first ones tell enough

/// Stamps as seconds after the first one; whole numbers are subtracted before they are rounded.
class Stamps {
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
    double resolution() const { return resolution_ * unit_.value_or(1); }
    /// Of the first stamp, where they are absolute.
    std::optional<Timestamp> start() const { return start_; }

    /// Seconds after the first stamp (counts of an unknown unit where that is unknown); NaN where a stamp is
    /// NaN.
    void read(Index from, Index count, std::vector<double>& out) {
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

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Step from stamp to stamp, before the fit: the median over pairs some way apart, which coarse stamps,
/// jitter and single gaps do not move.
double usual_step(const std::vector<double>& t) {
    const std::size_t apart = std::min<std::size_t>(t.size() - 1, 100);
    std::vector<double> steps;
    for (std::size_t i = 0; i + apart < t.size(); ++i)
        steps.push_back((t[i + apart] - t[i]) / static_cast<double>(apart));
    return median(std::move(steps));
}

/// Sums of one piece between gaps, for a slope that all pieces share: stamps less the usual step.
struct Piece {
    double n = 0, mean_i = 0, mean_t = 0, sii = 0, sit = 0, stt = 0;
    void add(double i, double t) {
        n += 1;
        const double di = i - mean_i, dt = t - mean_t;
        mean_i += di / n;
        mean_t += dt / n;
        sii += di * (i - mean_i);
        sit += di * (t - mean_t);
        stt += dt * (t - mean_t);
    }
};

/// The simplest decimal number within `tolerance` (relative) of x: 500 for 500.0000003.
double simplest(double x, double tolerance) {
    for (int digits = 1; digits < 15; ++digits) {
        const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(x)));
        const double rounded = std::round(x * scale) / scale;
        if (std::abs(rounded - x) <= tolerance * x) return rounded;
    }
    return x;
}

class Fit {
  public:
    Fit(Stamps& stamps, Index frames, double tolerance)
        : stamps_(stamps), frames_(frames), tolerance_(tolerance) {}

    /// False where there is no line.
    bool run() {
        std::vector<double> block;
        stamps_.read(0, std::min(frames_, block_frames), block);
        step_ = usual_step(block);
        if (!std::isfinite(step_) || step_ <= 0) return false;
        coarse_ = coarseness(block);
        fit();
        for (const Index at : breaks_)
            confirm(at);
        return std::isfinite(slope_) && slope_ > 0;
    }

    double rate() const { return simplest(1 / slope_, std::max(1e-12, uncertainty_)); }
    const std::vector<Gap>& gaps() const { return gaps_; }

  private:
    /// By how much stamps are rounded: their type's resolution, or what shows where several in a row are the
    /// same.
    double coarseness(const std::vector<double>& t) const {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 1; i < t.size(); ++i)
            if (const double d = t[i] - t[i - 1]; d > 0) least = std::min(least, d);
        return std::max(stamps_.resolution(), least > 1.25 * step_ ? least : 0);
    }

    bool breaks(double difference) const {
        return !(std::abs(difference - step_) <= tolerance_ * step_ + coarse_);
    }

    void fit() {
        Piece piece;
        double sii = 0, sit = 0, stt = 0, last = 0;
        const auto close = [&] {
            sii += piece.sii;
            sit += piece.sit;
            stt += piece.stt;
            piece = {};
        };
        std::vector<double> block;
        for (Index from = 0; from < frames_; from += block_frames) {
            stamps_.read(from, std::min(block_frames, frames_ - from), block);
            for (std::size_t k = 0; k < block.size(); ++k) {
                const Index i = from + static_cast<Index>(k);
                if (i > 0 && breaks(block[k] - last)) {
                    if (breaks_.size() < most_breaks) breaks_.push_back(i);
                    close();
                }
                last = block[k];
                piece.add(static_cast<double>(i), block[k] - step_ * static_cast<double>(i));
            }
        }
        close();
        const double correction = sii > 0 ? sit / sii : 0;
        slope_ = step_ + correction;
        const double residual =
            std::max(0.0, stt - correction * sit) / std::max(1.0, static_cast<double>(frames_ - 2));
        uncertainty_ =
            sii > 0 ? 3 * (std::sqrt(residual) + 0.3 * stamps_.resolution()) / std::sqrt(sii) / slope_ : 0;
    }

    /// A break is a gap where the stamps after it lie off the line of those before it: medians of a few on
    /// each side.
    void confirm(Index at) {
        constexpr Index around = 5;
        const Index from = std::max<Index>(0, at - around), end = std::min(frames_, at + around);
        std::vector<double> t, before, after;
        stamps_.read(from, end - from, t);
        for (Index i = from; i < end; ++i) {
            const double offset = t[static_cast<std::size_t>(i - from)] - slope_ * static_cast<double>(i);
            (i < at ? before : after).push_back(offset);
        }
        const double jump = median(std::move(after)) - median(std::move(before));
        if (std::abs(jump) > tolerance_ * slope_ &&
            (gaps_.empty() || at - gaps_.back().at > 1 || !same(jump)))
            gaps_.push_back({at, jump});
    }
    bool same(double jump) const { return std::abs(jump - gaps_.back().seconds) < tolerance_ * slope_; }

    Stamps& stamps_;
    Index frames_;
    double tolerance_, step_ = 0, coarse_ = 0, slope_ = 0, uncertainty_ = 0;
    std::vector<Index> breaks_;
    std::vector<Gap> gaps_;
};
}  // namespace

namespace {

/// First value and step (in the scale's units) of a long scale that convoy wrote without its values.
struct EvenScale {
    double first = 0, step = 1;
};
std::optional<EvenScale> even_scale(hid_t dataset) {
    const auto first = attribute(dataset, "first"), step = attribute(dataset, "step");
    if (!first || !step || !first->number() || !step->number()) return std::nullopt;
    return EvenScale{*first->number(), *step->number()};
}

}  // namespace

std::optional<StampLine> stamp_line(const Source& source, const std::string& path, Index frames,
                                    double tolerance) {
    Lock lock;
    Dataset dataset(H5Dopen2(source.home, path.c_str(), H5P_DEFAULT));
    const auto dims = dataset.valid() ? dataset_extents(dataset) : std::nullopt;
    if (!dims || dims->size() != 1 || (*dims)[0] != frames || frames < 2) return std::nullopt;
    Type type(H5Dget_type(dataset));
    const auto element = element_of(type);
    if (!element || element->parts != 1) return std::nullopt;

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
    Fit fit(stamps, line.frames, tolerance);
    if (!fit.run()) return std::nullopt;
    if (stamps.unit_known()) line.rate = fit.rate();
    line.start = stamps.start();
    line.gaps = fit.gaps();
    return line;
}

std::optional<TimeOrigin> time_origin(const Source& source, const std::string& path, Index frames) {
    Lock lock;
    Dataset dataset(H5Dopen2(source.home, path.c_str(), H5P_DEFAULT));
    const auto dims = dataset.valid() ? dataset_extents(dataset) : std::nullopt;
    if (!dims || dims->size() != 1 || (*dims)[0] != frames) return std::nullopt;
    Type type(H5Dget_type(dataset));
    const auto element = element_of(type);
    if (!element || element->parts != 1) return std::nullopt;
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
