#include "pipelines/inputs.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "io/pipe.hpp"

namespace convoy::pipelines {

namespace {

namespace fs = std::filesystem;

bool has_wildcard(std::string_view text) {
    return text.find_first_of("*?[") != std::string_view::npos;
}

// Entries of a folder by name; nothing where it cannot be listed.
std::vector<fs::path> entries(const fs::path& folder) {
    std::vector<fs::path> list;
    std::error_code ignored;
    for (fs::directory_iterator it(folder.empty() ? "." : folder, ignored), end; it != end;
         it.increment(ignored))
        list.push_back(folder.empty() ? it->path().filename() : it->path());
    std::sort(list.begin(), list.end());
    return list;
}

bool hidden(const fs::path& path) {
    return path.filename().string().starts_with('.');
}

// Adds what parts[at..] match below `base`.
void match(const fs::path& base, const std::vector<std::string>& parts, std::size_t at,
           std::vector<std::string>& found) {
    std::error_code ignored;
    if (at == parts.size()) {
        if (fs::is_regular_file(base, ignored)) found.push_back(base.string());
        return;
    }
    const std::string& part = parts[at];
    if (part == "**") {
        match(base, parts, at + 1, found);
        for (const fs::path& entry : entries(base))
            if (!hidden(entry) && fs::is_directory(entry, ignored) && !fs::is_symlink(entry, ignored))
                match(entry, parts, at, found);
        return;
    }
    if (!has_wildcard(part)) {
        const fs::path next = base / part;
        if (fs::exists(next, ignored)) match(next, parts, at + 1, found);
        return;
    }
    for (const fs::path& entry : entries(base))
        if (fnmatch(part.c_str(), entry.filename().c_str(), FNM_PERIOD) == 0 &&
            (at + 1 == parts.size() || fs::is_directory(entry, ignored)))
            match(entry, parts, at + 1, found);
}

std::vector<std::string> glob(const std::string& pattern) {
    std::vector<std::string> parts;
    const fs::path path(pattern);
    for (const fs::path& part : path.relative_path())
        parts.push_back(part.string());
    std::vector<std::string> found;
    match(path.root_path(), parts, 0, found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// The deepest folder that holds all of the paths.
fs::path common_parent(const std::vector<fs::path>& paths) {
    if (paths.empty()) return {};
    fs::path common = paths.front().parent_path();
    for (const fs::path& path : paths)
        while (!common.empty()) {
            const auto [end, ignored] = std::mismatch(common.begin(), common.end(), path.begin(), path.end());
            if (end == common.end()) break;
            common = common == common.parent_path() ? fs::path() : common.parent_path();
        }
    return common;
}

std::string filled(const std::string& pattern, const NameParts& parts) {
    const std::map<std::string, std::string> values{{"stem", parts.stem},
                                                    {"name", parts.name},
                                                    {"reldir", parts.reldir},
                                                    {"date", parts.date},
                                                    {"channel", parts.channel}};
    std::string text;
    for (std::size_t at = 0; at < pattern.size();) {
        const std::size_t open = pattern.find('{', at);
        text += pattern.substr(at, open - at);
        if (open == std::string::npos) break;
        const std::size_t close = pattern.find('}', open);
        const std::string key = close == std::string::npos ? pattern.substr(open + 1)
                                                           : pattern.substr(open + 1, close - open - 1);
        const auto value = values.find(key);
        if (key == "channel" && parts.channel.empty())
            throw usage_error(
                "{channel} stands for one channel of each input, and here no channels are told apart",
                "write it in the name of the output, without --join");
        if (close == std::string::npos || value == values.end())
            throw usage_error("the output's name has {" + key + "}",
                              "use {stem}, {name}, {reldir}, {date} or {channel}");
        text += value->second;
        at = close + 1;
    }
    return fs::path(text).lexically_normal().string();
}

}  // namespace

InputName split_dataset(const std::string& input) {
    std::error_code ignored;
    const std::size_t colon = input.rfind(":/");
    if (colon == std::string::npos || colon == 0 || fs::exists(input, ignored)) return {input, ""};
    return {input.substr(0, colon), input.substr(colon + 1)};
}

bool matches_any(const std::string& pattern) {
    return !glob(split_dataset(pattern).path).empty();
}

std::vector<std::string> expand_inputs(const std::vector<std::string>& words) {
    std::vector<std::string> inputs;
    std::error_code ignored;
    for (const std::string& word : words) {
        if (fs::exists(word, ignored)) {
            inputs.push_back(word);
            continue;
        }
        const auto [path, dataset] = split_dataset(word);
        if (fs::exists(path, ignored) || !has_wildcard(path)) {
            inputs.push_back(word);
            continue;
        }
        const auto found = glob(path);
        if (found.empty()) throw usage_error("nothing matches '" + word + "'", "check the pattern");
        for (const std::string& file : found)
            inputs.push_back(dataset.empty() ? file : file + ":" + dataset);
    }
    return inputs;
}

std::vector<std::string> read_list(const std::string& path, bool nul_separated) {
    std::string text;
    if (io::is_stream(path)) {
        text = io::read_stream(path);
    } else {
        std::ifstream file(path);
        if (!file) throw failed(path, "the list of files cannot be read: " + system_error_text(errno));
        if (fs::is_directory(path)) throw failed(path, "is a folder, and no list of files");
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    std::vector<std::string> names;
    for (std::string& name : split(text, nul_separated ? '\0' : '\n')) {
        if (!nul_separated && name.ends_with('\r')) name.pop_back();
        if (!name.empty()) names.push_back(std::move(name));
    }
    return names;
}

Error several_into_one(const std::string& output, const std::string& what, const std::string& hint) {
    return usage_error(output + " is one " + what + ", and there are several inputs", hint);
}

Error several_into_one(const std::string& output) {
    return several_into_one(output, "file",
                            "name a folder, or a template like {stem}.h5; --join makes them one signal");
}

bool names_one_file(const Naming& naming) {
    std::error_code ignored;
    return !naming.several && naming.output.find('{') == std::string::npos && !naming.output.ends_with('/') &&
           !fs::is_directory(naming.output, ignored);
}

std::vector<std::string> name_outputs(const std::vector<std::string>& inputs, const Naming& naming,
                                      const std::function<std::string(const std::string& input)>& date_of) {
    if (names_one_file(naming)) return {naming.output};
    const bool is_template = naming.output.find('{') != std::string::npos;
    std::error_code ignored;
    if (!is_template && fs::exists(naming.output, ignored) && !fs::is_directory(naming.output, ignored))
        throw several_into_one(naming.output);
    const std::string pattern =
        is_template ? naming.output : naming.output + "/{reldir}/{stem}" + naming.extension;
    std::vector<fs::path> paths;
    for (const std::string& input : inputs)
        paths.push_back(fs::absolute(split_dataset(input).path).lexically_normal());
    const fs::path parent = common_parent(paths);
    std::map<std::string, std::string> writers;  // output -> input
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        NameParts parts;
        parts.stem = paths[i].stem().string();
        parts.name = paths[i].filename().string();
        parts.reldir = paths[i].parent_path().lexically_relative(parent).string();
        if (!naming.channels.empty()) parts.channel = naming.channels[i];
        if (pattern.find("{date}") != std::string::npos) parts.date = date_of(inputs[i]);
        outputs.push_back(filled(pattern, parts));
        const auto [other, fresh] = writers.emplace(outputs.back(), inputs[i]);
        if (!fresh)
            throw usage_error(inputs[i] + " and " + other->second + " would both write " + outputs.back(),
                              "name outputs by a template with {stem}, {name} or {reldir}");
    }
    return outputs;
}

}  // namespace convoy::pipelines
