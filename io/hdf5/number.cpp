#include "io/hdf5/number.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace convoy::io::h5 {

namespace {
/// IEEE 754 binary16.
struct Half {
    std::uint16_t bits;
    explicit operator float() const {
        const bool negative = (bits & 0x8000) != 0;
        const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
        float value = 0;
        if (exponent == 31)
            value = mantissa == 0 ? std::numeric_limits<float>::infinity()
                                  : std::numeric_limits<float>::quiet_NaN();
        else if (exponent == 0)
            value = std::ldexp(static_cast<float>(mantissa), -24);
        else
            value = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
        return negative ? -value : value;
    }
};

template <class T>
T load(const std::byte* from, bool swapped) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    if (swapped)
        for (std::size_t i = 0; i < sizeof(T) / 2; ++i)
            std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
    return std::bit_cast<T>(bytes);
}

template <class Stored, class Memory, bool Swapped, int Parts>
void convert_rows(const std::byte* src, Index src_stride, std::byte* dst, Index dst_stride, Index rows,
                  Index count) {
    const Index numbers = count * Parts;
    for (Index r = 0; r < rows; ++r, src += src_stride, dst += dst_stride)
        for (Index i = 0; i < numbers; ++i) {
            const auto value = static_cast<Memory>(load<Stored>(src + i * Index{sizeof(Stored)}, Swapped));
            std::memcpy(dst + i * Index{sizeof(Memory)}, &value, sizeof(Memory));
        }
}

template <int Bytes>
void copy_rows(const std::byte* src, Index src_stride, std::byte* dst, Index dst_stride, Index rows,
               Index count) {
    if (src_stride == count * Bytes && dst_stride == src_stride) {
        count *= rows;
        rows = 1;
    }
    for (Index r = 0; r < rows; ++r, src += src_stride, dst += dst_stride)
        std::memcpy(dst, src, static_cast<std::size_t>(count * Bytes));
}

template <class Stored, class Memory>
Element::Convert choose(bool swapped, int parts) {
    if constexpr (std::is_same_v<Stored, Memory>)
        if (!swapped) return parts == 1 ? copy_rows<sizeof(Stored)> : copy_rows<2 * sizeof(Stored)>;
    if (swapped)
        return parts == 1 ? convert_rows<Stored, Memory, true, 1> : convert_rows<Stored, Memory, true, 2>;
    return parts == 1 ? convert_rows<Stored, Memory, false, 1> : convert_rows<Stored, Memory, false, 2>;
}

/// A plain two's complement integer: every bit counts.
bool is_plain_integer(hid_t type) {
    return H5Tget_precision(type) == 8 * H5Tget_size(type) && H5Tget_offset(type) == 0;
}

bool is_half(hid_t type) {
    std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    return H5Tget_size(type) == 2 &&
           H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
           sign == 15 && exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10 &&
           H5Tget_ebias(type) == 15;
}

Element::Convert integer_converter(hid_t type, bool swapped, int parts) {
    if (!is_plain_integer(type)) return nullptr;
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    switch (H5Tget_size(type)) {
        case 1:
            return is_signed ? choose<std::int8_t, std::int16_t>(false, parts)
                             : choose<std::uint8_t, std::int16_t>(false, parts);
        case 2:
            return is_signed ? choose<std::int16_t, std::int16_t>(swapped, parts)
                             : choose<std::uint16_t, std::int32_t>(swapped, parts);
        case 4:
            return is_signed ? choose<std::int32_t, std::int32_t>(swapped, parts)
                             : choose<std::uint32_t, double>(swapped, parts);
        case 8:
            return is_signed ? choose<std::int64_t, double>(swapped, parts)
                             : choose<std::uint64_t, double>(swapped, parts);
        default:
            return nullptr;
    }
}

Element::Convert float_converter(hid_t type, bool swapped, int parts) {
    if (is_half(type)) return choose<Half, float>(swapped, parts);
    if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0)
        return choose<float, float>(swapped, parts);
    if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0)
        return choose<double, double>(swapped, parts);
    return nullptr;
}

/// One real number; `parts` of them follow one another in an element.
std::optional<Element> real_element(hid_t type, int parts) {
    Element out;
    out.parts = parts;
    const H5T_order_t native = std::endian::native == std::endian::little ? H5T_ORDER_LE : H5T_ORDER_BE;
    const bool swapped = H5Tget_size(type) > 1 && H5Tget_order(type) != native;
    if (H5Tget_class(type) == H5T_INTEGER) {
        const std::size_t bits = H5Tget_precision(type) + (H5Tget_sign(type) == H5T_SGN_NONE ? 1 : 0);
        out.type = bits <= 16 ? SampleType::int16 : bits <= 32 ? SampleType::int32 : SampleType::float64;
        out.wide = H5Tget_precision(type) > 24;
        out.convert = integer_converter(type, swapped, parts);
    } else if (H5Tget_class(type) == H5T_FLOAT) {
        out.type = H5Tget_size(type) <= 4 ? SampleType::float32 : SampleType::float64;
        out.wide = out.type == SampleType::float64;
        out.convert = float_converter(type, swapped, parts);
    } else {
        return std::nullopt;
    }
    const auto native_size = static_cast<std::size_t>(bytes_of(out.type));
    out.as_stored = out.convert != nullptr && !swapped && H5Tget_size(type) == native_size &&
                    (is_float(out.type) == (H5Tget_class(type) == H5T_FLOAT));
    return out;
}
}  // namespace

std::optional<Element> element_of(hid_t type) {
    Lock lock;
    std::optional<Element> out;
    if (is_complex(type)) {
        Type part(H5Tget_member_type(type, 0)), imaginary(H5Tget_member_type(type, 1));
        if (H5Tequal(part, imaginary) <= 0) return std::nullopt;
        out = real_element(part, 2);
        const std::size_t size = H5Tget_size(part);
        const bool packed = H5Tget_size(type) == 2 * size && H5Tget_member_offset(type, 1) == size;
        if (out && !packed) out->convert = nullptr, out->as_stored = false;
    } else {
        out = real_element(type, 1);
    }
    if (!out) return std::nullopt;
    out->text = type_text(type);
    out->stored_bytes = static_cast<Index>(H5Tget_size(type));
    return out;
}

Type memory_type(const Element& element, hid_t stored) {
    Lock lock;
    const hid_t number = element.type == SampleType::int16     ? H5T_NATIVE_INT16
                         : element.type == SampleType::int32   ? H5T_NATIVE_INT32
                         : element.type == SampleType::float32 ? H5T_NATIVE_FLOAT
                                                               : H5T_NATIVE_DOUBLE;
    if (element.parts == 1) return Type(H5Tcopy(number));
    Type complex(H5Tcreate(H5T_COMPOUND, static_cast<std::size_t>(element.bytes())));
    for (unsigned part = 0; part < 2; ++part) {
        char* name = H5Tget_member_name(stored, part);
        H5Tinsert(complex, name, part * static_cast<std::size_t>(bytes_of(element.type)), number);
        H5free_memory(name);
    }
    return complex;
}

}  // namespace convoy::io::h5
