#include "core/conv2d/cpu_stage.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>

#include "core/base/division.hpp"
#include "core/base/lane_scale.hpp"
#include "core/conv2d/bands.hpp"
#include "core/device/threads.hpp"

namespace convoy::conv2d {

namespace {

// Samples of a patch: a part of the second-level cache, beside the kernel and the outputs.
constexpr Index patch_bytes = 192 << 10;
constexpr Index most_columns = 512;
constexpr Index most_rows = 64;
// Results that do not go to their place at once (complex ones).
constexpr Index result_bytes = 512 << 10;
// Patches of all threads together; with very large kernels fewer of them work.
constexpr Index most_bytes = Index{64} << 20;

template <class T>
class CpuStage : public Stage {
  public:
    CpuStage(const Problem& p, std::unique_ptr<PatchKernel<T>> kernel)
        : p_(p),
          kernel_(std::move(kernel)),
          bands_(p, kernel_->row_step()),
          out_(p.outputs()),
          before_(p.before()),
          spread_(p.spread()) {
        for (Index s = 0; s < p.taps.columns; ++s)
            reach_ = std::max(reach_, place_of(p, s).offset);
        choose_patch();
        allocate();
    }

    Shape shape() const override { return p_.out_shape(); }
    SampleType type() const override { return SampleTypeOf<T>::value; }
    Span needed(Span out) const override { return p_.needed(out); }
    Index needed_at_most(Index count) const override { return p_.needed_at_most(count); }
    Index pieces() const override { return bands_.count(); }
    Lanes lanes_of(Index first, Index count) const override { return bands_.lanes_of(first, count); }
    Lanes used(Lanes out) const override { return bands_.used(out); }

    void run(const Window& in, const Window& out, Lanes, device::Stream&) override {
        bands_.each({out.outer_first, out.outer, 0, out.inner},
                    [&](const Box& box) { run_box(box, in, out); });
    }

  private:
    static constexpr Index line = 64 / sizeof(T);

    struct Job {
        Index image, group, part;
        Index row, rows, column, count;  // of the outputs
    };
    struct Worker {
        T *x, *y, *scratch;
    };

    void run_box(const Box& box, const Window& in, const Window& out) {
        const Index across = ceil_div(out.span.count, columns_), down = ceil_div(box.out_rows, rows_);
        const Index patches = box.images * p_.groups * p_.parts() * down * across;
        std::atomic<Index> next{0};
        const auto work = [&](std::size_t worker) {
            for (Index i; (i = next.fetch_add(1, std::memory_order_relaxed)) < patches;) {
                Job job;
                job.column = out.span.first + i % across * columns_;
                job.count = std::min(columns_, out.span.end() - job.column);
                const Index row = i / across % down * rows_;
                job.row = box.out_first + row;
                job.rows = std::min(rows_, box.out_rows - row);
                const Index plane = i / across / down;
                job.part = plane % p_.parts();
                job.group = plane / p_.parts() % p_.groups;
                job.image = box.image + plane / p_.parts() / p_.groups;
                compute(job, in, out, memory_of(worker));
            }
        };
        const auto crew = static_cast<std::size_t>(std::min(workers_, patches));
        if (crew <= 1) return work(0);
        tbb::parallel_for(std::size_t{0}, crew, work, tbb::simple_partitioner{});
    }

    // Results whose neighbours along a row are no neighbours in memory.
    bool strided() const { return p_.complex || p_.channels_last; }
    Index phases() const { return std::min(p_.stride.columns, spread_.columns); }
    Index phase_width(Index columns) const { return columns + reach_; }
    Index in_rows(Index rows) const { return (rows - 1) * p_.stride.rows + spread_.rows; }
    Index samples(Index rows, Index columns) const {
        return p_.group_channels() * std::min(in_rows(rows), p_.extent.rows) * phases() *
               phase_width(columns);
    }

    // Patches are the same for any chunk in their rows, and as large as the cache holds.
    void choose_patch() {
        const Index step = kernel_->column_step(), fit = patch_bytes / Index{sizeof(T)};
        rows_ = kernel_->row_step();
        columns_ = round_up(std::min(most_columns, out_.columns), step);
        while (columns_ > step && samples(rows_, columns_) > fit)
            columns_ = round_up(columns_ / 2, step);
        const Index results =
            strided() ? result_bytes / Index{sizeof(T)} / (p_.group_filters() * columns_) : most_rows;
        const Index step_rows = kernel_->row_step(), all = round_up(out_.rows, step_rows);
        const auto fits = [&](Index rows) {
            return samples(rows, columns_) <= fit || rows * columns_ <= kernel_->fewest_outputs();
        };
        while (rows_ + step_rows <= std::min({most_rows, results, all}) && fits(rows_ + step_rows))
            rows_ += step_rows;
    }

    void allocate() {
        x_size_ = round_up(samples(rows_, columns_), line);
        y_size_ = strided() ? round_up(p_.group_filters() * rows_ * columns_, line) : 0;
        const Index bytes = (x_size_ + y_size_ + kernel_->scratch()) * Index{sizeof(T)};
        workers_ = std::clamp<Index>(most_bytes / bytes, 1, device::threads_here());
        if (!p_.work) p_.work = std::make_shared<WorkMemory>();
        auto& threads = p_.work->threads;
        threads.resize(std::max(threads.size(), static_cast<std::size_t>(workers_)));
        for (std::size_t i = 0; i < static_cast<std::size_t>(workers_); ++i)
            if (threads[i].size() < static_cast<std::size_t>(bytes))
                threads[i] = device::Buffer(device::cpu(), static_cast<std::size_t>(bytes));
    }

    Worker memory_of(std::size_t worker) const {
        T* const x = reinterpret_cast<T*>(p_.work->threads[worker].data());
        return {x, x + x_size_, x + x_size_ + y_size_};
    }

    void compute(const Job& job, const Window& in, const Window& out, const Worker& w) const {
        Patch<T> patch;
        patch.x = w.x;
        patch.width = phase_width(round_up(job.count, kernel_->column_step()));
        patch.phase = patch.width;
        patch.row = phases() * patch.width;
        const Index top = job.row * p_.stride.rows - before_.rows;
        patch.first_row = std::clamp<Index>(top, 0, p_.extent.rows);
        patch.rows =
            std::clamp<Index>(top + in_rows(job.rows), patch.first_row, p_.extent.rows) - patch.first_row;
        patch.channel = patch.rows * patch.row;
        patch.group = job.group;
        patch.first_out = job.row;
        patch.out_rows = job.rows;
        patch.count = job.count;
        load(job, patch, in, w.x);

        const Index plane = (job.image * p_.filters + job.group * p_.group_filters()) * out_.rows + job.row;
        if (strided()) {
            patch.y = w.y;
            patch.y_row = job.count;
            patch.y_filter = job.rows * job.count;
        } else {
            patch.y = out.at<T>(plane - out.outer_first, job.column);
            patch.y_row = out.pitch;
            patch.y_filter = out_.rows * out.pitch;
        }
        kernel_->run(patch, w.scratch);
        if (strided()) store(job, patch, out);
    }

    void load(const Job& job, const Patch<T>& patch, const Window& in, T* x) const {
        const Index left = job.column * p_.stride.columns - before_.columns;
        for (Index c = 0; c < p_.group_channels(); ++c)
            for (Index r = 0; r < patch.rows; ++r) {
                const Series from = series_of(job.image, job.group * p_.group_channels() + c, p_.channels,
                                              patch.first_row + r, p_.extent.rows, job.part);
                for (Index j = 0; j < phases(); ++j)
                    load_phase(from, left + j, in, patch.width,
                               x + c * patch.channel + r * patch.row + j * patch.phase);
            }
    }

    // Where a row of a plane is in a window, and which pair of the scaling is its own.
    struct Series {
        Index outer, inner, scale;
    };
    Series series_of(Index image, Index plane, Index planes, Index row, Index rows, Index part) const {
        if (!p_.channels_last) {
            const Index outer = (image * planes + plane) * rows + row;
            return {outer, part, outer};
        }
        const Index outer = image * rows + row;
        return {outer, plane * p_.parts() + part, outer * planes + plane};
    }

    // Columns first, first + stride, ... of one row, with zeros beyond the edges. What lies past the window
    // is used by no output that is kept.
    void load_phase(const Series& series, Index first, const Window& in, Index width, T* x) const {
        const Index step = p_.stride.columns;
        const auto place = [&](Index column) {
            return std::clamp<Index>(column <= first ? 0 : ceil_div(column - first, step), 0, width);
        };
        const Index from = place(in.span.first), to = std::max(from, place(in.span.end()));
        std::fill_n(x, from, T{0});
        if (to > from) {
            const std::byte* const src =
                in.data + (series.outer - in.outer_first) * in.row_bytes() +
                ((first + from * step - in.span.first) * in.inner + series.inner) * bytes_of(in.type);
            const LaneScale scale = scale_of(p_.scaling, series.scale);
            T* const dst = x + from;
            load_rows<T>(src, in.type, step * in.inner, 1, to - from, &scale, &dst);
        }
        std::fill(x + to, x + width, T{0});
    }

    void store(const Job& job, const Patch<T>& patch, const Window& out) const {
        for (Index k = 0; k < p_.group_filters(); ++k)
            for (Index r = 0; r < job.rows; ++r) {
                const Series to = series_of(job.image, job.group * p_.group_filters() + k, p_.filters,
                                            job.row + r, out_.rows, job.part);
                const T* const row = patch.y + k * patch.y_filter + r * patch.y_row;
                store_rows<T>(&row, 1, job.count,
                              out.at<T>(to.outer - out.outer_first, job.column) + to.inner, out.inner);
            }
    }

    Problem p_;
    std::unique_ptr<PatchKernel<T>> kernel_;
    Bands bands_;
    Pair out_, before_, spread_;
    Index reach_ = 0;                // the farthest tap in a phase
    Index rows_ = 1, columns_ = 1;   // of a patch's outputs
    Index x_size_ = 0, y_size_ = 0;  // T's of a thread
    Index workers_ = 1;
};

}  // namespace

TapPlace place_of(const Problem& p, Index s) {
    const Index column = s * p.dilation.columns;
    return {column % p.stride.columns, column / p.stride.columns};
}

std::unique_ptr<Stage> make_cpu_stage(const Problem& p, std::unique_ptr<PatchKernel<float>> single,
                                      std::unique_ptr<PatchKernel<double>> dual) {
    if (single) return std::make_unique<CpuStage<float>>(p, std::move(single));
    return std::make_unique<CpuStage<double>>(p, std::move(dual));
}

}  // namespace convoy::conv2d
