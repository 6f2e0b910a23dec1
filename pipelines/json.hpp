// JSON values for reports, calibrations and machine-readable listings. The parser and printer behind it are
// nlohmann-json's, known to json.cpp only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/signal.hpp"

namespace convoy {

/// A JSON value; objects keep the order in which their members were set.
class Json {
  public:
    using Array = std::vector<Json>;
    using Object = std::vector<std::pair<std::string, Json>>;

    Json() = default;  // null
    Json(bool value) : value_(value) {}
    Json(int value) : value_(static_cast<Index>(value)) {}
    Json(Index value) : value_(value) {}
    Json(std::size_t value) : value_(static_cast<Index>(value)) {}
    Json(double value) : value_(value) {}  // NaN and Inf print as null
    Json(std::string value) : value_(std::move(value)) {}
    Json(std::string_view value) : value_(std::string(value)) {}
    Json(const char* value) : value_(std::string(value)) {}
    Json(Array value) : value_(std::move(value)) {}
    Json(Object value) : value_(std::move(value)) {}

    static Json array() { return Json(Array{}); }
    static Json object() { return Json(Object{}); }

    bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    const Array* as_array() const { return std::get_if<Array>(&value_); }
    const Object* as_object() const { return std::get_if<Object>(&value_); }
    const std::string* as_text() const { return std::get_if<std::string>(&value_); }
    /// The number, or `fallback` where the value is none.
    double number(double fallback = 0) const;

    /// The member of an object (made where it is not there); a null becomes an object.
    Json& operator[](std::string_view key);
    /// The member, or null.
    const Json& at(std::string_view key) const;
    /// Appends to an array; a null becomes an array.
    Json& push(Json value);

    /// Text; indent < 0 puts it on one line.
    std::string dump(int indent = 2) const;
    /// Error (naming `where`) for text that is no JSON.
    static Json parse(const std::string& text, const std::string& where);

    const auto& variant() const { return value_; }

  private:
    std::variant<std::monostate, bool, Index, double, std::string, Array, Object> value_;
};

}  // namespace convoy
