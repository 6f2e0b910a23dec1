#include "pipelines/regions.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/error.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::pipelines {

namespace {

struct Line {
    std::vector<std::string> cells;
    std::string place;
};

std::vector<Line> lines_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw failed(path, "the table of regions cannot be read", "check the name");
    std::vector<Line> lines;
    Index number = 0;
    for (std::string text; std::getline(file, text);) {
        ++number;
        if (text.ends_with('\r')) text.pop_back();
        if (number == 1 && text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
        if (!text.empty()) lines.push_back({split(text, '\t'), path + ":" + to_text(number)});
    }
    return lines;
}

double number_in(const Line& line, std::size_t column, const char* what) {
    const auto value = column < line.cells.size() ? parse_number(line.cells[column]) : std::nullopt;
    if (!value || !std::isfinite(*value))
        throw failed(line.place, std::string(what) + " is not a number", "mend the table");
    return *value;
}

std::string text_in(const Line& line, std::optional<std::size_t> column) {
    return column && *column < line.cells.size() ? line.cells[*column] : std::string();
}

std::vector<Region> raven(const std::vector<Line>& lines, std::size_t begin) {
    const auto column = [&](const char* name) -> std::optional<std::size_t> {
        const auto& names = lines.front().cells;
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) return {};
        return static_cast<std::size_t>(found - names.begin());
    };
    const auto end = column("End Time (s)"), offset = column("File Offset (s)"),
               selection = column("Selection");
    const auto file = column("Begin File") ? column("Begin File") : column("Begin Path");
    const auto label = column("Annotation") ? column("Annotation") : column("Species");
    if (!end)
        throw failed(lines.front().place, "there is no column End Time (s)", "write the table again with it");
    std::vector<Region> regions;
    std::set<std::string> seen;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const Line& line = lines[i];
        Region r{number_in(line, begin, "Begin Time (s)"), number_in(line, *end, "End Time (s)"),
                 text_in(line, label), std::filesystem::path(text_in(line, file)).filename().string(),
                 static_cast<Index>(i)};
        if (selection &&
            !seen.insert(text_in(line, selection) + " " + to_text(r.start) + " " + to_text(r.end)).second)
            continue;
        if (!(r.start >= 0 && r.end > r.start))
            throw failed(line.place, "the selection holds no time", "mend the table");
        if (!r.file.empty() && offset) {
            const double length = r.end - r.start;
            r.start = number_in(line, *offset, "File Offset (s)");
            r.end = r.start + length;
        }
        regions.push_back(std::move(r));
    }
    return regions;
}

std::vector<Region> audacity(const std::vector<Line>& lines) {
    std::vector<Region> regions;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Line& line = lines[i];
        if (line.cells.front() == "\\") continue;  // the frequencies of the label above
        Region r{number_in(line, 0, "the start"),
                 number_in(line, 1, "the end"),
                 text_in(line, 2),
                 {},
                 static_cast<Index>(i + 1)};
        if (r.end == r.start) {
            warn(line.place, "the label marks a moment, not a region, and is left out");
            continue;
        }
        if (!(r.start >= 0 && r.end > r.start))
            throw failed(line.place, "the region holds no time", "mend the table");
        regions.push_back(std::move(r));
    }
    return regions;
}

std::string numbered(const std::string& output, std::size_t number) {
    if (output == "null") return output;
    const std::filesystem::path path(output);
    std::string digits = std::to_string(number);
    digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
    return (path.parent_path() / (path.stem().string() + "_" + digits + path.extension().string())).string();
}

}  // namespace

std::vector<Region> read_regions(const std::string& path) {
    const auto lines = lines_of(path);
    if (lines.empty()) throw failed(path, "the table of regions is empty", "give one with a row a clip");
    const auto& names = lines.front().cells;
    const auto begin = std::find(names.begin(), names.end(), "Begin Time (s)");
    auto regions = begin != names.end() ? raven(lines, static_cast<std::size_t>(begin - names.begin()))
                                        : audacity(lines);
    if (regions.empty()) throw failed(path, "the table of regions has no row", "give one with a row a clip");
    return regions;
}

std::vector<JobRequest> clips(const std::vector<JobRequest>& requests, const std::vector<Region>& regions,
                              const std::string& table) {
    std::vector<JobRequest> all;
    std::vector<std::size_t> count(requests.size(), 0);
    for (const Region& region : regions) {
        const auto named = [&](const JobRequest& r) {
            return std::filesystem::path(split_dataset(r.input).path).filename() == region.file;
        };
        const auto found =
            region.file.empty() ? requests.begin() : std::find_if(requests.begin(), requests.end(), named);
        if (found == requests.end())
            throw usage_error("no input is called " + region.file, "name it among the inputs",
                              table + ":" + to_text(region.row));
        if (region.file.empty() && requests.size() > 1)
            throw usage_error("the table does not tell which of " + std::to_string(requests.size()) +
                                  " inputs its rows are of",
                              "give one input, or a table with the column Begin File", table);
        const auto input = static_cast<std::size_t>(found - requests.begin());
        JobRequest& clip = all.emplace_back(*found);
        for (const char* other : {"start", "end", "duration"})
            if (clip.options.given(other))
                throw usage_error(clip.options.spelled(other) + " does not go with regions", "leave it out");
        for (const StepCall& call : clip.steps)
            if (call.step->name == "save")
                throw usage_error("save does not go with regions", "leave it out", call.place);
        clip.options.set("start", to_text(region.start) + "s");
        clip.options.set("end", to_text(region.end) + "s");
        clip.output = numbered(clip.output, ++count[input]);
    }
    return all;
}

}  // namespace convoy::pipelines
