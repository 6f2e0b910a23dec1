#include "core/conv1d/cpu_stage.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/division.hpp"
#include "core/base/lane_scale.hpp"
#include "core/device/threads.hpp"

namespace convoy::conv1d {

namespace {

// Lanes of a tile of interleaved samples: whole cache lines of them.
constexpr Index most_rows = 64;
// Outputs of such a tile, and a part of the taps' number, so that reading the history again costs little.
constexpr Index fewest_outputs = 512;
constexpr Index history_share = 16;
// Samples read for one tile, history apart, and of the history alone: bounds at any decimation and length.
constexpr Index most_samples = Index{1} << 18;
// Scratch of all threads together; with very long filters fewer of them work.
constexpr Index most_scratch_bytes = Index{96} << 20;

// One rectangle of work: lanes [lane, lane + rows) of window row `outer` (lanes along outer in planar
// windows), outputs [first, first + count), of which the first `kept` are wanted.
struct Tile {
    Index outer, lane, rows;
    Index first, count, kept;
};

template <class T>
class CpuStage : public Stage {
  public:
    CpuStage(const Problem& p, std::unique_ptr<RowKernel<T>> kernel)
        : p_(p), kernel_(std::move(kernel)), m_(static_cast<Index>(p.taps.size())), reach_(p.reach()) {
        const Index block = kernel_->block(), tile = round_up(kernel_->tile(), block),
                    fewest = kernel_->tile_rows();
        rows_ = p.shape.inner == 1 ? fewest : std::max(fewest, std::min(p.shape.inner, most_rows));
        while (rows_ > fewest && rows_ * m_ > most_samples)
            rows_ = std::max(fewest, rows_ / 2);
        outputs_ = std::max({tile * fewest / rows_, fewest_outputs, m_ / history_share});
        outputs_ = std::min({outputs_, tile, most_samples / (rows_ * p.decimate), p.outputs()});
        outputs_ = round_up(std::max<Index>(outputs_, 1), block);
        allocate(round_up((outputs_ - 1) * p.decimate + m_ + kernel_->slack(), line),
                 round_up(outputs_, line));
    }

    Shape shape() const override { return {p_.shape.outer, p_.outputs(), p_.shape.inner}; }
    SampleType type() const override { return SampleTypeOf<T>::value; }
    Index block() const override { return kernel_->block(); }
    Facts facts() const override { return kernel_->facts(); }

    Span needed(Span out) const override {
        const Index first = out.first / block() * block(), end = round_up(out.end(), block());
        return p_.folded(input_of(first), input_of(end - 1) + m_);
    }
    // A window's history alone is as long as what padding can fold back once; folding more often takes the
    // whole signal, which is then the shorter.
    Index needed_at_most(Index count) const override {
        return std::min(p_.shape.frames, (round_up(count, block()) - 1) * p_.decimate + m_);
    }

    void run(const Window& in, const Window& out, Lanes lanes, device::Stream&) override {
        const Index group = in.inner == 1 ? kernel_->tile_rows() : rows_;
        const Index groups = ((in.inner == 1 ? in.outer : in.inner) + group - 1) / group;
        const Index bands = in.inner == 1 ? groups : in.outer * groups;
        const Index first_tile = out.span.first / outputs_;
        const Index tiles = out.span.count > 0 ? (out.span.end() - 1) / outputs_ - first_tile + 1 : 0;
        std::atomic<Index> next{0};
        const auto work = [&](std::size_t worker) {
            for (Index i; (i = next.fetch_add(1, std::memory_order_relaxed)) < bands * tiles;) {
                const Index band = i / tiles, at = (first_tile + i % tiles) * outputs_;
                Tile t;
                t.outer = in.inner == 1 ? band * group : band / groups;
                t.lane = in.inner == 1 ? 0 : band % groups * group;
                t.rows = std::min(group, in.inner == 1 ? in.outer - t.outer : in.inner - t.lane);
                t.first = std::max(at, out.span.first);
                t.kept = std::min(at + outputs_, out.span.end()) - t.first;
                t.count = round_up(t.kept, block());
                compute(t, in, out, lanes, workers_[worker]);
            }
        };
        const auto crew =
            static_cast<std::size_t>(std::min<Index>(static_cast<Index>(workers_.size()), bands * tiles));
        if (crew <= 1) return work(0);
        tbb::parallel_for(std::size_t{0}, crew, work, tbb::simple_partitioner{});
    }

  private:
    static constexpr Index line = 64 / sizeof(T);

    // What one thread works with: rows of samples and of outputs, and the kernel's scratch.
    struct Worker {
        std::vector<const T*> x;
        std::vector<T*> x_rows, y_rows, edge_rows, y;
        std::vector<LaneScale> scale;
        T* scratch = nullptr;
        device::Buffer memory;
    };

    void allocate(Index x_width, Index y_width) {
        // A line apart from one another, rows do not share the same cache sets.
        const Index x_step = x_width + line, y_step = y_width + line;
        const Index edge_step = edges_apart() ? y_step : 0;
        const Index samples = rows_ * (x_step + y_step + edge_step) + kernel_->scratch(),
                    bytes = samples * Index{sizeof(T)};
        const Index threads = device::threads_here();
        workers_.resize(static_cast<std::size_t>(std::clamp<Index>(most_scratch_bytes / bytes, 1, threads)));
        for (Worker& w : workers_) {
            w.memory = device::Buffer(device::cpu(), static_cast<std::size_t>(bytes));
            T* at = reinterpret_cast<T*>(w.memory.data());
            for (Index r = 0; r < rows_; ++r, at += x_step)
                w.x_rows.push_back(at);
            for (Index r = 0; r < rows_; ++r, at += y_step)
                w.y_rows.push_back(at);
            for (Index r = 0; r < rows_; ++r, at += edge_step)
                w.edge_rows.push_back(at);
            w.scratch = at;
            w.x.resize(w.x_rows.size());
            w.y.resize(w.x_rows.size());
            w.scale.resize(w.x_rows.size());
        }
    }

    Index input_of(Index output) const { return output * p_.decimate + p_.offset() - (m_ - 1); }

    // Outputs of a block share its rounding. So that an output which uses no padding is the same whatever
    // lies beyond the ends, it comes from a block with zeros there, and only those that use padding from one
    // with it.
    bool edges_apart() const { return kernel_->block() > 1 && p_.padding != Padding::zero; }

    // The tile's outputs that use samples beyond the ends: all but [first, end) of them.
    Span inside(const Tile& t) const {
        const Index d = p_.decimate, before = m_ - 1 - p_.offset();
        const Index first = before <= 0 ? 0 : (before + d - 1) / d;
        const Index end =
            p_.shape.frames - p_.offset() <= 0 ? 0 : (p_.shape.frames - p_.offset() - 1) / d + 1;
        const Index from = std::clamp(first - t.first, Index{0}, t.kept);
        return {from, std::max<Index>(0, std::min(end - t.first, t.kept) - from)};
    }

    void compute(const Tile& t, const Window& in, const Window& out, const Lanes& lanes, Worker& w) {
        const bool planar = in.inner == 1;
        for (Index r = 0; r < t.rows; ++r)
            w.scale[r] = planar ? scale_of(lanes, t.outer + r, 0) : scale_of(lanes, t.outer, t.lane + r);
        const Span clear = edges_apart() ? inside(t) : Span{0, t.kept};
        const bool edge = clear.count < t.kept;
        const bool in_place = planar && t.count == t.kept && !edge;
        load(t, in, edges_apart() ? Padding::zero : p_.padding, w);
        for (Index r = 0; r < t.rows; ++r)
            w.y[r] = in_place ? out.at<T>(t.outer + r, t.first) : w.y_rows[r];
        kernel_->run(w.x.data(), w.y.data(), t.rows, t.first, t.count, w.scratch);
        if (in_place) return;
        if (edge) {
            load(t, in, p_.padding, w);
            kernel_->run(w.x.data(), w.edge_rows.data(), t.rows, t.first, t.count, w.scratch);
            for (Index r = 0; r < t.rows; ++r) {
                w.y[r] = w.y_rows[r];
                std::copy(w.edge_rows[r], w.edge_rows[r] + clear.first, w.y[r]);
                std::copy(w.edge_rows[r] + clear.end(), w.edge_rows[r] + t.kept, w.y[r] + clear.end());
            }
        }
        if (planar)
            for (Index r = 0; r < t.rows; ++r)
                std::copy_n(w.y[r], t.kept, out.at<T>(t.outer + r, t.first));
        else
            store_rows<T>(w.y.data(), t.rows, t.kept, out.at<T>(t.outer, t.first) + t.lane, out.inner);
    }

    // The samples of a tile as rows of the arithmetic type: where they lie, if they are such rows already.
    void load(const Tile& t, const Window& in, Padding padding, Worker& w) const {
        const Span x{input_of(t.first), (t.count - 1) * p_.decimate + m_};
        const Span loaded{x.first, x.count + kernel_->slack()};
        const bool plain =
            std::all_of(w.scale.begin(), w.scale.begin() + t.rows, [](auto& s) { return s.trivial(); });
        // A block that goes beyond reach() goes beyond the signal too, and is not all in the window.
        if (in.inner == 1 && in.type == type() && plain && in.span.contains(loaded)) {
            for (Index r = 0; r < t.rows; ++r)
                w.x[r] = in.at<T>(t.outer + r, x.first);
        } else {
            gather(t, x, in, padding, w);
        }
    }

    LaneScale scale_of(const Lanes& lanes, Index outer, Index inner) const {
        return convoy::scale_of(p_.scaling, p_.shape, p_.complex ? 2 : 1, lanes, outer, inner);
    }

    // Extended samples x of the tile's lanes into the worker's rows.
    void gather(const Tile& t, Span x, const Window& in, Padding padding, Worker& w) const {
        const Index n = p_.shape.frames;
        const Index first = std::clamp<Index>(std::max(x.first, reach_.first), 0, n);
        const Index end = std::clamp<Index>(std::min(x.end(), reach_.end()), first, n);
        const bool planar = in.inner == 1;
        const Index bytes = bytes_of(in.type);
        for (Index r = 0; r < t.rows; ++r)
            w.y[r] = w.x_rows[r] + (first - x.first);
        const auto address = [&](Index r, Index frame) {
            const Index outer = planar ? t.outer + r : t.outer, lane = planar ? 0 : t.lane + r;
            return in.data + outer * in.row_bytes() + ((frame - in.span.first) * in.inner + lane) * bytes;
        };
        if (end > first && planar)
            for (Index r = 0; r < t.rows; ++r)
                load_rows<T>(address(r, first), in.type, 1, 1, end - first, &w.scale[r], &w.y[r]);
        else if (end > first)
            load_rows<T>(address(0, first), in.type, in.inner, t.rows, end - first, w.scale.data(),
                         w.y.data());
        for (Index r = 0; r < t.rows; ++r) {
            w.x[r] = w.x_rows[r];
            const auto value = [&](Index frame) { return value_at(address(r, frame), in.type, w.scale[r]); };
            const auto fill = [&](Index a, Index b) {
                for (Index i = a; i < b; ++i)
                    w.x_rows[r][i - x.first] = beyond(i, padding, value);
            };
            fill(x.first, std::min(first, x.end()));
            fill(std::max(end, x.first), x.end());
            std::fill_n(w.x_rows[r] + x.count, kernel_->slack(), T{0});
        }
    }

    static double value_at(const std::byte* from, SampleType type, const LaneScale& s) {
        double value = 0;
        const std::byte* const p = from;
        dispatch(type, [&](auto stored) {
            std::memcpy(&stored, p, sizeof stored);
            value = static_cast<double>(stored) * s.gain + s.offset;
        });
        return value;
    }

    // The extended sample at a frame outside the signal, or beyond what the outputs use.
    template <class Value>
    T beyond(Index frame, Padding padding, const Value& value) const {
        if (frame < reach_.first || frame >= reach_.end()) return T{0};
        const Source s = source_of(frame, p_.shape.frames, padding);
        if (s.index < 0) return T{0};
        double sum = s.sign * value(s.index);
        // A multiple of 0 is left out: the end sample may be NaN, or not be in the window.
        if (s.first != 0) sum += static_cast<double>(s.first) * value(0);
        if (s.last != 0) sum += static_cast<double>(s.last) * value(p_.shape.frames - 1);
        return static_cast<T>(sum);
    }

    Problem p_;
    std::unique_ptr<RowKernel<T>> kernel_;
    Index m_;
    Span reach_;
    Index rows_ = 1, outputs_ = 1;  // of a tile: lanes, outputs
    std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Stage> make_cpu_stage(const Problem& p, std::unique_ptr<RowKernel<float>> single,
                                      std::unique_ptr<RowKernel<double>> dual) {
    if (single) return std::make_unique<CpuStage<float>>(p, std::move(single));
    return std::make_unique<CpuStage<double>>(p, std::move(dual));
}

}  // namespace convoy::conv1d
