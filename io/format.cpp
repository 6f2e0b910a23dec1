// Opening an input: where it is, and which format its content shows.
#include "io/format.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "io/file.hpp"

namespace convoy::io {

namespace {

/// A file and, behind a colon, a dataset in it.
struct Place {
    std::string path, dataset;
};

bool exists(const std::string& path) {
    struct stat ignored {};
    return ::stat(path.c_str(), &ignored) == 0;
}

/// "a.h5:/b" where a.h5 is there; a file whose own name holds a colon comes first.
Place place_of(const std::string& input) {
    if (exists(input)) return {input, {}};
    for (std::size_t colon = input.find(':'); colon != std::string::npos;
         colon = input.find(':', colon + 1)) {
        const std::string path = input.substr(0, colon);
        struct stat status {};
        if (colon + 1 < input.size() && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
            return {path, input.substr(colon + 1)};
    }
    // Not there: what is before the colon is named as the missing file.
    const std::size_t colon = input.find(":/");
    return colon == std::string::npos || colon == 0 ? Place{input, {}}
                                                    : Place{input.substr(0, colon), input.substr(colon + 1)};
}

void check_file(const std::string& path) {
    struct stat status {};
    if (path.empty()) throw usage_error("an input without a name");
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT)
            throw failed(path, "no such file", "check the name, and quote names with spaces");
        throw failed(path, "cannot be opened: " + system_error_text(errno));
    }
    if (S_ISDIR(status.st_mode))
        throw failed(path, "is a folder", "name files in it, or a quoted pattern: '" + path + "/**/*.h5'");
    if (!S_ISREG(status.st_mode))
        throw failed(path,
                     S_ISFIFO(status.st_mode)   ? "is a pipe, and inputs are read at several places at once"
                     : S_ISSOCK(status.st_mode) ? "is a socket, and no file"
                                                : "is a device, and no file",
                     "write what it gives to a file first, and name that");
    File::reading(path);
    if (status.st_size == 0) throw failed(path, "is empty (0 bytes)", "leave it out, or copy it again");
}

}  // namespace

std::string Recording::label() const {
    return dataset.empty() ? path : path + ":" + dataset;
}

std::string identity_in(const std::string& path) {
    const Format* format = catalog().find_if([&](const Format& f) { return f.recognizes(path); });
    return format ? format->identity(path) : std::string{};
}

std::vector<std::string> signals_in(const std::string& input) {
    const Place place = place_of(input);
    if (!place.dataset.empty() || input == "-") return {input};
    check_file(place.path);
    const Format* format = catalog().find_if([&](const Format& f) { return f.recognizes(place.path); });
    return format ? format->signals(place.path) : std::vector{input};
}

std::unique_ptr<Reader> open(const std::string& input, OpenOptions options) {
    const Place place = place_of(input);
    if (input == "-" && !exists(input))
        throw usage_error("inputs are files, and standard input is none", "write it to a file first");
    if (!place.dataset.empty()) {
        const std::string named = place.dataset.starts_with('/') ? place.dataset : "/" + place.dataset;
        if (!options.dataset.empty() && options.dataset != named && "/" + options.dataset != named)
            throw usage_error("two datasets are named: " + named + " and --dataset " + options.dataset,
                              "name one", place.path);
        options.dataset = named;
    }
    check_file(place.path);
    const Format* format = catalog().find_if([&](const Format& f) { return f.recognizes(place.path); });
    if (format) return format->open(place.path, options);
    std::string known;
    for (const Format* f : catalog())
        known.append(known.empty() ? "" : "; ").append(f->summary);
    throw failed(place.path, "is not a known audio or HDF5 format", "read are " + known);
}

}  // namespace convoy::io
