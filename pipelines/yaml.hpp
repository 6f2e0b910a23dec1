// YAML as a plain tree in which every value knows where it was written. The parser behind it is yaml-cpp's,
// known to yaml.cpp only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convoy::pipelines {

/// A value of a YAML file.
struct Yaml {
    enum class Kind { null, scalar, list, map } kind = Kind::null;
    std::string text;                                   // of a scalar
    bool quoted = false;                                // written in quotes: never a truth value or null
    std::vector<Yaml> items;                            // of a list
    std::vector<std::pair<std::string, Yaml>> members;  // of a map, in order
    std::string place;                                  // "pipeline.yaml:12"
    std::vector<std::string> member_places;             // of the keys

    /// The member of a map; nullptr where it is not there.
    const Yaml* find(std::string_view key) const;
    Yaml* find(std::string_view key);
    /// The member, made (as null) where it is not there; what is no map becomes one.
    Yaml& at(const std::string& key, const std::string& where);
};

/// Parses a file or a text. ${NAME} in values is the variable of the environment. Error (a wrong request,
/// with file and line) where it is no YAML, a key comes twice, or a variable is not set.
Yaml read_yaml(const std::string& path);
Yaml parse_yaml(const std::string& text, const std::string& name);

}  // namespace convoy::pipelines
