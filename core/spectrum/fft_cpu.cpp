// Spectrograms on the CPU: threads share tiles of (channels x transforms); each transform is one SIMD lane of
// frames_cpu.hpp, so that no result depends on how the tiles were cut.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "core/device/threads.hpp"
#include "core/spectrum/average.hpp"
#include "core/spectrum/frames_cpu.hpp"
#include "core/spectrum/samples_cpu.hpp"
#include "core/spectrum/stage.hpp"

namespace convoy::spectrum {

namespace {

constexpr Index most_channels = 16;      // of a tile of interleaved samples: a cache line of them
constexpr Index tile_samples = 1 << 17;  // about what a tile reads

template <class T>
class CpuStage : public SpectrogramStage {
  public:
    explicit CpuStage(const Problem& p) : SpectrogramStage(p), p_(problem()), samples_(p_), spectra_(p_) {
        if (p_.decibels) log_ = p_.logarithm();
        const Index lanes = spectra_.lanes(), length = p_.window_length();
        rows_ =
            p_.shape.inner / parts() > 1 ? std::min(most_channels / parts(), p_.shape.inner / parts()) : 1;
        spacing_ = std::min(p_.hop, length);
        const Index room = tile_samples / (rows_ * parts()) - length;
        tile_ = std::clamp<Index>(room / spacing_, 1, 8 * lanes);
        tile_ = (std::min(tile_, p_.transforms()) + lanes - 1) / lanes * lanes;
        width_ = ((tile_ - 1) * spacing_ + length + line - 1) / line * line;
        for (Index t = 0; t < device::threads_here(); ++t)
            workers_.emplace_back(*this);
    }

    void run(const Window& in, const Window& out, Lanes lanes, device::Stream&) override {
        const Index inner = in.inner / parts(), groups = (inner + rows_ - 1) / rows_;
        const Index tile = p_.average ? 1 : tile_;  // columns of one piece of work
        const Index pieces = (out.span.count + tile - 1) / tile, bands = in.outer * groups;
        std::atomic<Index> next{0};
        const auto work = [&](std::size_t worker) {
            for (Index i; (i = next.fetch_add(1, std::memory_order_relaxed)) < bands * pieces;) {
                const Index first = out.span.first + i % pieces * tile;
                Piece piece;
                piece.outer = i / pieces / groups;
                piece.channel = i / pieces % groups * rows_;
                piece.channels = std::min(rows_, inner - piece.channel);
                piece.row = piece.outer * inner + piece.channel;
                piece.columns = {first, std::min(tile, out.span.end() - first)};
                compute(piece, in, out, lanes, workers_[worker]);
            }
        };
        const auto crew =
            static_cast<std::size_t>(std::min<Index>(static_cast<Index>(workers_.size()), bands * pieces));
        if (crew <= 1) return work(0);
        tbb::parallel_for(std::size_t{0}, crew, work, tbb::simple_partitioner{});
    }

  private:
    static constexpr Index line = 64 / sizeof(T);

    // Channels [channel, channel + channels) of window row `outer`, and columns of the result.
    struct Piece {
        Index outer, channel, channels;
        Index row;  // the first channel's place among the window's
        Span columns;
    };

    // Samples of a piece's rows, frames so far apart.
    struct Rows {
        std::array<const T*, most_channels> at{};
        Index spacing = 1;
    };

    // One thread's memory.
    struct Worker {
        explicit Worker(const CpuStage& s)
            : rows(device::cpu(), sizeof(T) * static_cast<std::size_t>(s.rows_ * s.parts() * s.row_step())),
              scratch(device::cpu(), sizeof(T) * static_cast<std::size_t>(s.spectra_.scratch())),
              values(device::cpu(), sizeof(T) * static_cast<std::size_t>(s.spectra_.values())) {
            if (s.p_.average)
                for (Index r = 0; r < s.rows_; ++r)
                    averages.emplace_back(*s.p_.average, s.p_.bins(), s.spectra_.lanes());
        }
        static T* start(const device::Buffer& b) { return reinterpret_cast<T*>(b.data()); }
        device::Buffer rows, scratch, values;
        std::vector<Averager<T>> averages;  // by channel
    };

    Index parts() const { return input_parts(); }
    Index row_step() const { return width_ + line; }  // rows do not share the same cache sets

    void compute(const Piece& piece, const Window& in, const Window& out, const Lanes& lanes, Worker& w) {
        const Span all = p_.transforms_of(piece.columns);
        for (auto& average : w.averages)
            average.start();
        for (Index first = all.first; first < all.end(); first += tile_) {
            const Span some{first, std::min(tile_, all.end() - first)};
            const Rows x = gather(piece, some, in, lanes, w);
            for (Index c = 0; c < piece.channels; ++c)
                transform(piece, c, some, x, out, w);
        }
        const Index lane_count = spectra_.lanes(), bins = p_.bins();
        for (Index c = 0; c < static_cast<Index>(w.averages.size()) && c < piece.channels; ++c) {
            T* const values = Worker::start(w.values);
            w.averages[c].finish(values);
            if (log_) to_decibels(values, bins * lane_count, *log_);
            store(piece, c, {piece.columns.first, 1}, values, out);
        }
    }

    // Rows of the piece's samples: those of the window where they can be used, else copies, without what lies
    // between frames.
    Rows gather(const Piece& piece, Span some, const Window& in, const Lanes& lanes, Worker& w) const {
        const Index rows = piece.channels * parts(), first = piece.channel * parts();
        const Span all = samples_of(some);
        Rows x;
        if (samples_.in_place(in, all)) {
            x.at[0] = in.at<T>(piece.outer, all.first);
            x.spacing = p_.hop;
            return x;
        }
        x.spacing = spacing_;
        std::array<T*, most_channels> copies{};
        for (Index r = 0; r < rows; ++r)
            x.at[r] = copies[r] = Worker::start(w.rows) + r * row_step();
        if (spacing_ == p_.hop) {
            samples_.load(in, lanes, piece.outer, first, rows, all, copies.data());
            return x;
        }
        for (Index m = some.first; m < some.end(); ++m) {
            samples_.load(in, lanes, piece.outer, first, rows, samples_of({m, 1}), copies.data());
            for (Index r = 0; r < rows; ++r)
                copies[r] += spacing_;
        }
        return x;
    }

    void transform(const Piece& piece, Index c, Span some, const Rows& x, const Window& out, Worker& w) {
        const T* const* const row = x.at.data() + c * parts();
        const Index lane_count = spectra_.lanes();
        T* const values = Worker::start(w.values);
        for (Index m = 0; m < some.count; m += lane_count) {
            const Index count = std::min(lane_count, some.count - m);
            std::array<typename FrameSpectra<T>::Frame, 64> frames{};
            for (Index lane = 0; lane < count; ++lane) {
                const Index at = (m + lane) * x.spacing;
                frames[lane] = {row[0] + at, p_.complex ? row[1] + at : nullptr};
            }
            spectra_.run(frames.data(), count, values, Worker::start(w.scratch));
            if (p_.average) {
                w.averages[c].add(values, count);
                continue;
            }
            if (log_) to_decibels(values, p_.bins() * lane_count, *log_);
            store(piece, c, {some.first + m, count}, values, out);
        }
    }

    void store(const Piece& piece, Index c, Span columns, const T* values, const Window& out) const {
        const Index lane_count = spectra_.lanes(), bins = p_.bins();
        const Index row = (piece.row + c) * bins;
        for (Index b = 0; b < bins; ++b) {
            T* const to = out.at<T>(row + b, columns.first);
            const T* const from = values + b * p_.parts() * lane_count;
            if (p_.parts() == 1)
                std::copy_n(from, columns.count, to);
            else
                for (Index i = 0; i < columns.count; ++i) {
                    to[2 * i] = from[i];
                    to[2 * i + 1] = from[lane_count + i];
                }
        }
    }

    const Problem& p_;
    ExtendedSamples<T> samples_;
    FrameSpectra<T> spectra_;
    std::optional<Problem::Logarithm> log_;
    Index rows_ = 1;     // channels of a tile
    Index tile_ = 1;     // transforms of a tile, a multiple of the lanes
    Index spacing_ = 1;  // from frame to frame of a row: none of what no frame has
    Index width_ = 1;    // samples of a row
    std::vector<Worker> workers_;
};

std::string unsupported(const Problem&, const device::Device&) {
    return {};
}

std::unique_ptr<Stage> make(const Problem& p, const device::Device&) {
    if (p.arithmetic == SampleType::float64) return std::make_unique<CpuStage<double>>(p);
    return std::make_unique<CpuStage<float>>(p);
}

}  // namespace

extern constinit const Strategy fft_cpu{
    "fft", device::Backend::cpu, "a frame a SIMD lane, transforms in float or double", unsupported, make};

}  // namespace convoy::spectrum
