#include "io/hdf5/samples.hpp"

#include <algorithm>

#include "io/hdf5/decode.hpp"

namespace convoy::io::h5 {

namespace {
/// Parts of flattened axes: elements [first, first + count) of axes with extents `dims`.
struct Range {
    std::vector<Index> first, count;
    Index flat = 0, size = 0;
};

void add_ranges(std::span<const Index> dims, Index first, Index count, Index flat, std::vector<Index> above,
                std::vector<Range>& out) {
    const auto emit = [&](Index own_first, Index own_count) {
        Range range;
        range.first = above;
        range.count.assign(above.size(), 1);
        range.flat = flat;
        range.size = count;
        if (!dims.empty()) {
            range.first.push_back(own_first);
            range.count.push_back(own_count);
            range.first.resize(above.size() + dims.size(), 0);
            range.count.insert(range.count.end(), dims.begin() + 1, dims.end());
        }
        out.push_back(std::move(range));
    };
    if (dims.empty()) return emit(0, 1);
    Index below = 1;
    for (const Index extent : dims.subspan(1))
        below *= extent;
    if (first % below == 0 && count % below == 0) return emit(first / below, count / below);
    while (count > 0) {  // one step along this axis at a time
        const Index inside = first % below, part = std::min(count, below - inside);
        above.push_back(first / below);
        add_ranges(dims.subspan(1), inside, part, flat, above, out);
        above.pop_back();
        first += part;
        flat += part;
        count -= part;
    }
}

std::vector<Range> ranges_of(std::span<const Index> dims, Index first, Index count) {
    std::vector<Range> out;
    add_ranges(dims, first, count, first, {}, out);
    return out;
}
}  // namespace

Frame frame_of(const std::vector<Index>& dims, int time_axis) {
    Frame frame{dims, time_axis, 1, dims[static_cast<std::size_t>(time_axis)], 1};
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (static_cast<int>(axis) < time_axis) frame.outer *= dims[axis];
        if (static_cast<int>(axis) > time_axis) frame.inner *= dims[axis];
    }
    return frame;
}

std::vector<Box> boxes_of(const Frame& frame, const Block& block) {
    const std::span<const Index> dims(frame.dims);
    const auto time = static_cast<std::size_t>(frame.time_axis);
    std::vector<Box> out;
    for (const Range& outer : ranges_of(dims.first(time), block.outer, block.outer_count))
        for (const Range& inner : ranges_of(dims.subspan(time + 1), block.inner, block.inner_count)) {
            Box box{outer.first, outer.count, outer.flat, inner.flat, outer.size, inner.size};
            box.first.push_back(block.frame);
            box.count.push_back(block.frames);
            box.first.insert(box.first.end(), inner.first.begin(), inner.first.end());
            box.count.insert(box.count.end(), inner.count.begin(), inner.count.end());
            out.push_back(std::move(box));
        }
    return out;
}

std::unique_ptr<Samples> open_samples(const Source& source, const Storage& storage, const Frame& frame) {
    const bool known = source.element.convert != nullptr && !storage.external;
    if (known && storage.layout == Storage::Layout::contiguous)
        if (auto samples = contiguous_samples(source, frame)) return samples;
    if (known && storage.layout == Storage::Layout::chunked && storage.filtered_edges &&
        can_decode(storage.filters))
        return chunked_samples(source, storage, frame);
    return library_samples(source, frame);
}

}  // namespace convoy::io::h5
