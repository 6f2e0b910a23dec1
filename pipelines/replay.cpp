#include "pipelines/replay.hpp"

#include "core/base/error.hpp"
#include "io/file.hpp"
#include "pipelines/batch.hpp"

namespace convoy::pipelines {

namespace {

std::string text_at(const Json& json, std::string_view key) {
    const std::string* text = json.at(key).as_text();
    return text == nullptr ? std::string() : *text;
}

std::vector<std::string> texts_at(const Json& json, std::string_view key) {
    std::vector<std::string> list;
    if (const Json::Array* array = json.at(key).as_array())
        for (const Json& value : *array)
            if (value.as_text() != nullptr) list.push_back(*value.as_text());
    return list;
}

void set_all(Params& params, const Json& values, const std::string& where) {
    if (const Json::Object* members = values.as_object())
        for (const auto& [name, value] : *members)
            if (value.as_text() != nullptr) params.set(name, *value.as_text(), where);
}

// The files of a report, of one or of many.
std::vector<Json> files_of(const std::string& path) {
    const Json report = Json::parse(io::read_text(path, "report"), path);
    const std::string schema = text_at(report, "schema");
    if (schema == "convoy.report/1") return {report};
    const Json::Array* files = report.at("files").as_array();
    if (schema != "convoy.batch/1" || files == nullptr)
        throw failed(path, "is no report of a run", "give a file that --report wrote");
    return {files->begin(), files->end()};
}

}  // namespace

JobRequest request_from(const Json& json, const std::string& where) {
    JobRequest request{text_at(json, "input"),
                       "null",
                       Params(joined({input_params(), output_params(), execution_params()})),
                       {},
                       "convoy run --replay " + where,
                       true,
                       {}};
    request.joined = texts_at(json, "joined");
    set_all(request.options, json.at("options"), where);
    if (const Json::Array* steps = json.at("steps").as_array())
        for (const Json& entry : *steps) {
            const Step& step = step::catalog().at(text_at(entry, "step"));
            if (step.name == "save") continue;  // nothing is written
            StepCall call{&step, Params({step.params.begin(), step.params.end()}), where};
            set_all(call.params, entry.at("params"), where);
            request.steps.push_back(without_picture(call));
        }
    return request;
}

std::vector<Replay> replay(const std::string& report) {
    std::vector<Replay> results;
    for (const Json& file : files_of(report)) {
        Replay& r = results.emplace_back();
        r.input = text_at(file.at("input"), "path");
        r.before = text_at(file.at("output"), "hash");
        if (r.before.empty()) {
            r.error = r.input + ": the report has no hash of its result";
            continue;
        }
        try {
            r.now = Job(request_from(file.at("request"), report)).run().stream.hash;
        } catch (const Error& e) {
            r.error = e.what();
        }
    }
    return results;
}

Json to_json(const std::vector<Replay>& replays) {
    Json files = Json::array();
    for (const Replay& r : replays) {
        Json file;
        file["input"] = r.input;
        file["before"] = r.before.empty() ? Json() : Json(r.before);
        file["now"] = r.now.empty() ? Json() : Json(r.now);
        file["same"] = r.same();
        file["error"] = r.error.empty() ? Json() : Json(r.error);
        files.push(std::move(file));
    }
    Json whole;
    whole["schema"] = "convoy.replay/1";
    whole["files"] = std::move(files);
    return whole;
}

Json merged_reports(const std::vector<std::string>& reports) {
    Json files = Json::array();
    Index failures = 0;
    for (const std::string& report : reports)
        for (Json& file : files_of(report)) {
            if (!file.at("error").is_null()) ++failures;
            files.push(std::move(file));
        }
    return batch_report(std::move(files), failures);
}

}  // namespace convoy::pipelines
