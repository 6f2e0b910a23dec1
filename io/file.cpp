#include "io/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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

void File::write_at(const std::string& path, Index offset, const void* from, Index bytes,
                    std::string_view hint) const {
    Index done = 0;
    while (done < bytes) {
        const auto put = ::pwrite(descriptor_, static_cast<const char*>(from) + done,
                                  static_cast<std::size_t>(bytes - done), offset + done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            throw failed(path, "cannot be written: " + system_error_text(put < 0 ? errno : ENOSPC),
                         std::string(hint));
        done += put;
    }
}

void File::flush(const std::string& path) const {
    if (::fdatasync(descriptor_) != 0) throw failed(path, "cannot be written: " + system_error_text(errno));
}

std::string read_text(const std::string& path, const std::string& what) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw failed(path, "is a folder, and no " + what, "name a file in it");
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw failed(path, "the " + what + " cannot be read: " + system_error_text(errno), "check the name");
    return {std::istreambuf_iterator<char>(file), {}};
}

void flush_folder(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const File directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.descriptor() >= 0) ::fsync(directory.descriptor());  // some file systems cannot
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

/// Bytes of the disk that a file takes already.
Index bytes_held(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? Index{status.st_blocks} * 512 : 0;
}

/// Looks first: removing takes the folder away from others for a moment.
void remove_journal(const std::string& final_path) {
    const std::string journal = PartFile::journal_path(final_path);
    if (::access(journal.c_str(), F_OK) == 0) ::unlink(journal.c_str());
}

/// Opens and locks the temporary file. Empty where another run renamed or removed it in between.
File locked(const std::string& path, const std::string& final_path, int create) {
    File file(::open(path.c_str(), O_RDWR | create | O_CLOEXEC | O_NOFOLLOW, 0666));
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

PartFile::PartFile(std::string final_path, Index bytes, bool take_up)
    : final_(std::move(final_path)), path_(final_ + ".part"), keep_(take_up) {
    require_space(final_, static_cast<double>(bytes - (take_up ? bytes_held(path_) : 0)));
    for (int attempt = 0; attempt < 100 && file_.descriptor() < 0; ++attempt)
        file_ = locked(path_, final_, take_up ? 0 : O_CREAT);
    if (file_.descriptor() < 0)
        throw failed(final_, "another run is writing it", "give another place with -o");
    if (take_up) return;
    remove_journal(final_);
    // A new file is not cut: ext4 would write it out as soon as it is closed.
    if (file_.size() > 0 && ::ftruncate(file_.descriptor(), 0) != 0)
        throw failed(final_, "cannot be written: " + system_error_text(errno));
}

PartFile::~PartFile() {
    if (committed_ || keep_ || file_.descriptor() < 0) return;
    ::unlink(path_.c_str());
    remove_journal(final_);
}

void PartFile::write_at(Index offset, const void* from, Index bytes) const {
    file_.write_at(final_, offset, from, bytes,
                   keep_ ? "what is done is kept: make room, and run it again with --resume"
                         : "nothing is left of it; give another place with -o");
}

void PartFile::resize(Index bytes) const {
    int error = 0;
    do {
        error = ::fallocate(file_.descriptor(), 0, 0, bytes) == 0 ? 0 : errno;
    } while (error == EINTR);
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    // Not every file system can set space aside.
    if (error != 0 && !full && file_.size() < bytes)
        error = ::ftruncate(file_.descriptor(), bytes) == 0 ? 0 : errno;
    else if (!full)
        error = 0;
    if (error != 0)
        throw failed(final_,
                     bytes_text(static_cast<double>(bytes)) + " cannot be had: " + system_error_text(error),
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
    if (sync) flush_folder(final_);
    remove_journal(final_);
}

}  // namespace convoy::io
