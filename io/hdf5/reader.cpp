// The HDF5 member of the formats: opens a dataset, says what it is, and hands out its samples.
#include <algorithm>
#include <limits>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/quantity.hpp"
#include "io/hdf5/crash_guard.hpp"
#include "io/hdf5/metadata.hpp"
#include "io/hdf5/write.hpp"

namespace convoy::io {

namespace h5 {
namespace {
/// A run of neighbouring channels in the order asked for: channels `first`, `first + 1`, ... of the file.
struct Run {
    Index to, first, count;
};

std::vector<Run> runs_of(const std::vector<Index>& selected, Index from, Index count) {
    std::vector<Run> runs;
    for (Index i = from; i < from + count; ++i) {
        const Index channel = selected.empty() ? i : selected[static_cast<std::size_t>(i)];
        if (selected.empty()) return {{0, from, count}};
        if (!runs.empty() && runs.back().first + runs.back().count == channel)
            ++runs.back().count;
        else
            runs.push_back({i - from, channel, 1});
    }
    return runs;
}

class Hdf5Reader final : public Reader {
  public:
    Hdf5Reader(const std::string& path, const OpenOptions& options);

    bool serial() const override { return samples_->serial(); }
    void read(Span span, Lanes lanes, std::byte* dst, Index pitch) override;

  private:
    void select(const OpenOptions& options);

    void read_stored(Span span, Lanes lanes, std::byte* dst, Index pitch);
    void read_elements(const Block& block, std::byte* dst, Index pitch);
    void gather_inner(Block block, const std::vector<Run>& runs, std::byte* dst, Index pitch);

    Source source_;
    Frame frame_;  // of the stored array
    std::unique_ptr<Samples> samples_;
    bool channels_outer_ = false;  // which side of time the selected channels are on
    std::vector<Index> selected_;  // by position in the output; empty: all
    std::optional<double> fill_;   // the stored number that stands for NaN: samples are delivered as floats
};

Hdf5Reader::Hdf5Reader(const std::string& path, const OpenOptions& options)
    : source_(open_source(path, options.dataset)) {
    Lock lock;
    const Storage storage = check_storage(source_.dataset, source_.home_path, source_.where);
    recording_ = describe(source_, storage, options);
    frame_ = frame_of(source_.dims, recording_.time_axis);
    select(options);
    if (!options.raw) fill_ = fill_value_of(source_);
    if (fill_) recording_.type = source_.element.wide ? SampleType::float64 : SampleType::float32;
    samples_ = open_samples(source_, storage, frame_);
}

void Hdf5Reader::select(const OpenOptions& options) {
    const auto time = static_cast<std::size_t>(frame_.time_axis);
    std::optional<std::size_t> channel_axis;
    int axes = 0;
    for (std::size_t axis = 0; axis < source_.dims.size(); ++axis) {
        if (axis == time) continue;
        if (!channel_axis || source_.dims[axis] > source_.dims[*channel_axis]) channel_axis = axis;
        axes += source_.dims[axis] > 1 ? 1 : 0;
    }
    if (!options.channels.empty()) {
        if (options.image)
            throw usage_error("--channels is for signals, and this is read as an image", "leave it out",
                              source_.where);
        if (axes > 1)
            throw usage_error("--channels needs one axis of channels, and there are " + std::to_string(axes),
                              {}, source_.where);
        selected_ = parse_channels(options.channels, frame_.outer * frame_.inner, source_.where);
        recording_.selected = selected_;
        if (channel_axis) {
            channels_outer_ = *channel_axis < time;
            recording_.dims[*channel_axis] = static_cast<Index>(selected_.size());
        } else {
            if (selected_.size() > 1)
                throw usage_error("--channels takes the only channel once", {}, source_.where);
            selected_.clear();
        }
        for (std::vector<double>* each : {&recording_.scaling.gain, &recording_.scaling.offset}) {
            if (each->size() < 2) continue;
            std::vector<double> taken;
            for (const Index channel : recording_.selected)
                taken.push_back((*each)[static_cast<std::size_t>(channel)]);
            *each = std::move(taken);
        }
    }
    const Frame shape = frame_of(recording_.dims, frame_.time_axis);
    recording_.shape = {shape.outer, shape.frames, shape.inner * source_.element.parts};
}

void Hdf5Reader::read(Span span, Lanes lanes, std::byte* dst, Index pitch) {
    if (!fill_) return read_stored(span, lanes, dst, pitch);
    const SampleType stored = source_.element.type;
    const Index row = span.count * lanes.inner_count;
    std::vector<std::byte> integers(static_cast<std::size_t>(lanes.outer_count * row * bytes_of(stored)));
    read_stored(span, lanes, integers.data(), span.count);
    dispatch(stored, [&](auto from) {
        dispatch(recording_.type, [&](auto to) {
            using To = decltype(to);
            const auto* in = reinterpret_cast<const decltype(from)*>(integers.data());
            for (Index o = 0; o < lanes.outer_count; ++o) {
                To* out = reinterpret_cast<To*>(dst) + o * pitch * lanes.inner_count;
                for (Index i = 0; i < row; ++i, ++in)
                    out[i] = static_cast<double>(*in) == *fill_ ? std::numeric_limits<To>::quiet_NaN()
                                                                : static_cast<To>(*in);
            }
        });
    });
}

void Hdf5Reader::read_stored(Span span, Lanes lanes, std::byte* dst, Index pitch) {
    const Index parts = source_.element.parts;
    const Index first = lanes.inner_first / parts;
    const Index last = (lanes.inner_first + lanes.inner_count + parts - 1) / parts;
    Block block{lanes.outer_first, lanes.outer_count, span.first, span.count, first, last - first};
    if (block.inner_count * parts == lanes.inner_count) return read_elements(block, dst, pitch);
    // Lanes that part a complex number: whole numbers first, then what is wanted of them.
    const Index lane_bytes = bytes_of(source_.element.type), whole = block.inner_count * parts * lane_bytes;
    const Index wanted = lanes.inner_count * lane_bytes,
                skip = (lanes.inner_first - first * parts) * lane_bytes;
    std::vector<std::byte> numbers(static_cast<std::size_t>(span.count * whole));
    for (Index o = 0; o < lanes.outer_count; ++o) {
        block.outer = lanes.outer_first + o;
        block.outer_count = 1;
        read_elements(block, numbers.data(), span.count);
        for (Index f = 0; f < span.count; ++f)
            std::copy_n(numbers.data() + f * whole + skip, wanted, dst + (o * pitch + f) * wanted);
    }
}

void Hdf5Reader::read_elements(const Block& block, std::byte* dst, Index pitch) {
    if (selected_.empty()) return samples_->read(block, dst, pitch);
    if (channels_outer_) {
        const Index row = pitch * block.inner_count * source_.element.bytes();
        for (const Run& run : runs_of(selected_, block.outer, block.outer_count)) {
            Block part = block;
            part.outer = run.first;
            part.outer_count = run.count;
            samples_->read(part, dst + run.to * row, pitch);
        }
        return;
    }
    const std::vector<Run> runs = runs_of(selected_, block.inner, block.inner_count);
    if (runs.size() > 1) return gather_inner(block, runs, dst, pitch);
    Block part = block;
    part.inner = runs.front().first;
    samples_->read(part, dst, pitch);
}

/// Picks channels out of frames: reads whole pieces of frames from the lowest to the highest channel, and
/// sorts.
void Hdf5Reader::gather_inner(Block block, const std::vector<Run>& runs, std::byte* dst, Index pitch) {
    Index low = runs.front().first, high = low;
    for (const Run& run : runs) {
        low = std::min(low, run.first);
        high = std::max(high, run.first + run.count);
    }
    const Index bytes = source_.element.bytes(), width = high - low, wanted = block.inner_count;
    const Index frames = block.frames, at_once = std::max<Index>(1, (1 << 20) / (width * bytes)),
                start = block.frame;
    std::vector<std::byte> piece(static_cast<std::size_t>(std::min(at_once, frames) * width * bytes));
    const Index outer = block.outer, rows = block.outer_count;
    block.inner = low;
    block.inner_count = width;
    block.outer_count = 1;
    for (Index o = 0; o < rows; ++o)
        for (Index f = 0; f < frames; f += at_once) {
            block.outer = outer + o;
            block.frame = start + f;
            block.frames = std::min(at_once, frames - f);
            samples_->read(block, piece.data(), block.frames);
            for (Index i = 0; i < block.frames; ++i)
                for (const Run& run : runs)
                    std::copy_n(piece.data() + (i * width + run.first - low) * bytes, run.count * bytes,
                                dst + ((o * pitch + f + i) * wanted + run.to) * bytes);
        }
}

/// The signature stands at byte 0, 512, 1024, 2048, ...: user blocks come before it.
bool recognizes(const std::string& path) {
    constexpr unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    bool found = false;
    unsigned char bytes[sizeof signature];
    for (off_t at = 0; !found && ::pread(file, bytes, sizeof bytes, at) == sizeof bytes;
         at = at == 0 ? 512 : at * 2)
        found = std::equal(std::begin(bytes), std::end(bytes), std::begin(signature));
    ::close(file);
    return found;
}

std::vector<std::string> signals_in(const std::string& path) {
    const Lock lock;
    const CrashGuard guard(path);
    std::vector<std::string> inputs;
    for (const std::string& dataset : candidates(open_file(path), "/"))
        inputs.push_back(path + ":" + dataset);
    return inputs.size() > 1 ? inputs : std::vector{path};  // one is found, and why there is none is told
}
}  // namespace
}  // namespace h5

extern constinit const Format hdf5{
    "hdf5",
    "HDF5: any dataset of numbers (DAS, NWB, netCDF-4, GWOSC, ...)",
    ".h5 .hdf5 .hdf .he5 .nc .nwb",
    h5::recognizes,
    [](const std::string& path, const OpenOptions& options) -> std::unique_ptr<Reader> {
        const h5::CrashGuard guard(path);
        return std::make_unique<h5::Hdf5Reader>(path, options);
    },
    h5::create_writer,
    h5::identity_in,
    h5::signals_in,
};

}  // namespace convoy::io
