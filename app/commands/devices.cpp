// convoy devices: what there is to compute on, and how memory would be used there.
#include "app/command.hpp"
#include "app/output.hpp"
#include "core/device/device.hpp"
#include "core/memory/memory.hpp"

namespace convoy::command {

namespace {

std::vector<Group> groups() {
    return {{"Output", app::listing_params()}};
}

std::vector<Json> row_of(const device::Device& d) {
    const device::Attributes& a = d.attributes;
    const memory::Choice choice = memory::choose("auto", d);
    const bool gpu = d.backend == device::Backend::cuda;
    const auto on_gpu = [&](auto value) { return gpu ? Json(value) : Json(); };
    return {d.id(),
            a.name,
            on_gpu(to_text(Index{a.compute_major}) + "." + to_text(Index{a.compute_minor})),
            gpu ? Json(a.multiprocessors) : Json(device::available_cpus()),
            a.total_bytes,
            d.free_bytes(),
            on_gpu(a.copy_engines),
            on_gpu(a.concurrent_managed_access),
            on_gpu(a.pageable_memory_access),
            on_gpu(a.host_page_tables),
            on_gpu(a.ecc),
            a.pcie_generation > 0 ? Json(a.pcie_generation) : Json(),
            a.pcie_width > 0 ? Json(a.pcie_width) : Json(),
            on_gpu(a.driver_version),
            gpu ? std::string(device::memory_class(a)) : "host memory",
            std::string(choice.mode->name),
            choice.reason};
}

int run(const Call& call) {
    app::check_side_file(call.params, "report");
    app::Table table{
        "convoy.devices/1",
        {"device", "name", "compute_capability", "processors", "memory_bytes", "free_bytes", "copy_engines",
         "concurrent_managed_access", "pageable_memory_access", "host_page_tables", "ecc", "pcie_generation",
         "pcie_width", "driver", "memory_class", "auto_memory", "auto_reason"},
        {row_of(device::cpu())}};
    for (const device::Device& gpu : device::gpus())
        table.rows.push_back(row_of(gpu));
    app::write_report(call.params, to_json(table));
    if (call.params.flag("json") || call.params.flag("csv")) {
        app::print(table, call.params);
        return 0;
    }
    std::string text;
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (row[i].is_null()) continue;
            const std::string* word = row[i].as_text();
            const std::string& key = table.columns[i];
            const std::string shown = key.ends_with("_bytes") ? bytes_text(row[i].number())
                                      : word                  ? *word
                                                              : row[i].dump(-1);
            text += (i == 0 ? shown : "  " + key + std::string(28 - key.size(), ' ') + shown) + "\n";
        }
    }
    if (!device::gpu_remark().empty()) text += "no GPU is used: " + device::gpu_remark() + "\n";
    app::write_text("-", text);
    return 0;
}

}  // namespace

extern constinit const Command devices{"devices", "GPUs and CPU, and the memory mode that auto takes on each",
                                       "",        "",
                                       false,     "convoy devices --json",
                                       groups,    run};

}  // namespace convoy::command
