// Creating an output: everything that would spoil it is an error before anything is written.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "io/format.hpp"

namespace convoy::io {
namespace {

/// Whether `ending` is among ".h5 .hdf5".
bool lists(std::string_view extensions, const std::string& ending) {
    const std::string padded = std::string(extensions) + " ";
    return padded.find(std::string(".") + ending + " ") != std::string::npos;
}

/// The format that is written under that ending; null where there is none.
const Format* written_as(const std::string& ending) {
    return catalog().find_if([&](const Format& m) { return m.create && lists(m.extensions, ending); });
}

const Format& format_for(const OutputSpec& spec) {
    const std::string ending = ending_of(spec);
    if (const Format* f = written_as(ending)) return *f;
    std::string known;
    for (const Format* f : catalog())
        if (f->create) known.append(known.empty() ? "" : " ").append(f->extensions);
    if (!spec.format.empty())
        throw usage_error("--format " + spec.format + " is not written", "known are " + known);
    static constexpr std::string_view others =  // what people expect of these names, HDF5 is not
        ".mp3 .ogg .oga .opus .caf .au .snd .m4a .aac .wma .voc .mat .npy .npz .csv .txt .json .yaml .yml "
        ".png .jpg .jpeg .svg .pdf .zip";
    if (lists(others, ending))
        throw usage_error(std::string(".") + ending + " is not written", "known are " + known, spec.path);
    return catalog().at("hdf5");
}

/// The two names lead to one file.
bool same_file(const std::string& a, const std::string& b) {
    struct stat one {
    }, other{};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

void refuse_existing(const OutputSpec& spec) {
    struct stat status {};
    if (::lstat(spec.path.c_str(), &status) != 0) return;
    if (S_ISDIR(status.st_mode)) throw failed(spec.path, "is a folder", "name a file in it");
    if (::stat(spec.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        throw failed(spec.path, S_ISDIR(status.st_mode) ? "is a folder" : "is no regular file",
                     "name another output");
    if (!spec.overwrite) throw failed(spec.path, "exists already", "--overwrite replaces it");
}

}  // namespace

std::string ending_of(const OutputSpec& spec) {
    std::string ending =
        spec.format.empty() ? std::filesystem::path(spec.path).extension().string() : spec.format;
    if (!ending.empty() && ending[0] == '.') ending.erase(0, 1);
    return ending.empty() ? "h5" : lower(ending);
}

bool writes_audio(const std::string& path) {
    OutputSpec spec;
    spec.path = path;
    return lists(catalog().at("audio").extensions, ending_of(spec));
}

bool ends_as_output(const std::string& path) {
    const std::string ending = lower(std::filesystem::path(path).extension().string());
    return !ending.empty() && written_as(ending.substr(1)) != nullptr;
}

void check_output(const OutputSpec& spec) {
    if (spec.source && same_file(spec.path, spec.source->origin().recording().path))
        throw failed(spec.path, "the output is the input itself", "name another output");
    refuse_existing(spec);
    format_for(spec);
}

std::string writable_folder_of(const std::string& path) {
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = '.';
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        throw failed(path, "the folder " + folder + " is not there", "make it, or name another output");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw failed(path, "the folder " + folder + " cannot be written to: " + system_error_text(errno),
                     "name another output");
    return folder;
}

std::unique_ptr<Writer> create(const OutputSpec& spec) {
    check_output(spec);
    writable_folder_of(spec.path);
    return format_for(spec).create(spec);
}

}  // namespace convoy::io
