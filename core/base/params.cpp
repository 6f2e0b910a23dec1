#include "core/base/params.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace convoy {

namespace {

std::string dashed(std::string_view name) {
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
}

// What is wrong with a text of a kind, or empty.
std::string problem(const Param& p, const std::string& text) {
    const auto each = [&](auto parse, const char* what) -> std::string {
        for (const std::string& part : split(text, ','))
            if (!parse(part)) return std::string("is not ") + what + " separated by commas";
        return {};
    };
    switch (p.kind) {
        case Kind::flag:
            return text.empty() || text == "true" || text == "false" ? "" : "is not true or false";
        case Kind::integer:
            return parse_integer(text) ? "" : "is not a whole number";
        case Kind::number:
            return parse_number(text) ? "" : "is not a number";
        case Kind::numbers:
            return each(parse_number, "numbers");
        case Kind::integers:
            return each(parse_integer, "whole numbers");
        case Kind::time:
            return parse_time(text) ? "" : "is not a time (10, 500ms, 2min, 01:30:00, 480000n or ISO 8601)";
        case Kind::choice: {
            const auto words = split(p.choices, ',');
            if (std::find(words.begin(), words.end(), text) != words.end()) return {};
            std::string listed;
            for (const std::string& w : words)
                listed += (listed.empty() ? "" : ", ") + w;
            return "is not one of " + listed;
        }
        case Kind::text:
            return {};
    }
    return {};
}

}  // namespace

Params::Params(std::vector<Param> declared, std::string place)
    : declared_(std::move(declared)), place_(std::move(place)) {}

const Param* Params::declaration(std::string_view name) const {
    const std::string wanted = dashed(name);
    for (const Param& p : declared_) {
        if (p.name == wanted) return &p;
        const auto others = split(p.also, ',');
        if (!wanted.empty() && std::find(others.begin(), others.end(), wanted) != others.end()) return &p;
    }
    return nullptr;
}

void Params::set(std::string_view name, std::string text, std::string_view place) {
    const Param* p = declaration(name);
    if (p == nullptr) {
        std::vector<std::string> names;
        for (const Param& d : declared_)
            names.emplace_back(d.name);
        std::string near = nearest(dashed(name), names);
        if (!place.empty()) std::replace(near.begin(), near.end(), '-', '_');
        throw usage_error("there is no parameter '" + std::string(name) + "'",
                          near.empty() ? "see --help" : "did you mean '" + near + "'?", std::string(place));
    }
    const bool bare = text.empty() && (p->kind == Kind::flag || p->optional_value);
    if (std::string wrong = bare ? std::string() : problem(*p, text); !wrong.empty())
        throw usage_error((place.empty() ? "--" : "") + std::string(p->name) + " '" + text + "' " + wrong, {},
                          std::string(place));
    given_[std::string(p->name)] = std::move(text);
    if (!place.empty()) places_[std::string(p->name)] = place;
}

bool Params::given(std::string_view name) const {
    return given_.contains(name);
}

bool Params::flag(std::string_view name) const {
    const auto found = given_.find(name);
    return found != given_.end() && found->second != "false";
}

bool Params::has(std::string_view name) const {
    if (given(name)) return true;
    const Param* p = declaration(name);
    return p != nullptr && !p->fallback.empty();
}

std::string Params::text(std::string_view name) const {
    if (const auto found = given_.find(name); found != given_.end()) return found->second;
    const Param* p = declaration(name);
    return p == nullptr ? std::string() : std::string(p->fallback);
}

double Params::number(std::string_view name) const {
    return number_if(name).value_or(0);
}

Index Params::integer(std::string_view name) const {
    return integer_if(name).value_or(0);
}

std::optional<double> Params::number_if(std::string_view name) const {
    return has(name) ? parse_number(text(name)) : std::nullopt;
}

std::optional<Index> Params::integer_if(std::string_view name) const {
    return has(name) ? parse_integer(text(name)) : std::nullopt;
}

std::vector<double> Params::numbers(std::string_view name) const {
    std::vector<double> values;
    if (has(name))
        for (const std::string& part : split(text(name), ','))
            values.push_back(parse_number(part).value_or(0));
    return values;
}

std::vector<Index> Params::integers(std::string_view name) const {
    std::vector<Index> values;
    if (has(name))
        for (const std::string& part : split(text(name), ','))
            values.push_back(parse_integer(part).value_or(0));
    return values;
}

std::optional<Time> Params::time_if(std::string_view name) const {
    return has(name) ? parse_time(text(name)) : std::nullopt;
}

std::string Params::spelled(std::string_view name) const {
    const auto found = places_.find(name);
    if (found == places_.end()) return "--" + std::string(name);
    std::string key(name);
    std::replace(key.begin(), key.end(), '-', '_');
    return key + " in " + found->second;
}

std::vector<std::string> Params::words() const {
    std::vector<std::string> list;
    for (const Param& p : declared_)
        if (const auto found = given_.find(p.name); found != given_.end()) {
            if (p.kind == Kind::flag && found->second == "false") continue;
            list.push_back("--" + std::string(p.name));
            if (p.kind != Kind::flag && !found->second.empty()) list.push_back(found->second);
        }
    return list;
}

}  // namespace convoy
