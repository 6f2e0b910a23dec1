// Files by descriptor, and an output that appears under its name only when it is complete.
#pragma once

#include <string>
#include <string_view>

#include "core/base/signal.hpp"

namespace convoy::io {

/// A file descriptor, closed when it goes.
class File {
  public:
    File() = default;
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    /// Opens a file to read; Error that says why it cannot.
    static File reading(const std::string& path);

    int descriptor() const { return descriptor_; }
    /// Gives the descriptor away.
    int release();
    Index size() const;

    /// Reads exactly `bytes` from `offset`; safe from several threads. Error, naming `path`, where the file
    /// ends before or the system reports one.
    void read_at(const std::string& path, Index offset, void* to, Index bytes) const;
    /// As much as there is, up to `bytes`.
    Index read_some(const std::string& path, Index offset, void* to, Index bytes) const;
    /// Writes all of it at `offset`; safe from several threads. Error, with `hint`, where that fails.
    void write_at(const std::string& path, Index offset, const void* from, Index bytes,
                  std::string_view hint = {}) const;
    /// Waits until the samples, and what it takes to find them, are on the disk.
    void flush(const std::string& path) const;

  private:
    int descriptor_ = -1;
};

/// All of a small text file, or of a pipe. Error, naming it as `what` ("pipeline file"), where it cannot be
/// read or is a folder.
std::string read_text(const std::string& path, const std::string& what);

/// Waits until the names in the folder of `path` are on the disk.
void flush_folder(const std::string& path);

/// `OUT.part` beside OUT: made and locked at once, renamed to OUT by commit(), removed when it goes without.
/// A journal that was kept beside it goes with it, either way.
class PartFile {
  public:
    /// Error where `bytes` are not free there, or another run is writing to the same output. What a killed
    /// run left is emptied, or with `take_up` kept (Error where nothing is left).
    PartFile(std::string final_path, Index bytes, bool take_up = false);
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    ~PartFile();

    const std::string& path() const { return path_; }
    const std::string& final_path() const { return final_; }
    /// Where the journal of a run to OUT is.
    static std::string journal_path(const std::string& final_path) { return final_path + ".part.journal"; }
    void write_at(Index offset, const void* from, Index bytes) const;
    void flush() const { file_.flush(final_); }
    /// It stays, with its journal, when it goes without commit().
    void keep() { keep_ = true; }
    const File& file() const { return file_; }

    /// Makes it at least that long, the space being set aside where the file system can: a full disk is known
    /// before the work, and writing is a fifth cheaper. Error where the system does not allow as much.
    void resize(Index bytes) const;
    /// Waits for the disk where `sync`, and renames; with `overwrite` false, an output that came up meanwhile
    /// is kept and an error.
    void commit(bool sync, bool overwrite);

  private:
    std::string final_, path_;
    File file_;
    bool committed_ = false, keep_ = false;
};

}  // namespace convoy::io
