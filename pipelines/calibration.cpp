#include "pipelines/calibration.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/error.hpp"
#include "core/conv1d/cpu_cost.hpp"
#include "pipelines/json.hpp"

namespace convoy::pipelines {

namespace {

namespace fs = std::filesystem;
namespace cpu_cost = conv1d::cpu_cost;

constexpr std::string_view schema = "convoy.calibration/1";

std::string environment(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? "" : text;
}

Json read() {
    std::ifstream in(calibration_path());
    if (!in) return Json::object();
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return Json::parse(text, calibration_path());
}

// The file is replaced as a whole, so that another run never reads half of it.
void save(Json whole) {
    const fs::path path = calibration_path();
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    const fs::path part = path.string() + ".part";
    std::ofstream out(part);
    out << whole.dump() << "\n" << std::flush;
    if (out) fs::rename(part, path, error);
    if (!out || error)
        throw failed(path.string(), "the calibration cannot be written",
                     "set CONVOY_CALIBRATION to another place");
}

struct Speed {
    std::string_view key;
    double cpu_cost::Calibration::*value;
};
constexpr Speed speeds[] = {{"direct_flops", &cpu_cost::Calibration::direct_flops},
                            {"memory_bytes", &cpu_cost::Calibration::memory_bytes},
                            {"gather_ns", &cpu_cost::Calibration::gather_ns},
                            {"pass_ns", &cpu_cost::Calibration::pass_ns},
                            {"look_ns", &cpu_cost::Calibration::look_ns},
                            {"slide_ns", &cpu_cost::Calibration::slide_ns}};
struct Lengths {
    std::string_view key;
    cpu_cost::PerLength cpu_cost::Calibration::*values;
};
constexpr Lengths lengths[] = {{"transform32_ns", &cpu_cost::Calibration::transform32_ns},
                               {"transform64_ns", &cpu_cost::Calibration::transform64_ns}};

Json to_json(const cpu_cost::Calibration& c) {
    Json j;
    for (const Speed& s : speeds)
        j[s.key] = c.*s.value;
    for (const Lengths& l : lengths)
        for (const double ns : c.*l.values)
            j[l.key].push(ns);
    return j;
}

// Values that are missing, or no speeds, stay as shipped.
cpu_cost::Calibration cpu_from_json(const Json& j) {
    cpu_cost::Calibration c = cpu_cost::shipped_calibration();
    for (const Speed& s : speeds)
        if (const double v = j.at(s.key).number(); v > 0) c.*s.value = v;
    for (const Lengths& l : lengths)
        if (const Json::Array* list = j.at(l.key).as_array();
            list != nullptr && list->size() == (c.*l.values).size())
            for (std::size_t i = 0; i < list->size(); ++i)
                if (const double v = (*list)[i].number(); v > 0) (c.*l.values)[i] = v;
    return c;
}

Json current() {
    Json whole = read();
    whole["schema"] = schema;
    return whole;
}

}  // namespace

std::string calibration_path() {
    if (const std::string path = environment("CONVOY_CALIBRATION"); !path.empty()) return path;
    std::string folder = environment("XDG_CONFIG_HOME");
    if (folder.empty()) folder = environment("HOME") + "/.config";
    return folder + "/convoy/calibration.json";
}

void calibrate_cpu() {
    const cpu_cost::Calibration measured = cpu_cost::measure_calibration();
    cpu_cost::set_calibration(measured);
    Json whole = current();
    whole["cpus"][device::cpu().attributes.name] = to_json(measured);
    save(std::move(whole));
}

std::string calibration_note() {
    const cpu_cost::Calibration& used = cpu_cost::calibration();
    return used == cpu_cost::shipped_calibration() ? "" : to_json(used).dump(-1);
}

void load_calibration() {
    try {
        const Json whole = read();
        if (const Json& cpu = whole.at("cpus").at(device::cpu().attributes.name); !cpu.is_null())
            cpu_cost::set_calibration(cpu_from_json(cpu));
        if (const Json::Object* modes = whole.at("memory_modes").as_object())
            for (const auto& [uuid, name] : *modes)
                if (const memory::Mode* mode =
                        name.as_text() ? memory::catalog().find(*name.as_text()) : nullptr)
                    memory::set_fastest(uuid, *mode);
    } catch (const Error& error) {
        warn(error.where(), "the saved calibration " + error.problem() + ": the shipped defaults are used");
    }
}

const memory::Mode* fastest_mode(const bench::StreamBench& measured) {
    const bench::StreamRow* best = nullptr;
    for (const bench::StreamRow& row : measured.rows)
        if (row.reason.empty() && std::isfinite(row.with_cpu.median) &&
            (best == nullptr || row.with_cpu.median > best->with_cpu.median))
            best = &row;
    return best == nullptr ? nullptr : &memory::catalog().at(best->mode);
}

void save_fastest_mode(const device::Device& gpu, const memory::Mode& mode) {
    Json whole = current();
    whole["memory_modes"][gpu.attributes.uuid] = mode.name;
    save(std::move(whole));
}

}  // namespace convoy::pipelines
