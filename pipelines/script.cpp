#include "pipelines/script.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/script_settings.hpp"
#include "pipelines/script_steps.hpp"
#include "pipelines/script_values.hpp"
#include "pipelines/script_words.hpp"
#include "pipelines/yaml.hpp"

namespace convoy::pipelines {

namespace {

namespace fs = std::filesystem;

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
                  Params(joined({input_params(), output_params(), execution_params(), batch_params()}))},
          steps_(folder_) {}

    Script check(const Yaml& root) {
        if (root.kind != Yaml::Kind::map)
            throw wrong(root, "a pipeline file is a map", "start with inputs:, output: and steps:");
        for (std::size_t i = 0; i < root.members.size(); ++i)
            if (std::find(sections.begin(), sections.end(), root.members[i].first) == sections.end())
                throw unknown_key(root.members[i].first, root.member_places[i],
                                  {sections.begin(), sections.end()});
        if (const Yaml* inputs = root.find("inputs")) read_inputs(*inputs);
        if (const Yaml* output = root.find("output")) read_output(*output);
        if (const Yaml* filters = root.find("filters")) steps_.read_filters(*filters);
        if (const Yaml* execution = root.find("execution"))
            set_all(*execution, script_.options, execution_words(), {}, folder_);
        const Yaml* steps = root.find("steps");
        if (steps == nullptr) throw wrong(root, "there are no steps", "add steps:, a list");
        script_.steps = steps_.read_steps(*steps);
        return std::move(script_);
    }

  private:
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
        if (value.kind == Yaml::Kind::map) set_all(value, script_.options, input_words(), {"files"}, folder_);
    }

    void read_output(const Yaml& value) {
        const Yaml* path = value.kind == Yaml::Kind::map ? value.find("path") : &value;
        script_.output_place = path != nullptr ? path->place : value.place;
        if (path != nullptr) {
            if (path->kind != Yaml::Kind::scalar || path->text.empty())
                throw wrong(*path, "the output is a name or a template", "write filtered/{stem}.h5");
            script_.output = path->text;
        }
        if (value.kind == Yaml::Kind::map) set_all(value, script_.options, output_words(), {"path"}, folder_);
    }

    fs::path folder_;
    Script script_;
    StepReader steps_;
};

}  // namespace

Script read_script(const std::string& path, const std::vector<std::string>& settings) {
    Yaml root = read_yaml(path);
    for (const char* section : {"inputs", "output"}) {  // a lone value and the map that it stands for
        Yaml* value = root.find(section);
        if (value == nullptr || value->kind == Yaml::Kind::map || value->kind == Yaml::Kind::null) continue;
        Yaml map;
        const std::string place = value->place;
        map.at(std::string(section) == "inputs" ? "files" : "path", place) = *value;
        map.place = place;
        *value = std::move(map);
    }
    for (const std::string& setting : settings)
        apply_setting(root, setting);
    return Checker(path).check(root);
}

}  // namespace convoy::pipelines
