// A job's report as JSON, schema convoy.report/1.
#include "core/base/version.hpp"
#include "pipelines/job.hpp"

namespace convoy::pipelines {

namespace {

Json or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

// Levels of lanes as those of `channels` channels: lane i belongs to channel i / lanes_each when lanes of a
// channel are neighbours (complex parts, frequencies of a spectrogram).
Json levels(const std::vector<stats::Level>& lanes, Index lanes_each) {
    Json list = Json::array();
    for (std::size_t at = 0; at < lanes.size(); at += static_cast<std::size_t>(lanes_each)) {
        stats::Level sum;
        for (std::size_t i = at; i < std::min(at + static_cast<std::size_t>(lanes_each), lanes.size()); ++i)
            sum.add(lanes[i]);
        Json level;
        level["peak"] = sum.finite > 0 ? Json(sum.peak) : Json();
        level["rms"] = sum.finite > 0 ? Json(sum.rms()) : Json();
        level["nan"] = sum.nan;
        level["inf"] = sum.inf;
        level["over_range"] = sum.over;
        list.push(std::move(level));
    }
    return list;
}

Json given(const Params& params) {
    Json values = Json::object();
    for (const Param& p : params.declared())
        if (params.given(p.name)) values[p.name] = params.text(p.name);
    return values;
}

Json input_json(const JobReport& report) {
    const io::Recording& in = report.input;
    Json j;
    j["path"] = in.path;
    j["dataset"] = in.dataset.empty() ? Json() : Json(in.dataset);
    j["format"] = in.format;
    j["dims"] = Json::Array(in.dims.begin(), in.dims.end());
    j["time_axis"] = in.time_axis;
    j["type"] = in.stored_type;
    j["sampling_rate"] = or_null(in.rate);
    j["sampling_rate_source"] = in.rate_source.empty() ? Json() : Json(in.rate_source);
    j["start_time"] = in.start_time ? Json(*in.start_time) : Json();
    j["bytes"] = in.file_bytes;
    j["modified"] = in.modified;
    return j;
}

Json output_json(const JobReport& report) {
    Json out;
    out["path"] = report.output;
    for (const std::string& file : report.out_files)
        out["files"].push(file);
    out["dataset"] = report.out_dataset.empty() ? Json() : Json(report.out_dataset);
    out["dims"] = Json::Array(report.out_dims.begin(), report.out_dims.end());
    out["type"] = report.out_type;
    out["first_frame"] = report.out_first;
    out["sampling_rate"] = or_null(report.out_rate);
    out["hash"] = report.stream.hash.empty() ? Json() : Json(report.stream.hash);
    out["clipped"] = report.clipped;
    out["samples_kept"] = report.samples_kept;  // from an earlier run
    for (const SavedReport& saved : report.saved) {
        Json one;
        one["path"] = saved.path;
        one["dims"] = Json::Array(saved.dims.begin(), saved.dims.end());
        one["hash"] = saved.hash.empty() ? Json() : Json(saved.hash);
        out["saved"].push(std::move(one));
    }
    return out;
}

Json steps_json(const JobReport& report) {
    Json list = Json::array();
    for (const StepReport& step : report.steps) {
        Json j;
        j["step"] = step.name;
        j["strategy"] = step.strategy.empty() ? Json() : Json(step.strategy);
        j["strategy_reason"] = step.reason.empty() ? Json() : Json(step.reason);
        for (const auto& [key, value] : step.notes) {
            const auto number = parse_number(value);
            j[key] = number ? Json(*number) : Json(value);
        }
        for (const auto& [key, value] : step.facts)
            j[key] = value;
        list.push(std::move(j));
    }
    return list;
}

Json time_json(const JobReport& report) {
    const StreamReport& s = report.stream;
    Json j;
    j["total"] = report.total_s;
    j["setup"] = report.open_s + report.plan_s + s.setup_s;
    j["reading"] = s.read_s;
    j["computing"] = s.compute_s;
    j["measuring"] = s.measure_s;
    j["writing"] = s.write_s;
    j["waiting"] = s.wait_s;
    j["finishing"] = report.finish_s;
    j["host_to_device"] = s.traffic.h2d_s > 0 ? Json(s.traffic.h2d_s) : Json();
    j["kernel"] = s.traffic.kernel_s > 0 ? Json(s.traffic.kernel_s) : Json();
    j["device_to_host"] = s.traffic.d2h_s > 0 ? Json(s.traffic.d2h_s) : Json();
    return j;
}

Json memory_json(const JobReport& report) {
    Json j;
    j["asked"] = report.memory_asked;
    j["in_effect"] = report.memory;
    j["reason"] = report.memory_reason;
    j["slots"] = report.stream.slots;
    j["host_bytes"] = report.stream.footprint.host;
    j["pinned_bytes"] = report.stream.footprint.pinned;
    j["managed_bytes"] = report.stream.footprint.managed;
    j["device_bytes"] = report.stream.footprint.device;
    // Memory is used in place, but stages that read samples more than once get them copied first.
    j["staged"] = report.stream.footprint.staged;
    j["bytes_to_device"] = report.stream.traffic.bytes_h2d;
    j["bytes_to_host"] = report.stream.traffic.bytes_d2h;
    return j;
}

}  // namespace

Json request_json(const JobRequest& request) {
    Json j;
    j["input"] = request.input;
    if (!request.joined.empty()) j["joined"] = Json::Array(request.joined.begin(), request.joined.end());
    j["options"] = given(request.options);
    j["steps"] = Json::array();
    for (const StepCall& call : request.steps) {
        Json step;
        step["step"] = call.step->name;
        step["params"] = given(call.params);
        j["steps"].push(std::move(step));
    }
    return j;
}

Json to_json(const JobReport& report) {
    const StreamReport& s = report.stream;
    Json j;
    j["schema"] = "convoy.report/1";
    j["version"] = version;
    j["command"] = report.command;
    j["ending"] = name_of(report.ending);
    j["input"] = input_json(report);
    j["output"] = output_json(report);
    j["steps"] = steps_json(report);
    Json device;
    device["id"] = report.device;
    device["name"] = report.device_name;
    device["remark"] = report.device_remark.empty() ? Json() : Json(report.device_remark);
    j["device"] = std::move(device);
    j["memory"] = memory_json(report);
    Json chunk;
    chunk["frames"] = s.chunk_frames;
    chunk["count"] = s.chunks;
    chunk["passes"] = s.passes;
    j["chunk"] = std::move(chunk);
    j["seconds"] = time_json(report);
    const double samples = static_cast<double>(report.input.shape.samples());
    j["samples_per_second"] = report.total_s > 0 ? Json(samples / report.total_s) : Json();
    const Index channels = std::max<Index>(1, report.input.shape.lanes() / report.lanes_per_channel);
    const bool counted = is_float(report.input.type);  // integers have no NaN to count on the way in
    j["input_levels"] = counted ? levels(s.input, report.lanes_per_channel) : Json();
    j["output_levels"] = levels(s.output, std::max<Index>(1, static_cast<Index>(s.output.size()) / channels));
    j["request"] = report.request;
    Json warnings = Json::array();
    for (const std::string& line : report.warnings)
        warnings.push(line);
    j["warnings"] = std::move(warnings);
    return j;
}

}  // namespace convoy::pipelines
