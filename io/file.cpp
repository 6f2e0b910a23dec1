#include "io/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/quantity.hpp"

namespace convoy::io {

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

File::~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

int File::release() {
    return std::exchange(descriptor_, -1);
}

File File::reading(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw failed(path, "cannot be opened: " + system_error_text(errno));
    return File(descriptor);
}

Index File::size() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 ? status.st_size : 0;
}

Index File::read_some(const std::string& path, Index offset, void* to, Index bytes) const {
    Index done = 0;
    while (done < bytes) {
        const auto got = ::pread(descriptor_, static_cast<char*>(to) + done,
                                 static_cast<std::size_t>(bytes - done), offset + done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw failed(path, "cannot be read: " + system_error_text(errno));
        if (got == 0) break;
        done += got;
    }
    return done;
}

void File::read_at(const std::string& path, Index offset, void* to, Index bytes) const {
    const Index got = read_some(path, offset, to, bytes);
    if (got < bytes)
        throw failed(
            path,
            "ends at byte " + to_text(offset + got) + ", and " + to_text(bytes - got) + " more are needed",
            "was it cut while it was read?");
}

void File::write_at(const std::string& path, Index offset, const void* from, Index bytes) const {
    Index done = 0;
    while (done < bytes) {
        const auto put = ::pwrite(descriptor_, static_cast<const char*>(from) + done,
                                  static_cast<std::size_t>(bytes - done), offset + done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            throw failed(path, "cannot be written: " + system_error_text(put < 0 ? errno : ENOSPC),
                         "nothing is left of it; give another place with -o");
        done += put;
    }
}

namespace {

void require_space(const std::string& path, double needed) {
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (folder.empty()) folder = ".";
    struct statvfs space {};
    if (::statvfs(folder.c_str(), &space) != 0 || space.f_blocks == 0)
        return;  // a system that keeps no count
    const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
    if (needed > free)
        throw failed(path,
                     "it needs " + bytes_text(needed) + ", and " + bytes_text(free) + " are free in " +
                         folder.string(),
                     "make room, or name another output");
}

/// Opens and locks the temporary file. Empty where another run renamed or removed it in between.
File locked(const std::string& path, const std::string& final_path) {
    File file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file.descriptor() < 0)
        throw failed(final_path, "cannot be written: " + system_error_text(errno),
                     "give another place with -o");
    if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw failed(final_path, "another run is writing it (" + path + " is locked)",
                     "wait for it, or give another place with -o");
    struct stat here {
    }, named{};
    if (::fstat(file.descriptor(), &here) != 0 || ::stat(path.c_str(), &named) != 0 ||
        here.st_ino != named.st_ino || here.st_dev != named.st_dev)
        return {};
    return file;
}

}  // namespace

PartFile::PartFile(std::string final_path, Index bytes)
    : final_(std::move(final_path)), path_(final_ + ".part") {
    require_space(final_, static_cast<double>(bytes));
    for (int attempt = 0; attempt < 100 && file_.descriptor() < 0; ++attempt)
        file_ = locked(path_, final_);
    if (file_.descriptor() < 0)
        throw failed(final_, "another run is writing it", "give another place with -o");
    if (::ftruncate(file_.descriptor(), 0) != 0)
        throw failed(final_, "cannot be written: " + system_error_text(errno));
}

PartFile::~PartFile() {
    if (!committed_ && file_.descriptor() >= 0) ::unlink(path_.c_str());
}

void PartFile::resize(Index bytes) const {
    if (::ftruncate(file_.descriptor(), bytes) != 0)
        throw failed(final_,
                     bytes_text(static_cast<double>(bytes)) + " cannot be had: " + system_error_text(errno),
                     "give another place with -o");
}

void PartFile::commit(bool sync, bool overwrite) {
    if (sync && ::fsync(file_.descriptor()) != 0)
        throw failed(final_, "cannot be written: " + system_error_text(errno));
    if (!overwrite && std::filesystem::exists(std::filesystem::symlink_status(final_)))
        throw failed(final_, "came up while the result was written", "--overwrite replaces it");
    if (std::rename(path_.c_str(), final_.c_str()) != 0)
        throw failed(final_, "cannot be renamed from " + path_ + ": " + system_error_text(errno));
    committed_ = true;
    if (!sync) return;
    const std::filesystem::path folder = std::filesystem::path(final_).parent_path();
    const File directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.descriptor() >= 0) ::fsync(directory.descriptor());
}

}  // namespace convoy::io
