#include "pipelines/script_values.hpp"

#include <algorithm>

#include "pipelines/inputs.hpp"
#include "pipelines/script_words.hpp"

namespace convoy::pipelines {

namespace fs = std::filesystem;

Error wrong(const Yaml& at, const std::string& what, const std::string& hint) {
    return usage_error(what, hint, at.place);
}

Error unknown_key(const std::string& key, const std::string& place, const std::vector<std::string>& known) {
    const std::string near = nearest(key, known);
    std::string list;
    for (const std::string& k : known)
        list += (list.empty() ? "" : ", ") + k;
    return usage_error("there is no key '" + key + "'",
                       near.empty() ? "known are " + list : "did you mean '" + near + "'?", place);
}

std::string beside(const std::filesystem::path& folder, const std::string& name) {
    std::error_code ignored;
    if (folder.empty() || name.empty() || fs::path(name).is_absolute()) return name;
    const std::string near = (folder / name).string();
    return fs::exists(split_dataset(near).path, ignored) ? near : name;
}

void set_all(const Yaml& map, Params& params, std::span<const Param> declared,
             std::vector<std::string> others, const std::filesystem::path& folder) {
    if (map.kind == Yaml::Kind::null) return;
    if (map.kind != Yaml::Kind::map) throw wrong(map, "parameters are a map", "write {name: value}");
    for (std::size_t i = 0; i < map.members.size(); ++i) {
        const auto& [key, value] = map.members[i];
        if (std::find(others.begin(), others.end(), key) != others.end()) continue;
        const Param* p = find_param(declared, key);
        if (p == nullptr) {
            for (const Param& d : declared)
                others.push_back(underscored(d.name));
            throw unknown_key(key, map.member_places[i], others);
        }
        set(params, *p, value, folder);
    }
}

void set(Params& params, const Param& p, const Yaml& value, const std::filesystem::path& folder) {
    const auto text = text_for(p, value);
    if (!text) return;
    params.set(p.name, p.reads ? beside(folder, *text) : *text, value.place);
}

}  // namespace convoy::pipelines
