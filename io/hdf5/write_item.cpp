#include "io/hdf5/write_item.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/quantity.hpp"

namespace convoy::io::h5 {

namespace {

/// A time with the decimals, separator and zone that another one has.
std::string spelled_like(const std::string& old, Timestamp time) {
    std::string text = to_iso8601(time);
    const bool utc = text.back() == 'Z';
    if (utc) text.pop_back();
    if (old.size() > 10 && old[10] == ' ') text[10] = ' ';
    const auto point = old.find('.');
    const auto end = point == old.npos ? point : old.find_first_not_of("0123456789", point + 1);
    const std::size_t wanted = point == old.npos ? 0 : std::min(end, old.size()) - point - 1;
    if (text.find('.') == text.npos && wanted > 0) text += '.';
    const std::size_t has = text.find('.') == text.npos ? 0 : text.size() - text.find('.') - 1;
    if (wanted > has) text.append(wanted - has, '0');
    const bool sign = old.find_first_of("+-", 11) != old.npos;
    return text + (!utc ? "" : sign ? "+00:00" : "Z");
}

}  // namespace

Item::Item(hid_t object, std::string name, const std::string& where)
    : object_(object), name_(std::move(name)), where_(where), value_(attribute(object, name_)) {}

std::optional<double> Item::number() const {
    if (!value_) return std::nullopt;
    if (value_->texts.empty()) return value_->number();
    if (value_->texts.size() != 1) return std::nullopt;
    double result = 0;
    return digits(result) > 0 ? std::optional(result) : std::nullopt;
}

std::optional<Timestamp> Item::time() const {
    return value_ && value_->texts.size() == 1 ? parse_timestamp(value_->texts[0]) : std::nullopt;
}

void Item::set(double number) {
    if (holds_text()) {
        double old = 0;
        const std::size_t length = digits(old);
        return set(to_text(number) + value_->texts[0].substr(length));
    }
    Attribute a(open());
    Type type(H5Aget_type(a));
    if (H5Tget_class(type) == H5T_INTEGER) {
        if (number != std::round(number)) return give_up();
        const auto whole = static_cast<long long>(number);
        check(H5Awrite(a, H5T_NATIVE_LLONG, &whole), where_, what());
    } else {
        check(H5Awrite(a, H5T_NATIVE_DOUBLE, &number), where_, what());
    }
}

void Item::set(const std::string& text) {
    Attribute a(open());
    Type type(H5Aget_type(a));
    Space space(H5Aget_space(a));
    if (H5Tis_variable_str(type) > 0) {
        const char* data = text.c_str();
        check(H5Awrite(a, type, &data), where_, what());
        return;
    }
    const std::size_t needed = text.size() + (H5Tget_strpad(type) == H5T_STR_NULLTERM ? 1 : 0);
    Type wide(H5Tcopy(type));
    std::string padded = text;
    if (needed > H5Tget_size(type)) {
        check(H5Tset_size(wide, needed), where_, what());
        a.reset();
        check(H5Adelete(object_, name_.c_str()), where_, what());
        a = Attribute(
            check(H5Acreate2(object_, name_.c_str(), wide, space, H5P_DEFAULT, H5P_DEFAULT), where_, what()));
    }
    padded.resize(H5Tget_size(wide), H5Tget_strpad(type) == H5T_STR_SPACEPAD ? ' ' : '\0');
    check(H5Awrite(a, wide, padded.data()), where_, what());
}

void Item::move(double seconds) {
    if (const auto moment = time()) {
        return set(spelled_like(value_->texts[0], later(*moment, seconds)));
    }
    const auto now = number();
    if (!now || holds_text()) return give_up();
    double unit = 1;  // of epoch numbers, told by their size
    if (std::abs(*now) > 1e17)
        unit = 1e9;
    else if (std::abs(*now) > 1e14)
        unit = 1e6;
    else if (std::abs(*now) > 1e11)
        unit = 1e3;
    const double moved = seconds * unit;
    if (!value_->integers.empty()) return set_integer(value_->integers[0] + std::llround(moved));
    set(*now + moved);
}

void Item::give_up() {
    const std::string other = "source_" + name_;
    if (H5Aexists(object_, other.c_str()) > 0) H5Adelete(object_, other.c_str());
    check(H5Arename(object_, name_.c_str(), other.c_str()), where_, what());
}

void Item::set_integer(long long whole) {
    Attribute a(open());
    check(H5Awrite(a, H5T_NATIVE_LLONG, &whole), where_, what());
}

Attribute Item::open() const {
    return Attribute(check(H5Aopen(object_, name_.c_str(), H5P_DEFAULT), where_, what()));
}

std::size_t Item::digits(double& result) const {
    const std::string& text = value_->texts[0];
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == text.npos) return 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + text.size(), result);
    return error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0;
}

}  // namespace convoy::io::h5
