#include "pipelines/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"

namespace convoy {

namespace {

using Nlohmann = nlohmann::ordered_json;

Nlohmann to_nlohmann(const Json& json) {
    return std::visit(
        [](const auto& value) -> Nlohmann {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return nullptr;
            } else if constexpr (std::is_same_v<T, Json::Array>) {
                Nlohmann array = Nlohmann::array();
                for (const Json& element : value)
                    array.push_back(to_nlohmann(element));
                return array;
            } else if constexpr (std::is_same_v<T, Json::Object>) {
                Nlohmann object = Nlohmann::object();
                for (const auto& [key, member] : value)
                    object[key] = to_nlohmann(member);
                return object;
            } else if constexpr (std::is_same_v<T, double>) {
                return std::isfinite(value) ? Nlohmann(value) : Nlohmann(nullptr);
            } else {
                return value;
            }
        },
        json.variant());
}

Json from_nlohmann(const Nlohmann& value) {
    switch (value.type()) {
        case Nlohmann::value_t::boolean:
            return value.get<bool>();
        case Nlohmann::value_t::number_integer:
        case Nlohmann::value_t::number_unsigned:
            return value.get<Index>();
        case Nlohmann::value_t::number_float:
            return value.get<double>();
        case Nlohmann::value_t::string:
            return value.get<std::string>();
        case Nlohmann::value_t::array: {
            Json array = Json::array();
            for (const auto& element : value)
                array.push(from_nlohmann(element));
            return array;
        }
        case Nlohmann::value_t::object: {
            Json object = Json::object();
            for (const auto& [key, member] : value.items())
                object[key] = from_nlohmann(member);
            return object;
        }
        default:
            return {};
    }
}

}  // namespace

double Json::number(double fallback) const {
    if (const auto* whole = std::get_if<Index>(&value_)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value_);
    return real != nullptr ? *real : fallback;
}

Json& Json::operator[](std::string_view key) {
    if (is_null()) value_ = Object{};
    auto& object = std::get<Object>(value_);
    for (auto& [name, member] : object)
        if (name == key) return member;
    return object.emplace_back(std::string(key), Json()).second;
}

const Json& Json::at(std::string_view key) const {
    static const Json null;
    if (const Object* object = as_object())
        for (const auto& [name, member] : *object)
            if (name == key) return member;
    return null;
}

Json& Json::push(Json value) {
    if (is_null()) value_ = Array{};
    return std::get<Array>(value_).emplace_back(std::move(value));
}

std::string Json::dump(int indent) const {
    return to_nlohmann(*this).dump(indent, ' ', false, Nlohmann::error_handler_t::replace);
}

Json Json::parse(const std::string& text, const std::string& where) {
    const Nlohmann value = Nlohmann::parse(text, nullptr, false);
    if (value.is_discarded()) throw failed(where, "is not JSON");
    return from_nlohmann(value);
}

}  // namespace convoy
