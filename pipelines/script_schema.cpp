// The JSON schema of pipeline files (draft 2020-12), for editors.
#include "core/base/version.hpp"
#include "pipelines/script.hpp"
#include "pipelines/script_words.hpp"

namespace convoy::pipelines {

namespace {

Json of_type(std::string_view type) {
    Json j;
    j["type"] = type;
    return j;
}

Json either(std::initializer_list<Json> kinds) {
    Json list = Json::array(), j;
    for (const Json& kind : kinds)
        list.push(kind);
    j["anyOf"] = std::move(list);
    return j;
}

Json list_of(Json items) {
    Json j = of_type("array");
    j["items"] = std::move(items);
    return j;
}

Json choices_of(const Param& p) {
    Json list = Json::array(), j;
    for (const std::string& word : split(p.choices, ','))
        list.push(word);
    j["enum"] = std::move(list);
    return j;
}

// What a value may be: numbers may be written as text too (3k, ${RATE}).
Json value_schema(const Param& p) {
    const Json number = of_type("number"), text = of_type("string");
    switch (p.kind) {
        case Kind::flag:
            return of_type("boolean");
        case Kind::integer:
            return either({of_type("integer"), text});
        case Kind::number:
        case Kind::time:
            return either({number, text});
        case Kind::numbers:
        case Kind::integers:
            return either({list_of(either({number, text})), number, text});
        case Kind::choice:
            return choices_of(p);
        default:
            break;
    }
    Json list = Json::array();
    for (const char* type : {"string", "number", "boolean", "array"})
        list.push(type);
    Json j;
    j["type"] = std::move(list);
    return j;
}

Json described(const Param& p) {
    Json j = value_schema(p);
    if (!p.help.empty()) j["description"] = p.help;
    if (!p.fallback.empty()) j["default"] = p.fallback;
    return j;
}

Json map_of(std::span<const Param> params) {
    Json properties = Json::object();
    for (const Param& p : params) {
        properties[underscored(p.name)] = described(p);
        for (const std::string& other : split(p.also, ','))
            if (other.size() > 1) properties[underscored(other)] = described(p);
    }
    Json j = of_type("object");
    j["properties"] = std::move(properties);
    j["additionalProperties"] = false;
    return j;
}

Json step_schema(const Step& s) {
    Json parameters = map_of(s.params);
    if (s.name == "filter") parameters["properties"]["use"] = of_type("string");
    std::vector<Json> kinds{std::move(parameters), of_type("null")};
    if (s.name == "filter") kinds.push_back(of_type("string"));
    if (const Param* main = s.main.empty() ? nullptr : find_param(s.params, s.main))
        kinds.push_back(value_schema(*main));
    Json any;
    any["anyOf"] = Json(Json::Array(kinds.begin(), kinds.end()));
    Json step = of_type("object");
    step["description"] = s.summary;
    step["properties"][s.name] = std::move(any);
    step["required"].push(s.name);
    step["additionalProperties"] = false;
    return step;
}

}  // namespace

Json script_schema() {
    Json steps = Json::array(), names;
    for (const Step* s : step::catalog()) {
        steps.push(step_schema(*s));
        names["enum"].push(s->name);
    }
    steps.push(std::move(names));
    Json any;
    any["anyOf"] = std::move(steps);

    const Json words = either({of_type("string"), list_of(of_type("string"))});
    Json inputs = map_of(input_words());
    inputs["properties"]["files"] = words;
    Json output = map_of(output_words());
    output["properties"]["path"] = of_type("string");
    Json filters = of_type("object");
    filters["additionalProperties"] = map_of(step::catalog().at("filter").params);

    Json j;
    j["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    j["title"] = "convoy pipeline, version " + std::string(version);
    j["type"] = "object";
    j["properties"]["inputs"] = either({words, std::move(inputs)});
    j["properties"]["output"] = either({of_type("string"), std::move(output)});
    j["properties"]["filters"] = std::move(filters);
    j["properties"]["steps"] = list_of(std::move(any));
    j["properties"]["execution"] = map_of(execution_words());
    j["required"].push("steps");
    j["additionalProperties"] = false;
    return j;
}

}  // namespace convoy::pipelines
