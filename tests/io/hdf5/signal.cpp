#include "tests/io/hdf5/signal.hpp"

#include <cstring>

#include "core/base/error.hpp"

namespace convoy::test {

std::vector<double> stored(io::Reader& reader, Span span, Lanes lanes) {
    const SampleType type = reader.recording().type;
    const Index pitch = span.count + 3, size = bytes_of(type);
    std::vector<std::byte> bytes(static_cast<std::size_t>(pitch * lanes.count() * size), std::byte{0x5a});
    reader.read(span, lanes, bytes.data(), pitch);
    std::vector<double> values;
    dispatch(type, [&](auto zero) {
        using T = decltype(zero);
        for (Index o = 0; o < lanes.outer_count; ++o)
            for (Index i = 0; i < span.count * lanes.inner_count; ++i) {
                T value;
                std::memcpy(&value,
                            &bytes[static_cast<std::size_t>((o * pitch * lanes.inner_count + i) * size)],
                            sizeof value);
                values.push_back(static_cast<double>(value));
            }
    });
    return values;
}

std::vector<double> stored(io::Reader& reader) {
    const Shape& shape = reader.recording().shape;
    return stored(reader, {0, shape.frames}, Lanes::all(shape));
}

std::string error_of(const std::string& input, const io::OpenOptions& options) {
    try {
        stored(*io::open(input, options));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

std::string case_file(const std::string& name, const std::string& file) {
    return "tests/cases/" + name + "/" + file;
}

}  // namespace convoy::test
