// Small attributes and datasets as numbers or text, whatever their stored type.
#include <functional>

#include "io/hdf5/h5.hpp"

namespace convoy::io::h5 {

namespace {
/// Reads all elements of an attribute or dataset into memory of a type; negative on failure.
using ReadAll = std::function<herr_t(hid_t type, void* data)>;

/// Text of a fixed-length string: up to the first NUL, or without the spaces it was filled up with.
std::string trimmed(const char* text, std::size_t size, H5T_str_t padding) {
    std::string out(text, size);
    out.resize(std::min(out.size(), out.find('\0')));
    if (padding == H5T_STR_SPACEPAD) out.erase(out.find_last_not_of(' ') + 1);
    return out;
}

bool read_texts(hid_t type, hid_t space, std::size_t count, const ReadAll& read, Value& out) {
    if (H5Tis_variable_str(type) > 0) {
        std::vector<char*> texts(count, nullptr);
        if (read(type, texts.data()) < 0) return false;
        for (const char* text : texts)
            out.texts.emplace_back(text != nullptr ? text : "");
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
        return true;
    }
    const std::size_t size = H5Tget_size(type);
    std::vector<char> buffer(size * count);
    if (read(type, buffer.data()) < 0) return false;
    for (std::size_t i = 0; i < count; ++i)
        out.texts.push_back(trimmed(buffer.data() + i * size, size, H5Tget_strpad(type)));
    return true;
}

bool read_numbers(hid_t type, std::size_t count, const ReadAll& read, Value& out) {
    out.numbers.resize(count);
    if (read(H5T_NATIVE_DOUBLE, out.numbers.data()) < 0) return false;
    if (H5Tget_class(type) != H5T_INTEGER) return true;
    out.integers.resize(count);
    return read(H5T_NATIVE_INT64, out.integers.data()) >= 0;
}

std::optional<Value> read_value(hid_t type, hid_t space, Index most, const ReadAll& read) {
    if (type < 0 || space < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) return std::nullopt;
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count <= 0 || count > most) return std::nullopt;
    Value out;
    out.dims = extents(space);
    const auto n = static_cast<std::size_t>(count);
    bool done = false;
    switch (H5Tget_class(type)) {
        case H5T_STRING:
            done = read_texts(type, space, n, read, out);
            break;
        case H5T_INTEGER:
        case H5T_FLOAT:
            done = read_numbers(type, n, read, out);
            break;
        default:
            break;
    }
    return done ? std::optional(std::move(out)) : std::nullopt;
}

std::string number_text(hid_t type, std::string text) {
    text += std::to_string(8 * H5Tget_size(type));
    return H5Tget_size(type) > 1 && H5Tget_order(type) == H5T_ORDER_BE ? text + " big-endian" : text;
}
}  // namespace

bool is_complex(hid_t type) {
    Lock lock;
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
    return (H5Tget_member_index(type, "r") == 0 && H5Tget_member_index(type, "i") == 1) ||
           (H5Tget_member_index(type, "real") == 0 && H5Tget_member_index(type, "imag") == 1);
}

std::vector<Index> extents(hid_t space) {
    Lock lock;
    std::vector<hsize_t> dims(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
    if (!dims.empty()) H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    return {dims.begin(), dims.end()};
}

std::optional<std::vector<Index>> dataset_extents(hid_t dataset) {
    Lock lock;
    Space space(check(H5Dget_space(dataset), path_of(dataset), "the dataset's extents cannot be read"));
    if (H5Sget_simple_extent_type(space) == H5S_NULL) return std::nullopt;
    return extents(space);
}

std::string type_text(hid_t type) {
    Lock lock;
    switch (H5Tget_class(type)) {
        case H5T_INTEGER:
            return number_text(type, H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int");
        case H5T_FLOAT:
            return number_text(type, "float");
        case H5T_STRING:
            return "text";
        case H5T_ENUM:
            return "boolean or enumeration";
        case H5T_REFERENCE:
            return "references";
        case H5T_VLEN:
            return "variable-length lists";
        case H5T_ARRAY:
            return "arrays";
        case H5T_OPAQUE:
            return "opaque bytes";
        case H5T_BITFIELD:
            return "bit fields";
        case H5T_COMPOUND: {
            if (!is_complex(type)) return "compound";
            Type part(H5Tget_member_type(type, 0));
            return "complex of " + type_text(part);
        }
        default:
            return "of a type that is no number";
    }
}

std::optional<double> Value::number() const {
    return numbers.size() == 1 ? std::optional(numbers.front()) : std::nullopt;
}

std::optional<Value> attribute(hid_t object, const std::string& name) {
    constexpr Index most = 1 << 20;
    Lock lock;
    if (H5Aexists(object, name.c_str()) <= 0) return std::nullopt;
    Attribute found(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    if (!found.valid()) return std::nullopt;
    Type type(H5Aget_type(found));
    Space space(H5Aget_space(found));
    return read_value(type, space, most,
                      [&](hid_t memory, void* data) { return H5Aread(found, memory, data); });
}

std::optional<Value> value(hid_t dataset, Index most) {
    Lock lock;
    Type type(H5Dget_type(dataset));
    Space space(H5Dget_space(dataset));
    return read_value(type, space, most, [&](hid_t memory, void* data) {
        return H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    });
}

}  // namespace convoy::io::h5
