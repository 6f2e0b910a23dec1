// What commands print: reports to files or standard output, tables as text, CSV or JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/params.hpp"
#include "pipelines/json.hpp"

namespace convoy::app {

/// Writes a report where --report says (nowhere without it).
void write_report(const Params& params, const Json& report);

/// Error where what `option` names (a file that is written when the work is done) could not be written then:
/// it is a folder, or its folder is missing or closed. Folders in `made` will be there by then.
void check_side_file(const Params& params, std::string_view option,
                     const std::vector<std::string>& made = {});

/// Checks each file that is written when the work is done (report, page, list of failures): also an Error (a
/// wrong request) where it would replace an input (a path, or file.h5:/dataset) or a result.
void check_side_files(const Params& params, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& results = {});

/// Rows of named values: printed as an aligned table, or as --json or --csv ask.
struct Table {
    std::string schema;  // "convoy.devices/1"
    std::vector<std::string> columns;
    std::vector<std::vector<Json>> rows;
    std::vector<std::pair<std::string, Json>> about = {};  // beside the rows in JSON
};
void print(const Table& table, const Params& params);
/// The table as it is printed by --json.
Json to_json(const Table& table);

/// --json and --csv, for the commands that list things.
std::span<const Param> listing_params();
/// Error (a wrong request) where both are given.
void check_listing(const Params& params);

/// Writes text to a file, or to standard output for "-". Error where it cannot be written.
void write_text(const std::string& path, const std::string& text);

}  // namespace convoy::app
