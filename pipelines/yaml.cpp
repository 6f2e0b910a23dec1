#include "pipelines/yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/base/error.hpp"
#include "io/file.hpp"

namespace convoy::pipelines {

namespace {

constexpr int deepest = 32;              // nesting; an alias of what holds it never ends
constexpr std::size_t most = 1'000'000;  // values; aliases of aliases grow without bound

// ${NAME} in a value, replaced by the variable.
std::string with_variables(const std::string& text, const std::string& place) {
    std::string result;
    for (std::size_t at = 0;;) {
        const std::size_t open = text.find("${", at);
        result += text.substr(at, open - at);
        if (open == std::string::npos) return result;
        const std::size_t close = text.find('}', open);
        if (close == std::string::npos)
            throw usage_error("'" + text + "' has ${ without }", "write ${NAME}", place);
        const std::string name = text.substr(open + 2, close - open - 2);
        const char* value = std::getenv(name.c_str());
        if (value == nullptr)
            throw usage_error("the environment has no variable " + name,
                              "set it: " + name + "=... convoy run ...", place);
        result += value;
        at = close + 1;
    }
}

class Reading {
  public:
    explicit Reading(std::string name) : name_(std::move(name)) {}

    Yaml convert(const YAML::Node& node, int depth = 0) {
        Yaml value;
        value.place = place_of(node.Mark());
        if (depth > deepest)
            throw usage_error("values are nested too deeply", "take out the alias that holds itself",
                              value.place);
        if (++count_ > most)
            throw usage_error("there are too many values", "take out aliases of aliases", value.place);
        switch (node.Type()) {
            case YAML::NodeType::Scalar:
                value.kind = Yaml::Kind::scalar;
                value.quoted = node.Tag() == "!";
                value.text = with_variables(node.Scalar(), value.place);
                break;
            case YAML::NodeType::Sequence:
                value.kind = Yaml::Kind::list;
                for (const auto& item : node)
                    value.items.push_back(convert(item, depth + 1));
                break;
            case YAML::NodeType::Map:
                value.kind = Yaml::Kind::map;
                for (const auto& member : node)
                    add(value, member.first, member.second, depth);
                break;
            default:
                break;
        }
        return value;
    }

    std::string place_of(const YAML::Mark& mark) const {
        return mark.is_null() ? name_ : name_ + ":" + std::to_string(mark.line + 1);
    }

  private:
    void add(Yaml& map, const YAML::Node& key, const YAML::Node& member, int depth) {
        const std::string place = place_of(key.Mark());
        if (!key.IsScalar()) throw usage_error("a key is no word", "write key: value", place);
        const std::string& name = key.Scalar();
        if (map.find(name) != nullptr)
            throw usage_error("'" + name + "' is there twice", "leave one of them", place);
        map.members.emplace_back(name, convert(member, depth + 1));
        if (map.members.back().second.kind == Yaml::Kind::null) map.members.back().second.place = place;
        map.member_places.push_back(place);
    }

    std::string name_;
    std::size_t count_ = 0;
};

}  // namespace

const Yaml* Yaml::find(std::string_view key) const {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
    return found == members.end() ? nullptr : &found->second;
}

Yaml* Yaml::find(std::string_view key) {
    return const_cast<Yaml*>(std::as_const(*this).find(key));
}

Yaml& Yaml::at(const std::string& key, const std::string& where) {
    if (kind != Kind::map) {
        *this = {};
        kind = Kind::map;
        place = where;
    }
    if (Yaml* found = find(key)) return *found;
    members.emplace_back(key, Yaml{});
    member_places.push_back(where);
    members.back().second.place = where;
    return members.back().second;
}

Yaml parse_yaml(const std::string& text, const std::string& name) {
    Reading reading(name);
    try {
        return reading.convert(YAML::Load(text));
    } catch (const YAML::Exception& e) {
        throw usage_error("this is no YAML: " + e.msg, "check quotes, brackets and indentation",
                          reading.place_of(e.mark));
    }
}

Yaml read_yaml(const std::string& path) {
    return parse_yaml(io::read_text(path, "pipeline file"), path);
}

}  // namespace convoy::pipelines
