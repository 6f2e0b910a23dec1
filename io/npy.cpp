#include "io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::io {

namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr Index most_values = Index{1} << 28;

// The text behind 'key': in the header's Python dictionary.
std::string field(const std::string& header, const std::string& key, const std::string& path) {
    const auto at = header.find("'" + key + "':");
    if (at == std::string::npos) throw failed(path, "the .npy header has no '" + key + "'");
    auto from = header.find_first_not_of(' ', at + key.size() + 3);
    if (from == std::string::npos) throw failed(path, "the .npy header is cut short");
    const char opening = header[from];
    const char closing = opening == '(' ? ')' : opening == '\'' ? '\'' : ',';
    const auto to = header.find(closing, from + 1);
    if (to == std::string::npos) throw failed(path, "the .npy header is cut short");
    return header.substr(from, to - from + (closing == ')' || closing == '\'' ? 1 : 0));
}

template <class T>
double as_double(const char* bytes, bool swap) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes, sizeof(T));
    if (swap) std::reverse(raw.begin(), raw.end());
    return static_cast<double>(std::bit_cast<T>(raw));
}

using Convert = double (*)(const char*, bool);

Convert converter(char kind, std::size_t size) {
    if (kind == 'f') return size == 4 ? as_double<float> : size == 8 ? as_double<double> : nullptr;
    if (kind == 'i')
        return size == 1   ? as_double<std::int8_t>
               : size == 2 ? as_double<std::int16_t>
               : size == 4 ? as_double<std::int32_t>
               : size == 8 ? as_double<std::int64_t>
                           : nullptr;
    if (kind == 'u')
        return size == 1   ? as_double<std::uint8_t>
               : size == 2 ? as_double<std::uint16_t>
               : size == 4 ? as_double<std::uint32_t>
               : size == 8 ? as_double<std::uint64_t>
                           : nullptr;
    return nullptr;
}

// Values in Fortran order, put into C order.
std::vector<double> in_c_order(const std::vector<double>& values, const std::vector<Index>& shape) {
    std::vector<double> turned(values.size());
    std::vector<Index> index(shape.size(), 0);
    for (const double value : values) {
        Index at = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            at = at * shape[axis] + index[axis];
        turned[static_cast<std::size_t>(at)] = value;
        for (std::size_t axis = 0; axis < shape.size() && ++index[axis] == shape[axis]; ++axis)
            index[axis] = 0;
    }
    return turned;
}

}  // namespace

bool is_npy(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::array<char, 6> start{};
    return in.read(start.data(), 6) && std::string_view(start.data(), 6) == magic;
}

bool is_npy_text(std::string_view bytes) {
    return bytes.starts_with(magic);
}

Array read_npy(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return parse_npy({std::istreambuf_iterator<char>(in), {}}, path);
}

Array parse_npy(const std::string& bytes, const std::string& path) {
    if (bytes.size() < 10 || !bytes.starts_with(magic)) throw failed(path, "is not a .npy file");
    const auto byte = [&](std::size_t i) {
        return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
    };
    const bool long_header = bytes[6] >= 2;
    const std::size_t start = long_header ? 12 : 10;
    if (bytes.size() < start) throw failed(path, "the .npy header is cut short");
    const std::size_t length = byte(8) | byte(9) << 8 | (long_header ? byte(10) << 16 | byte(11) << 24 : 0);
    if (bytes.size() < start + length) throw failed(path, "the .npy header is cut short");
    const std::string header = bytes.substr(start, length);

    const std::string type = field(header, "descr", path);  // '<f8'
    const std::size_t size =
        type.size() >= 5
            ? static_cast<std::size_t>(parse_integer(type.substr(3, type.size() - 4)).value_or(0))
            : 0;
    const Convert convert = type.size() >= 5 ? converter(type[2], size) : nullptr;
    if (convert == nullptr)
        throw failed(path, "holds samples of NumPy type " + type, "save it as float64 (array.astype('f8'))");
    const bool swap = type[1] == '>' && std::endian::native == std::endian::little;

    Array array;
    Index count = 1;
    const std::string shape = field(header, "shape", path);  // (3, 4) or (5,)
    for (const std::string& part : split(std::string_view(shape).substr(1, shape.size() - 2), ',')) {
        const auto first = part.find_first_not_of(' ');
        if (first == std::string::npos) continue;
        const auto extent = parse_integer(part.substr(first));
        if (!extent || *extent < 0 || (*extent > 0 && count > most_values / *extent))
            throw failed(path, "the .npy header gives the shape " + shape);
        array.shape.push_back(*extent);
        count *= *extent;
    }
    const std::size_t wanted = static_cast<std::size_t>(count) * size;
    if (bytes.size() - start - length < wanted)
        throw failed(path, "is cut short: the header declares " + std::to_string(wanted) +
                               " bytes of values, " + std::to_string(bytes.size() - start - length) +
                               " are there");
    const char* at = bytes.data() + start + length;
    for (Index i = 0; i < count; ++i)
        array.values.push_back(convert(at + static_cast<std::size_t>(i) * size, swap));
    if (field(header, "fortran_order", path) == "True") array.values = in_c_order(array.values, array.shape);
    return array;
}

void write_npy(const std::string& path, const Array& array) {
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
    for (const Index extent : array.shape)
        header += std::to_string(extent) + ",";
    header += "), }";
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11,
                  ' ');  // the values start at a multiple of 64 bytes
    header += '\n';
    std::string bytes(magic);
    bytes += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
    bytes += header;
    for (const double value : array.values) {
        auto raw = std::bit_cast<std::array<char, sizeof(double)>>(value);
        if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
        bytes.append(raw.data(), raw.size());
    }
    std::ofstream out(path, std::ios::binary);
    out << bytes << std::flush;
    if (!out) throw failed(path, "cannot be written: " + system_error_text(errno));
}

}  // namespace convoy::io
