// Where the stored samples come from: straight from the file where they lie in one piece, from decoded
// chunks, or through the library.
#pragma once

#include <memory>

#include "io/hdf5/source.hpp"

namespace convoy::io::h5 {

/// The stored array as [outer][frames][inner] of elements (a complex number is one element).
struct Frame {
    std::vector<Index> dims;
    int time_axis = 0;
    Index outer = 1, frames = 0, inner = 1;
};
Frame frame_of(const std::vector<Index>& dims, int time_axis);

/// A part of it.
struct Block {
    Index outer = 0, outer_count = 1;
    Index frame = 0, frames = 0;
    Index inner = 0, inner_count = 1;
};

class Samples {
  public:
    Samples() = default;
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;
    virtual ~Samples() = default;

    /// Whether calls from several threads wait for one another.
    virtual bool serial() const = 0;
    /// Reads a block into dst, as [outer_count][pitch][inner_count] of elements in memory. Error where
    /// samples are not there.
    virtual void read(const Block& block, std::byte* dst, Index pitch) = 0;
};

/// The fastest way to the samples of `source`.
std::unique_ptr<Samples> open_samples(const Source& source, const Storage& storage, const Frame& frame);

/// A box of the stored array, axis by axis.
struct Box {
    std::vector<Index> first, count;
    Index outer = 0, inner = 0;  // where it begins, flattened
    Index outer_count = 1, inner_count = 1;
};
/// A block as boxes: one, unless it takes only a part of several flattened axes.
std::vector<Box> boxes_of(const Frame& frame, const Block& block);

std::unique_ptr<Samples> contiguous_samples(const Source& source, const Frame& frame);
std::unique_ptr<Samples> chunked_samples(const Source& source, const Storage& storage, const Frame& frame);
std::unique_ptr<Samples> library_samples(const Source& source, const Frame& frame);

}  // namespace convoy::io::h5
