#include "pipelines/stream.hpp"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>

#include "core/device/ranges.hpp"
#include "pipelines/cancel.hpp"
#include "pipelines/chunk_reader.hpp"
#include "pipelines/windows.hpp"

namespace convoy::pipelines {

namespace {

using Clock = std::chrono::steady_clock;

// Adds the time until the end of a scope to a sum of seconds. Each sum belongs to one serial filter.
class Timed {
  public:
    explicit Timed(double& sum) : sum_(sum), start_(Clock::now()) {}
    Timed(const Timed&) = delete;
    ~Timed() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    double& sum_;
    Clock::time_point start_;
};

// One chunk of one group on its way through the filters.
struct Item {
    Index number = 0;  // over all groups
    std::size_t group = 0;
    Span out;
    std::vector<Span> spans;
    int slot = 0;
    bool recorded = false;  // the journal is to know when it is written
};

class Run {
  public:
    Run(io::Reader& reader, const Chain& chain, Span wanted, io::Writer& writer, const StreamOptions& options)
        : start_(Clock::now()),
          reader_(reader),
          chain_(chain),
          wanted_(wanted),
          writer_(writer),
          options_(options),
          cuts_(stream_cuts(reader, chain, wanted, writer.ordered(), options)),
          groups_(groups_of(cuts_, chain)),
          chunks_(reader, cuts_.in_bytes, options.levels) {
        const io::Recording& in = reader.recording();
        todo_ = {wanted.first + options.kept_frames, wanted.count - options.kept_frames};
        const bool staged = !chain.front()->single_pass();
        ring_ = options.memory->make(options.device, {cuts_.slots, cuts_.in_bytes, cuts_.out_bytes, staged});
        for (std::size_t bytes : cuts_.between_bytes)
            between_.emplace_back(options.device, bytes);
        report_.input.resize(stats::level_count(in.shape.lanes()));
        report_.stage_s.resize(chain.size());
        report_.output.resize(stats::level_count(chain.back()->shape().lanes()));
        states_.resize(static_cast<std::size_t>(cuts_.slots));
        tapped_.resize(options.taps.size());
        done_ = options.kept_frames * chain.back()->shape().lanes();
        if (options.from != nullptr) go_on_from(*options.from);
        report_.setup_s = std::chrono::duration<double>(Clock::now() - start_).count();
    }

    StreamReport operator()() {
        const auto start = Clock::now();
        tbb::parallel_pipeline(
            static_cast<std::size_t>(cuts_.slots),
            tbb::make_filter<void, Item>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
                return tbb::this_task_arena::isolate([&] { return read(flow); });
            }) & tbb::make_filter<Item, Item>(tbb::filter_mode::serial_in_order, [&](Item item) {
                tbb::this_task_arena::isolate([&] { compute(item); });
                return item;
            }) & tbb::make_filter<Item, Item>(tbb::filter_mode::serial_in_order, [&](Item item) {
                tbb::this_task_arena::isolate([&] { finish(item); });
                return item;
            }) & tbb::make_filter<Item, void>(tbb::filter_mode::serial_in_order, [&](Item item) {
                tbb::this_task_arena::isolate([&] { write(item); });
            }));
        if (options_.journal != nullptr) record_all();
        check_cancelled();
        report_.total_s = std::chrono::duration<double>(Clock::now() - start).count() + report_.setup_s;
        report_.chunk_frames = cuts_.chunk_frames;
        report_.passes = static_cast<Index>(groups_.size());
        report_.chunks = cuts_.chunks() * report_.passes;
        report_.slots = cuts_.slots;
        report_.traffic = ring_->traffic();
        report_.footprint = ring_->footprint();
        if (options_.hash) report_.hash = hash_.text();
        return std::move(report_);
    }

  private:
    void go_on_from(const Progress& from) {
        next_ = written_ = from.items;
        report_.input = from.input;
        report_.output = from.output;
        hash_ = from.hash;
        clipped_before_ = from.clipped;
        done_ += samples_in(cuts_, todo_, from.items);
        if (from.items == 0) return;
        // Samples that the chunk before has read are counted already.
        if (const Index k = next_ % cuts_.chunks(); k > 0)
            chunks_.counted(spans_for(chain_, cuts_.chunk(k - 1)).front());
    }

    // At the end, and after a signal: all that was read has been written.
    void record_all() {
        options_.journal->offer(
            {written_, clipped_before_ + writer_.clipped(), hash_, report_.input, report_.output});
        options_.journal->flush();
        if (const int signal = signal_received(); signal != 0) throw Cancelled(signal, true);
    }

    // What the journal is to know of an item on its way: kept by slot, since those behind it go on.
    Progress& state_of(const Item& item) { return states_[static_cast<std::size_t>(item.slot)]; }

    Item read(tbb::flow_control& flow) {
        Item item;
        if (todo_.count == 0) {
            flow.stop();
            return item;
        }
        item.number = next_++;
        item.group = static_cast<std::size_t>(item.number / cuts_.chunks());
        const bool enough = options_.items_most > 0 && item.number >= options_.items_most;
        if (item.group >= groups_.size() || enough || signal_received() != 0) {
            flow.stop();
            return item;
        }
        const Timed timed(report_.read_s);
        const device::Range range("read");
        const Index k = item.number % cuts_.chunks();
        item.out = cuts_.chunk(k);
        item.spans = spans_for(chain_, item.out);
        item.slot = static_cast<int>(item.number % cuts_.slots);
        const Window in = input_window(item);
        const Span next = k + 1 < cuts_.chunks() ? spans_for(chain_, cuts_.chunk(k + 1)).front() : Span{};
        chunks_.read(in, group_of(item).lanes.front(), group_of(item).fresh.front(), k == 0, next,
                     report_.input);
        item.recorded = options_.journal != nullptr && options_.journal->due();
        if (item.recorded) state_of(item).input = report_.input;
        return item;
    }

    const Group& group_of(const Item& item) const { return groups_[item.group]; }

    Window input_window(const Item& item) const {
        return window_at(ring_->slot(item.slot).in, reader_.recording().type, item.spans.front(),
                         group_of(item).lanes.front());
    }

    Window output_window(const Item& item, std::byte* data) const {
        return window_at(data, chain_.back()->type(), item.out, group_of(item).lanes.back());
    }

    void compute(const Item& item) {
        const Timed timed(report_.compute_s);
        const std::vector<Lanes>& lanes = group_of(item).lanes;
        const Window in = input_window(item), out = output_window(item, nullptr);
        ring_->submit(item.slot, static_cast<std::size_t>(in.size_bytes()),
                      static_cast<std::size_t>(out.size_bytes()),
                      [&](const std::byte* from, std::byte* to, device::Stream& stream) {
                          Window current = in;
                          current.data = const_cast<std::byte*>(from);  // stages do not write their input
                          for (std::size_t i = 0; i < chain_.size(); ++i) {
                              const bool last = i + 1 == chain_.size();
                              const Window result = last ? output_window(item, to)
                                                         : window_at(between_[i].data(), chain_[i]->type(),
                                                                     item.spans[i + 1], lanes[i + 1]);
                              const Timed stage_time(report_.stage_s[i]);
                              chain_[i]->run(current, result, lanes[i], stream);
                              tap(item, i + 1, result);
                              current = result;
                          }
                      });
    }

    // Frames of an intermediate result that the chunk before did not have, of rows that no group before had.
    void tap(const Item& item, std::size_t stages, const Window& whole) {
        const Group& group = group_of(item);
        const Window result = from_row(whole, group.fresh[stages]);
        const Lanes lanes = from_row(group.lanes[stages], group.fresh[stages]);
        if (lanes.count() == 0) return;
        for (std::size_t t = 0; t < options_.taps.size(); ++t) {
            const Tap& wanted = options_.taps[t];
            if (wanted.stages != stages) continue;
            Index& next = tapped_[t];
            if (item.number % cuts_.chunks() == 0) next = wanted.frames.first;
            const Span part =
                overlap(overlap(result.span, wanted.frames), {next, wanted.frames.end() - next});
            if (part.count == 0) continue;
            next = part.end();
            in_pieces(
                result, part, lanes, wanted.writer->concurrent(),
                [&](Span span, const Lanes& some, std::byte* data) {
                    wanted.writer->write({span.first - wanted.origin, span.count}, some, data, result.pitch);
                });
        }
    }

    // What is wanted of a chunk's result, and where it lies.
    struct Result {
        Window window;
        Span part;
        Lanes lanes;
    };
    Result result_of(const Item& item) const {
        return {output_window(item, ring_->slot(item.slot).out), overlap(item.out, todo_),
                group_of(item).lanes.back()};
    }

    // Waits for the result and takes its levels.
    void finish(const Item& item) {
        {
            const Timed timed(report_.wait_s);
            ring_->wait(item.slot);
        }
        const Timed timed(report_.measure_s);
        take_levels(item);
        if (!item.recorded) return;
        state_of(item).output = report_.output;
        state_of(item).hash = hash_;
    }

    void take_levels(const Item& item) {
        const auto [out, part, lanes] = result_of(item);
        if (part.count == 0) return;
        const Shape& whole = chain_.back()->shape();
        if (options_.levels) add_levels(out, part, lanes, whole, report_.output);
        if (!options_.hash) return;
        Shape written = whole;
        written.frames = wanted_.count;
        hash_.add(stats::hash(out, part, wanted_.first, lanes, written));
    }

    void write(const Item& item) {
        const Timed timed(report_.write_s);
        const device::Range range("write");
        put(item);
        written_ = item.number + 1;
        if (!item.recorded) return;
        state_of(item).items = written_;
        state_of(item).clipped = clipped_before_ + writer_.clipped();
        options_.journal->offer(state_of(item));
    }

    void put(const Item& item) {
        const auto [out, part, lanes] = result_of(item);
        if (part.count == 0) return;
        in_pieces(out, part, lanes, !writer_.ordered() && writer_.concurrent(),
                  [&, pitch = out.pitch](Span span, const Lanes& some, std::byte* data) {
                      writer_.write({span.first - wanted_.first, span.count}, some, data, pitch);
                  });
        done_ += part.count * lanes.count();
        if (options_.progress) options_.progress(done_, wanted_.count * chain_.back()->shape().lanes());
    }

    Clock::time_point start_;
    io::Reader& reader_;
    const Chain& chain_;
    Span wanted_, todo_;
    io::Writer& writer_;
    const StreamOptions& options_;
    Cuts cuts_;
    std::vector<Group> groups_;
    ChunkReader chunks_;
    std::unique_ptr<memory::Ring> ring_;
    std::vector<device::Buffer> between_;
    Index next_ = 0, written_ = 0;  // items
    Index done_ = 0;                // samples
    Index clipped_before_ = 0;      // by a run that this one goes on from
    std::vector<Progress> states_;  // by slot
    std::vector<Index> tapped_;     // of each tap, the frame that comes next
    stats::Hash hash_;
    StreamReport report_;
};

}  // namespace

void StreamReport::add(const StreamReport& other) {
    chunks += other.chunks;
    setup_s += other.setup_s, read_s += other.read_s, compute_s += other.compute_s,
        measure_s += other.measure_s;
    write_s += other.write_s, wait_s += other.wait_s, total_s += other.total_s;
    for (std::size_t i = 0; i < std::min(stage_s.size(), other.stage_s.size()); ++i)
        stage_s[i] += other.stage_s[i];
    traffic.bytes_h2d += other.traffic.bytes_h2d, traffic.bytes_d2h += other.traffic.bytes_d2h;
    traffic.h2d_s += other.traffic.h2d_s, traffic.kernel_s += other.traffic.kernel_s,
        traffic.d2h_s += other.traffic.d2h_s;
    for (std::size_t i = 0; i < std::min(input.size(), other.input.size()); ++i)
        input[i].add(other.input[i]);
    for (std::size_t i = 0; i < std::min(output.size(), other.output.size()); ++i)
        output[i].add(other.output[i]);
}

StreamReport run_stream(io::Reader& reader, const Chain& chain, Span wanted, io::Writer& writer,
                        const StreamOptions& options) {
    return Run(reader, chain, wanted, writer, options)();
}

}  // namespace convoy::pipelines
