#include "pipelines/script_words.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "pipelines/batch.hpp"
#include "pipelines/options.hpp"

namespace convoy::pipelines {

namespace {

// A flag's value; empty where the text is none. YAML 1.1 has more words for it than 1.2.
std::optional<bool> truth_of(const Yaml& value) {
    if (value.quoted) return {};
    const std::string word = lower(value.text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "no" || word == "off") return false;
    return {};
}

bool takes_list(const Param& p) {
    return p.kind == Kind::numbers || p.kind == Kind::integers || p.kind == Kind::text;
}

std::string joined_items(const Param& p, const Yaml& list, int depth) {
    std::string text;
    bool nested = false;
    for (const Yaml& item : list.items)
        nested = nested || item.kind == Yaml::Kind::list;
    for (const Yaml& item : list.items) {
        if (item.kind == Yaml::Kind::list ? depth > 0 : item.kind != Yaml::Kind::scalar || nested)
            throw usage_error(underscored(p.name) + " takes a list of numbers or words", {}, item.place);
        if (!text.empty()) text += nested ? ";" : ",";
        text += item.kind == Yaml::Kind::list ? joined_items(p, item, depth + 1) : item.text;
    }
    return text;
}

}  // namespace

std::span<const Param> input_words() {
    return input_params();
}
std::span<const Param> output_words() {
    return output_params();
}
std::span<const Param> execution_words() {
    static const std::vector<Param> list = [] {
        std::vector<Param> all{execution_params().begin(), execution_params().end()};
        for (const Param& p : batch_params())
            if (p.name == "jobs" || p.name == "fail-fast") all.push_back(p);
        return all;
    }();
    return list;
}

std::string underscored(std::string_view name) {
    std::string text(name);
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
}

const Param* find_param(std::span<const Param> declared, std::string_view key) {
    const std::string wanted = underscored(key);
    for (const Param& p : declared) {
        if (underscored(p.name) == wanted) return &p;
        for (const std::string& other : split(p.also, ','))
            if (other.size() > 1 && underscored(other) == wanted)
                return &p;  // one letter is of the command line
    }
    return nullptr;
}

std::optional<std::string> text_for(const Param& p, const Yaml& value) {
    const std::string name = underscored(p.name);
    switch (value.kind) {
        case Yaml::Kind::null:
            throw usage_error(name + " has no value", "write " + name + ": ..., or leave it out",
                              value.place);
        case Yaml::Kind::map:
            throw usage_error(name + " takes a single value", "write " + name + ": value", value.place);
        case Yaml::Kind::list:
            if (!takes_list(p))
                throw usage_error(name + " takes a single value, not a list", {}, value.place);
            return joined_items(p, value, 0);
        default:
            break;
    }
    const auto truth = truth_of(value);
    if (p.kind == Kind::flag) {
        if (!truth) throw usage_error(name + " is true or false, not '" + value.text + "'", {}, value.place);
        return *truth ? std::optional<std::string>("") : std::nullopt;
    }
    if (p.optional_value && truth) return *truth ? std::optional<std::string>("") : std::nullopt;
    if (value.text.empty())
        throw usage_error(name + " has no value", "write " + name + ": ..., or leave it out", value.place);
    return value.text;
}

}  // namespace convoy::pipelines
