#include "pipelines/script.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/script_words.hpp"
#include "pipelines/yaml.hpp"

namespace convoy::pipelines {

namespace {

namespace fs = std::filesystem;

Error wrong(const Yaml& at, const std::string& what, const std::string& hint = {}) {
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

class Checker {
  public:
    explicit Checker(const std::string& path)
        : folder_(fs::path(path).parent_path()),
          script_{path,
                  {},
                  {},
                  {},
                  {},
                  {},
                  Params(joined({input_params(), output_params(), execution_params(), batch_params()}))} {}

    Script check(const Yaml& root) {
        if (root.kind != Yaml::Kind::map)
            throw wrong(root, "a pipeline file is a map", "start with inputs:, output: and steps:");
        for (std::size_t i = 0; i < root.members.size(); ++i)
            if (std::find(sections.begin(), sections.end(), root.members[i].first) == sections.end())
                throw unknown_key(root.members[i].first, root.member_places[i],
                                  {sections.begin(), sections.end()});
        if (const Yaml* inputs = root.find("inputs")) read_inputs(*inputs);
        if (const Yaml* output = root.find("output")) read_output(*output);
        if (const Yaml* filters = root.find("filters")) read_filters(*filters);
        if (const Yaml* execution = root.find("execution"))
            set_all(*execution, script_.options, execution_words(), {});
        const Yaml* steps = root.find("steps");
        if (steps == nullptr) throw wrong(root, "there are no steps", "add steps:, a list");
        read_steps(*steps);
        return std::move(script_);
    }

  private:
    // A relative name of a file that is there next to the pipeline file.
    std::string beside(const std::string& name) const {
        std::error_code ignored;
        if (folder_.empty() || name.empty() || fs::path(name).is_absolute()) return name;
        const std::string near = (folder_ / name).string();
        return fs::exists(split_dataset(near).path, ignored) ? near : name;
    }

    // An input's word next to the pipeline file, where something is there that it names.
    std::string input_beside(const std::string& word) const {
        if (folder_.empty() || fs::path(word).is_absolute()) return word;
        const std::string near = (folder_ / word).string();
        std::error_code ignored;
        if (fs::exists(split_dataset(near).path, ignored)) return near;
        if (word.find_first_of("*?[") == std::string::npos) return word;
        return matches_any(near) ? near : word;
    }

    void read_words(const Yaml& value, std::vector<std::string>& words) {
        if (value.kind == Yaml::Kind::list) {
            for (const Yaml& item : value.items)
                read_words(item, words);
            return;
        }
        if (value.kind != Yaml::Kind::scalar || value.text.empty())
            throw wrong(value, "an input is a name or a pattern", "write recordings/**/*.wav, or a list");
        words.push_back(input_beside(value.text));
        std::error_code ignored;
        const std::string& word = words.back();
        if (word.find_first_of("*?[") == std::string::npos && !fs::exists(split_dataset(word).path, ignored))
            throw wrong(value, "there is no file " + value.text,
                        "check the name; it is looked for next to the pipeline file first");
        if (word.find_first_of("*?[") != std::string::npos &&
            !fs::exists(split_dataset(word).path, ignored) && !matches_any(word))
            throw wrong(value, "nothing matches '" + value.text + "'",
                        "check the pattern; it is looked for next to the pipeline file first");
    }

    void read_inputs(const Yaml& value) {
        script_.inputs_place = value.place;
        const Yaml* files = value.kind == Yaml::Kind::map ? value.find("files") : &value;
        if (files != nullptr) {
            script_.inputs_place = files->place;
            read_words(*files, script_.inputs);
        }
        if (value.kind == Yaml::Kind::map) set_all(value, script_.options, input_words(), {"files"});
    }

    void read_output(const Yaml& value) {
        const Yaml* path = value.kind == Yaml::Kind::map ? value.find("path") : &value;
        script_.output_place = path != nullptr ? path->place : value.place;
        if (path != nullptr) {
            if (path->kind != Yaml::Kind::scalar || path->text.empty())
                throw wrong(*path, "the output is a name or a template", "write filtered/{stem}.h5");
            script_.output = path->text;
        }
        if (value.kind == Yaml::Kind::map) set_all(value, script_.options, output_words(), {"path"});
    }

    void read_filters(const Yaml& value) {
        if (value.kind != Yaml::Kind::map)
            throw wrong(value, "filters is a map of names", "write voice: {bandpass: [300, 3000]}");
        const Step& filter = step::catalog().at("filter");
        for (const auto& [name, parameters] : value.members) {
            if (parameters.kind != Yaml::Kind::map)
                throw wrong(parameters, "the filter '" + name + "' has no parameters", "write {lowpass: 40}");
            Params checked({filter.params.begin(), filter.params.end()});
            set_all(parameters, checked, filter.params, {});
            filters_.emplace_back(name, parameters);
        }
    }

    // Sets every member of a map as a parameter of `declared`, apart from `others`.
    void set_all(const Yaml& map, Params& params, std::span<const Param> declared,
                 std::vector<std::string> others) {
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
            set(params, *p, value);
        }
    }

    void set(Params& params, const Param& p, const Yaml& value) {
        const auto text = text_for(p, value);
        if (!text) return;
        params.set(p.name, p.reads ? beside(*text) : *text, value.place);
    }

    void read_steps(const Yaml& value) {
        if (value.kind != Yaml::Kind::list || value.items.empty())
            throw wrong(value, "steps is a list", "write one step a line: - filter: {lowpass: 40}");
        for (const Yaml& item : value.items) {
            if (item.kind == Yaml::Kind::scalar) {
                read_step(item.text, {}, item.place);
            } else if (item.kind == Yaml::Kind::map && item.members.size() == 1) {
                read_step(item.members[0].first, item.members[0].second, item.member_places[0]);
            } else {
                throw wrong(item, "a step is one name with its parameters", "write - filter: {lowpass: 40}");
            }
        }
    }

    void read_step(const std::string& name, const Yaml& value, const std::string& place) {
        const Step* step = step::catalog().find(name);
        if (step == nullptr) {
            std::vector<std::string> names;
            for (const Step* s : step::catalog())
                names.emplace_back(s->name);
            const std::string near = nearest(name, names);
            throw usage_error(
                "no step is called '" + name + "'",
                near.empty() ? "choose one of " + step::catalog().names() : "did you mean '" + near + "'?",
                place);
        }
        StepCall call{step, Params({step->params.begin(), step->params.end()}), place};
        if (value.kind == Yaml::Kind::map) {
            if (const Yaml* use = name == "filter" ? value.find("use") : nullptr)
                set_all(named(*use), call.params, step->params, {});
            set_all(value, call.params, step->params,
                    name == "filter" ? std::vector<std::string>{"use"} : std::vector<std::string>{});
        } else if (value.kind != Yaml::Kind::null) {
            set_main(call, value);
        }
        script_.steps.push_back(std::move(call));
    }

    const Yaml& named(const Yaml& name) const {
        std::vector<std::string> names;
        for (const auto& [known, parameters] : filters_) {
            if (known == name.text) return parameters;
            names.push_back(known);
        }
        const std::string near = nearest(name.text, names);
        throw wrong(name, "no filter is called '" + name.text + "'",
                    near.empty() ? "define it under filters:" : "did you mean '" + near + "'?");
    }

    // A lone value: the step's main parameter, or the name of a filter.
    void set_main(StepCall& call, const Yaml& value) {
        if (call.step->name == "filter" && value.kind == Yaml::Kind::scalar) {
            const auto is = [&](const auto& filter) { return filter.first == value.text; };
            std::error_code ignored;
            const bool file = fs::exists(split_dataset(beside(value.text)).path, ignored);
            if (std::any_of(filters_.begin(), filters_.end(), is) || !file)
                return set_all(named(value), call.params, call.step->params, {});
        }
        if (call.step->main.empty())
            throw wrong(value, "the step " + std::string(call.step->name) + " takes parameters by name",
                        "write {name: value}");
        set(call.params, *find_param(call.step->params, call.step->main), value);
    }

    fs::path folder_;
    Script script_;
    std::vector<std::pair<std::string, Yaml>> filters_;
};

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

// KEY=VALUE into the tree.
void apply(Yaml& root, const std::string& setting) {
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

}  // namespace

Script read_script(const std::string& path, const std::vector<std::string>& settings) {
    Yaml root = read_yaml(path);
    for (const char* section : {"inputs", "output"}) {  // a lone value and the map that it stands for
        Yaml* value = const_cast<Yaml*>(root.find(section));
        if (value == nullptr || value->kind == Yaml::Kind::map || value->kind == Yaml::Kind::null) continue;
        Yaml map;
        const std::string place = value->place;
        map.at(std::string(section) == "inputs" ? "files" : "path", place) = *value;
        map.place = place;
        *value = std::move(map);
    }
    for (const std::string& setting : settings)
        apply(root, setting);
    return Checker(path).check(root);
}

}  // namespace convoy::pipelines
