#include "pipelines/script_steps.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "pipelines/inputs.hpp"
#include "pipelines/script_values.hpp"
#include "pipelines/script_words.hpp"

namespace convoy::pipelines {

namespace fs = std::filesystem;

void StepReader::read_filters(const Yaml& value) {
    if (value.kind != Yaml::Kind::map)
        throw wrong(value, "filters is a map of names", "write voice: {bandpass: [300, 3000]}");
    const Step& filter = step::catalog().at("filter");
    for (const auto& [name, parameters] : value.members) {
        if (parameters.kind != Yaml::Kind::map)
            throw wrong(parameters, "the filter '" + name + "' has no parameters", "write {lowpass: 40}");
        Params checked({filter.params.begin(), filter.params.end()});
        set_all(parameters, checked, filter.params, {}, folder_);
        filters_.emplace_back(name, parameters);
    }
}

std::vector<StepCall> StepReader::read_steps(const Yaml& value) const {
    if (value.kind != Yaml::Kind::list || value.items.empty())
        throw wrong(value, "steps is a list", "write one step a line: - filter: {lowpass: 40}");
    std::vector<StepCall> steps;
    for (const Yaml& item : value.items) {
        if (item.kind == Yaml::Kind::scalar) {
            steps.push_back(read_step(item.text, {}, item.place));
        } else if (item.kind == Yaml::Kind::map && item.members.size() == 1) {
            steps.push_back(read_step(item.members[0].first, item.members[0].second, item.member_places[0]));
        } else {
            throw wrong(item, "a step is one name with its parameters", "write - filter: {lowpass: 40}");
        }
    }
    return steps;
}

StepCall StepReader::read_step(const std::string& name, const Yaml& value, const std::string& place) const {
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
            set_all(named(*use), call.params, step->params, {}, folder_);
        set_all(value, call.params, step->params,
                name == "filter" ? std::vector<std::string>{"use"} : std::vector<std::string>{}, folder_);
    } else if (value.kind != Yaml::Kind::null) {
        set_main(call, value);
    }
    return call;
}

const Yaml& StepReader::named(const Yaml& name) const {
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
void StepReader::set_main(StepCall& call, const Yaml& value) const {
    if (call.step->name == "filter" && value.kind == Yaml::Kind::scalar) {
        const auto is = [&](const auto& filter) { return filter.first == value.text; };
        std::error_code ignored;
        const bool file = fs::exists(split_dataset(beside(folder_, value.text)).path, ignored);
        if (std::any_of(filters_.begin(), filters_.end(), is) || !file)
            return set_all(named(value), call.params, call.step->params, {}, folder_);
    }
    if (call.step->main.empty())
        throw wrong(value, "the step " + std::string(call.step->name) + " takes parameters by name",
                    "write {name: value}");
    set(call.params, *find_param(call.step->params, call.step->main), value, folder_);
}

}  // namespace convoy::pipelines
