#include "io/hdf5/write_item.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/quantity.hpp"
#include "io/hdf5/metadata.hpp"

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

Item::Item(hid_t object, std::string name, const std::string& where, Kind kind)
    : object_(object), name_(std::move(name)), kind_(kind), where_(where) {
    if (kind == Kind::attribute) {
        value_ = attribute(object, name_);
    } else {
        const Object dataset = open_object(object, name_);
        if (dataset.valid() && kind_of(dataset) == ObjectKind::dataset) value_ = value(dataset);
    }
}

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

std::vector<Timestamp> Item::moments() const {
    if (const auto text = time()) return {*text};
    std::vector<Timestamp> found;
    const auto count = holds_text() ? std::nullopt : number();
    if (!count) return found;
    if (const auto since_1970 = epoch_time(*count)) found.push_back(*since_1970);
    if (is_gps_time(*count)) found.push_back(gps_time(*count));
    return found;
}

void Item::set(double number) {
    if (holds_text()) {
        double old = 0;
        const std::size_t length = digits(old);
        return set(to_text(number) + value_->texts[0].substr(length));
    }
    const Type stored = type();
    if (H5Tget_class(stored) == H5T_INTEGER) {
        const bool negative = H5Tget_sign(stored) != H5T_SGN_NONE;
        const double limit = std::ldexp(1, static_cast<int>(H5Tget_precision(stored)) - (negative ? 1 : 0));
        // Beyond the range the library would store the nearest, and say nothing.
        if (number != std::round(number) || number < (negative ? -limit : 0) || number >= limit ||
            std::abs(number) > 9e18)
            return give_up();
        const auto whole = static_cast<long long>(number);
        return write(H5T_NATIVE_LLONG, &whole);
    }
    write(H5T_NATIVE_DOUBLE, &number);
}

void Item::set(const std::string& text) {
    const Type stored = type();
    if (H5Tis_variable_str(stored) > 0) {
        const char* data = text.c_str();
        return write(stored, &data);
    }
    const std::size_t needed = text.size() + (H5Tget_strpad(stored) == H5T_STR_NULLTERM ? 1 : 0);
    Type wide(H5Tcopy(stored));
    if (needed > H5Tget_size(stored)) {
        if (kind_ == Kind::dataset) return give_up();
        check(H5Tset_size(wide, needed), where_, what());
        Space space(H5Aget_space(Attribute(H5Aopen(object_, name_.c_str(), H5P_DEFAULT))));
        check(H5Adelete(object_, name_.c_str()), where_, what());
        Attribute made(
            check(H5Acreate2(object_, name_.c_str(), wide, space, H5P_DEFAULT, H5P_DEFAULT), where_, what()));
    }
    std::string padded = text;
    padded.resize(H5Tget_size(wide), H5Tget_strpad(stored) == H5T_STR_SPACEPAD ? ' ' : '\0');
    write(wide, padded.data());
}

void Item::move(double seconds, double allowed) {
    if (const auto moment = time()) return set(spelled_like(value_->texts[0], later(*moment, seconds)));
    const auto now = number();
    if (!now || holds_text()) return give_up();
    double unit = 1;  // of epoch numbers, told by their size
    if (std::abs(*now) > 1e17)
        unit = 1e9;
    else if (std::abs(*now) > 1e14)
        unit = 1e6;
    else if (std::abs(*now) > 1e11)
        unit = 1e3;
    const double moved = seconds * unit, whole = std::round(moved);
    if (value_->integers.empty()) return set(*now + moved);
    if (std::abs(moved - whole) > allowed * unit) return give_up();
    if (unit == 1) return set(*now + whole);
    const long long count = value_->integers[0] + static_cast<long long>(whole);  // more digits than a double
    write(H5T_NATIVE_LLONG, &count);
}

void Item::give_up() {
    if (kind_ == Kind::dataset) {
        const std::string other = join_path(parent_of(name_), "source_" + last_of(name_));
        if (link_at(object_, other)) H5Ldelete(object_, other.c_str(), H5P_DEFAULT);
        check(H5Lmove(object_, name_.c_str(), object_, other.c_str(), H5P_DEFAULT, H5P_DEFAULT), where_,
              what());
        return;
    }
    const std::string other = "source_" + name_;
    if (H5Aexists(object_, other.c_str()) > 0) H5Adelete(object_, other.c_str());
    check(H5Arename(object_, name_.c_str(), other.c_str()), where_, what());
}

Type Item::type() const {
    if (kind_ == Kind::dataset)
        return Type(
            H5Dget_type(Dataset(check(H5Dopen2(object_, name_.c_str(), H5P_DEFAULT), where_, what()))));
    return Type(H5Aget_type(Attribute(check(H5Aopen(object_, name_.c_str(), H5P_DEFAULT), where_, what()))));
}

void Item::write(hid_t type, const void* data) {
    if (kind_ == Kind::dataset) {
        Dataset dataset(check(H5Dopen2(object_, name_.c_str(), H5P_DEFAULT), where_, what()));
        check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), where_, what());
    } else {
        Attribute held(check(H5Aopen(object_, name_.c_str(), H5P_DEFAULT), where_, what()));
        check(H5Awrite(held, type, data), where_, what());
    }
}

std::string Item::what() const {
    return (kind_ == Kind::dataset ? "dataset " : "attribute ") + name_ + " cannot be rewritten";
}

std::size_t Item::digits(double& result) const {
    const std::string& text = value_->texts[0];
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == text.npos) return 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + text.size(), result);
    return error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0;
}

}  // namespace convoy::io::h5
