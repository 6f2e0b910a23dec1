#include "pipelines/regions.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "core/base/error.hpp"
#include "io/file.hpp"
#include "pipelines/inputs.hpp"

namespace convoy::pipelines {

namespace {

struct Line {
    std::vector<std::string> cells;
    std::string place;
};

std::vector<Line> lines_of(const std::string& path) {
    std::istringstream file(io::read_text(path, "table of regions"));
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

void check_region(const Region& r, const std::string& place, const std::string& what) {
    if (r.start < 0)
        throw failed(place, "the " + what + " begins " + to_text(-r.start) + " s before the recording",
                     "mend the table");
    if (!(r.end > r.start))
        throw failed(place,
                     "the " + what + " holds no time: it begins at " + to_text(r.start) + " s and ends at " +
                         to_text(r.end) + " s",
                     "mend the table");
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
        check_region(r, line.place, "selection");
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
        check_region(r, line.place, "region");
        regions.push_back(std::move(r));
    }
    return regions;
}

// Where a file's signal is: in which request, and how many seconds behind the first sample of what is joined
// there.
class Places {
  public:
    struct Place {
        std::size_t request = 0;
        double seconds = 0;
    };

    explicit Places(const std::vector<JobRequest>& requests) : requests_(requests) {}

    Place of(const std::string& file, const std::string& row) {
        const auto named = [&](const std::string& input) {
            return std::filesystem::path(split_dataset(input).path).filename() == file;
        };
        for (std::size_t r = 0; r < requests_.size(); ++r) {
            const JobRequest& request = requests_[r];
            if (named(request.input)) return {r, 0};
            const auto found = std::find_if(request.joined.begin(), request.joined.end(), named);
            if (found == request.joined.end()) continue;
            double seconds = length_of(request.input, request);
            for (auto before = request.joined.begin(); before != found; ++before)
                seconds += length_of(*before, request);
            return {r, seconds};
        }
        throw usage_error("no input is called " + file, "name it among the inputs", row);
    }

  private:
    double length_of(const std::string& input, const JobRequest& request) {
        const auto [known, fresh] = lengths_.try_emplace(input, 0);
        if (fresh) {
            const io::Recording r = io::open(input, open_options(request.options))->recording();
            if (!r.rate)
                throw failed(r.label(), "regions of joined files need the sample rate, and none was found",
                             "give --rate HZ");
            known->second = static_cast<double>(r.shape.frames) / *r.rate;
        }
        return known->second;
    }

    const std::vector<JobRequest>& requests_;
    std::map<std::string, double> lengths_;  // s
};

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
    Places places(requests);
    for (const Region& region : regions) {
        const std::string row = table + ":" + to_text(region.row);
        const auto place = region.file.empty() ? Places::Place{} : places.of(region.file, row);
        if (region.file.empty() && requests.size() > 1)
            throw usage_error("the table does not tell which of " + std::to_string(requests.size()) +
                                  " inputs its rows are of",
                              "give one input, or a table with the column Begin File", table);
        JobRequest& clip = all.emplace_back(requests[place.request]);
        for (const char* other : {"start", "end", "duration"})
            if (clip.options.given(other))
                throw usage_error(clip.options.spelled(other) + " does not go with regions", "leave it out");
        clip.options.set("start", to_text(place.seconds + region.start) + "s", row);
        clip.options.set("end", to_text(place.seconds + region.end) + "s", row);
        const std::size_t number = ++count[place.request];
        clip.output = numbered(clip.output, number);
        for (StepCall& call : clip.steps)
            if (const auto file = written_by(call); !file.empty())
                call.params.set(file, numbered(call.params.text(file), number), call.place);
    }
    return all;
}

}  // namespace convoy::pipelines
