#include "pipelines/script_settings.hpp"

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::pipelines {

namespace {

// The item of a list of steps that a part of a key names: a number from 0, or the step's name where there is
// one such.
Yaml& step_named(Yaml& list, const std::string& word, const std::string& where) {
    if (const auto number = parse_integer(word)) {
        if (*number < 0 || *number >= static_cast<Index>(list.items.size()))
            throw usage_error("there is no step " + word,
                              "they count from 0 to " + to_text(static_cast<Index>(list.items.size()) - 1),
                              where);
        return list.items[static_cast<std::size_t>(*number)];
    }
    Yaml* found = nullptr;
    for (Yaml& item : list.items) {
        const bool same = item.kind == Yaml::Kind::map ? item.find(word) != nullptr : item.text == word;
        if (same && found != nullptr)
            throw usage_error("there are several steps '" + word + "'", "give its number from 0: steps.2...",
                              where);
        if (same) found = &item;
    }
    if (found == nullptr)
        throw usage_error("there is no step '" + word + "'", "name one that the file has", where);
    return *found;
}

}  // namespace

void apply_setting(Yaml& root, const std::string& setting) {
    const std::string where = "--set " + setting;
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
        throw usage_error("'" + setting + "' is not KEY=VALUE", "write --set execution.device=cpu", "--set");
    Yaml* at = &root;
    const auto words = split(setting.substr(0, equals), '.');
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (at->kind == Yaml::Kind::list) {
            Yaml& item = step_named(*at, word, where);
            const bool by_name = !parse_integer(word);
            if (item.kind == Yaml::Kind::scalar) {  // a step without parameters: gets a map to set them in
                Yaml map;
                const std::string name = item.text;
                map.at(name, where);
                item = std::move(map);
            }
            if (!by_name && i + 1 < words.size() && item.members.size() == 1 &&
                item.members.front().first != words[i + 1])
                throw usage_error("step " + word + " is '" + item.members.front().first + "', and not '" +
                                      words[i + 1] + "'",
                                  "they count from 0; or give its name: steps." + words[i + 1] + "...",
                                  where);
            at = by_name ? &item.at(word, where) : &item;
            continue;
        }
        if (at->kind == Yaml::Kind::scalar && i > 0)
            throw usage_error("'" + words[i - 1] + "' is a lone value",
                              "set it whole: " + words[i - 1] + "=...", where);
        at = &at->at(word, where);
    }
    Yaml value = parse_yaml(setting.substr(equals + 1), where);
    value.place = where;
    for (Yaml& item : value.items)
        item.place = where;
    *at = std::move(value);
}

}  // namespace convoy::pipelines
