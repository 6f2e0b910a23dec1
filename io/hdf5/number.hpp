// Stored numbers turned into convoy's sample types without the library, so that several threads can do it at
// once.
#pragma once

#include <optional>

#include "io/hdf5/h5.hpp"

namespace convoy::io::h5 {

/// How the elements of a dataset are stored, and what they become in memory.
struct Element {
    SampleType type = SampleType::float32;  // the next wider of convoy's types
    int parts = 1;                          // 2 for complex: real and imaginary part
    bool wide = false;                      // float64, or an integer of more than 24 bits
    std::string text;                       // type_text()
    Index stored_bytes = 0;                 // of an element

    /// Converts `rows` rows of `count` elements each; strides in bytes. Null where only the library can
    /// convert.
    using Convert = void (*)(const std::byte* src, Index src_stride, std::byte* dst, Index dst_stride,
                             Index rows, Index count);
    Convert convert = nullptr;
    bool as_stored = false;  // convert is a plain copy

    Index bytes() const { return parts * bytes_of(type); }
};

/// nullopt where the type is no number that can be filtered (boolean, text, reference, other compound).
std::optional<Element> element_of(hid_t type);

/// HDF5's description of an element in memory.
Type memory_type(const Element& element, hid_t stored);

}  // namespace convoy::io::h5
