#include "app/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/base/error.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::app {

namespace {

constexpr Param listing[] = {
    {.name = "json", .kind = Kind::flag, .help = "print JSON"},
    {.name = "csv", .kind = Kind::flag, .help = "print CSV"},
};

std::string cell_text(const Json& value) {
    if (value.is_null()) return "";
    if (const std::string* text = value.as_text()) return *text;
    return value.dump(-1);
}

std::string csv_cell(const Json& value) {
    const std::string text = cell_text(value);
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string as_csv(const Table& table) {
    std::string text;
    const auto line = [&](const auto& cells, auto print) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            text += (i == 0 ? "" : ",") + print(cells[i]);
        text += "\n";
    };
    line(table.columns, [](const std::string& name) { return csv_cell(name); });
    for (const auto& row : table.rows)
        line(row, csv_cell);
    return text;
}

}  // namespace

Json to_json(const Table& table) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
        Json object = Json::object();
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            object[table.columns[i]] = row[i];
        rows.push(std::move(object));
    }
    Json whole;
    whole["schema"] = table.schema;
    for (const auto& [name, value] : table.about)
        whole[name] = value;
    whole["rows"] = std::move(rows);
    return whole;
}

namespace {

// Numbers in a table are for people: five figures.
std::string short_text(const Json& value) {
    if (const auto* number = std::get_if<double>(&value.variant())) {
        if (std::isnan(*number)) return "-";  // not measured
        char text[40];
        std::snprintf(text, sizeof text, "%.5g", *number);
        return text;
    }
    return cell_text(value);
}

std::string as_text(const Table& table) {
    std::vector<std::vector<std::string>> cells{table.columns};
    for (const auto& row : table.rows) {
        auto& line = cells.emplace_back();
        for (const Json& value : row)
            line.push_back(value.is_null() ? "-" : short_text(value));
    }
    std::vector<std::size_t> widths(table.columns.size(), 0);
    for (const auto& line : cells)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    std::string text;
    for (const auto& line : cells) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            text += line[i];
            if (i + 1 < line.size()) text += std::string(widths[i] - line[i].size() + 2, ' ');
        }
        text += "\n";
    }
    return text;
}

}  // namespace

std::span<const Param> listing_params() {
    return listing;
}

void write_text(const std::string& path, const std::string& text) {
    if (path == "-") {
        std::cout << text << std::flush;
        if (std::cout) return;
        if (errno == EPIPE) {  // the reader has seen enough (`| head`): end as other programs do
            std::signal(SIGPIPE, SIG_DFL);
            std::raise(SIGPIPE);
        }
        throw failed("standard output", "cannot be written: " + system_error_text(errno));
    }
    std::ofstream out(path, std::ios::binary);
    out << text << std::flush;
    if (!out) throw failed(path, "cannot be written: " + system_error_text(errno));
}

void check_side_file(const Params& params, std::string_view option, const std::vector<std::string>& made) {
    namespace fs = std::filesystem;
    const std::string path = params.text(option);
    if (path.empty() || path == "-") return;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) throw failed(path, "is a folder", "name a file in it");
    const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
    const auto holds = [&](const std::string& there) {  // the folder itself, or one below it
        const fs::path below = fs::absolute(fs::path(there) / "").lexically_normal();
        return std::mismatch(folder.begin(), folder.end(), below.begin(), below.end()).first == folder.end();
    };
    if (!fs::is_directory(folder, ignored)) {
        if (std::any_of(made.begin(), made.end(), holds)) return;
        throw failed(path, "the folder " + folder.string() + " is not there",
                     "make it, or give --" + std::string(option) + " another name");
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0 && ::access(path.c_str(), W_OK) != 0)
        throw failed(path,
                     "the folder " + folder.string() + " cannot be written to: " + system_error_text(errno),
                     "give --" + std::string(option) + " another name");
}

void check_side_files(const Params& params, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& results) {
    namespace fs = std::filesystem;
    std::vector<std::string> made;
    for (const std::string& result : results)
        made.push_back(fs::path(result).parent_path().string());
    const auto full = [](const std::string& path) { return fs::absolute(path).lexically_normal(); };
    std::error_code ignored;
    for (const char* option : {"report", "html", "failed-to"}) {
        if (!params.given(option)) continue;
        const std::string side = params.text(option);
        if (side.empty() || side == "-") continue;
        check_side_file(params, option, made);
        const auto refuse = [&](const std::string& path, const char* what) {
            if (full(side) == full(path) || fs::equivalent(side, path, ignored))
                throw usage_error("--" + std::string(option) + " " + side + " would replace " + what,
                                  "give another name");
        };
        for (const std::string& input : inputs)
            refuse(pipelines::split_dataset(input).path, "an input");
        for (const std::string& result : results)
            refuse(result, "a result");
    }
}

void write_report(const Params& params, const Json& report) {
    if (params.given("report")) write_text(params.text("report"), report.dump() + "\n");
}

void check_listing(const Params& params) {
    if (params.flag("json") && params.flag("csv"))
        throw usage_error("--json and --csv exclude each other", "give one of them");
}

void print(const Table& table, const Params& params) {
    check_listing(params);
    const std::string text = params.flag("json")  ? to_json(table).dump() + "\n"
                             : params.flag("csv") ? as_csv(table)
                                                  : as_text(table);
    write_text("-", text);
}

}  // namespace convoy::app
