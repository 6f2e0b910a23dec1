#include "io/hdf5/stamp_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy::io::h5 {

double simplest(double x, double tolerance) {
    for (int digits = 1; digits < 15; ++digits) {
        const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(x)));
        const double rounded = std::round(x * scale) / scale;
        if (std::abs(rounded - x) <= tolerance * x) return rounded;
    }
    return x;
}

namespace {
constexpr std::size_t most_breaks = 1 << 16;  // beyond, the first ones tell enough

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

class Fit {
  public:
    Fit(StampSeries& stamps, Index frames, double tolerance)
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

    StampSeries& stamps_;
    Index frames_;
    double tolerance_, step_ = 0, coarse_ = 0, slope_ = 0, uncertainty_ = 0;
    std::vector<Index> breaks_;
    std::vector<Gap> gaps_;
};
}  // namespace

std::optional<StampFit> fit_stamps(StampSeries& stamps, Index frames, double tolerance) {
    Fit fit(stamps, frames, tolerance);
    if (!fit.run()) return std::nullopt;
    return StampFit{fit.rate(), fit.gaps()};
}

}  // namespace convoy::io::h5
