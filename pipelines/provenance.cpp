#include "pipelines/provenance.hpp"

#include "core/base/quantity.hpp"
#include "core/base/version.hpp"
#include "pipelines/digest.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::pipelines {

std::vector<std::pair<std::string, std::string>> provenance(const JobReport& report,
                                                            const JobRequest& request) {
    std::vector<std::pair<std::string, std::string>> notes;
    const auto note = [&](std::string key, std::string value) {
        if (!value.empty()) notes.emplace_back(std::move(key), std::move(value));
    };
    const io::Recording& in = report.input;
    note("version", version);
    note("command", request.command);
    note("input", in.path);
    note("input_dataset", in.dataset);
    note("input_bytes", to_text(in.file_bytes));
    note("input_modified", in.modified);
    note("device", report.device_name);
    note("memory", report.memory);
    std::string pipeline;
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        const StepReport& s = report.steps[i];
        pipeline += (i == 0 ? "" : " | ") + s.name;
        for (const std::string& word : request.steps[i].params.words())
            pipeline += " " + word;
        const std::string prefix = report.steps.size() == 1 ? "" : s.name + "_" + std::to_string(i + 1) + "_";
        note(prefix + "strategy", s.strategy);
        for (const auto& [key, value] : s.notes)
            note(prefix + key, value);
    }
    note("pipeline", pipeline);
    return notes;
}

JobTexts job_texts(const JobReport& report, const JobRequest& request, const std::vector<double>& taps) {
    JobTexts all{{"version", version}};
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        const StepReport& s = report.steps[i];
        std::string text = s.name + " " + described(request.steps[i].params, {"path", "png", "png-reduce"}) +
                           " " + s.strategy;
        for (const auto& [key, value] : s.notes)
            if (key != "frames") text += " " + key + "=" + value;  // an input may grow
        all.emplace_back("step " + std::to_string(i + 1), text + " " + std::string(name_of(s.type)));
    }
    all.emplace_back("taps", digest_text(digest(taps.data(), taps.size() * sizeof(double))));
    all.emplace_back(
        "options", described(request.options, {"overwrite", "sync", "resume", "device", "memory", "strategy",
                                               "dtype", "chunk", "threads", "explain"}));
    if (!request.split.empty()) all.emplace_back("split", request.split);
    all.emplace_back("output", report.out_dataset + " " + report.out_type);
    all.emplace_back("device", report.device == "cpu" ? "cpu" : report.device_name);
    return all;
}

}  // namespace convoy::pipelines
