// Locking, errors, and opening files.
#include "io/hdf5/h5.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace convoy::io::h5 {

namespace {
std::recursive_mutex calls;

herr_t first_message(unsigned, const H5E_error2_t* entry, void* text) {
    *static_cast<std::string*>(text) = entry->desc != nullptr ? entry->desc : "";
    return 1;  // the walk starts at the innermost call: enough
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// A message of a failed system call has the time, addresses and line breaks; what the system said is enough.
std::string without_details(const std::string& text) {
    constexpr std::string_view before = "error message = '";
    const std::size_t at = text.find(before);
    if (at == std::string::npos) return text;
    const std::size_t from = at + before.size();
    return text.substr(from, text.find('\'', from) - from);
}

/// Opens; `message` says why not (closing anything would clear it).
File try_open(const std::string& path, bool locked, std::string& message) {
    Plist access(check(H5Pcreate(H5P_FILE_ACCESS), path, "cannot be opened"));
    check(H5Pset_file_locking(access, locked, true), path, "cannot be opened");
    File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
    if (!file.valid()) message = innermost_message();
    return file;
}

/// Why the file could not be opened, from HDF5's message.
Error why_not_opened(const std::string& path, const std::string& message) {
    long long present = 0, base = 0, declared = 0;
    const std::size_t at = message.find("eof = ");
    if (contains(message, "truncated file") && at != std::string::npos &&
        std::sscanf(message.c_str() + at, "eof = %lld, sblock->base_addr = %lld, stored_eof = %lld", &present,
                    &base, &declared) == 3)
        return failed(path,
                      "file is cut short (truncated): it should have " + std::to_string(base + declared) +
                          " bytes and has " + std::to_string(base + present),
                      "copy it again from where it is complete");
    if (contains(message, "already open for write") || contains(message, "h5clear"))
        return failed(
            path, "file is still open for writing, or its writer ended without closing it",
            "close it in the program that records, or, if that is gone, repair a copy with h5clear -s");
    if (contains(message, "unable to lock file"))
        return failed(path, "file is locked: another program has it open for writing",
                      "close it there first");
    return failed(path, "HDF5 file is damaged or incomplete (" + without_details(message) + ")",
                  "check it with h5dump -H, or copy it again");
}

// External files are looked for beside the file that names them. The library reads this when it starts; a
// property of the dataset instead would have to go with every call that opens it once more by itself.
[[maybe_unused]] const bool external_beside = ::setenv("HDF5_EXTFILE_PREFIX", "${ORIGIN}", 0) == 0;
}  // namespace

Lock::Lock() : lock_(calls) {
    // What a full disk kept from being closed would crash the library's work at exit; all that matters is
    // closed by us.
    static const bool no_exit_work = H5dont_atexit() >= 0;
    (void)no_exit_work;
    // A thread-safe HDF5 has one error stack a thread, so printing is switched off in each.
    thread_local const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
    (void)silent;
}

std::string innermost_message() {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_message, &text);
    return text;
}

Error error(std::string_view where, std::string_view what, std::string_view hint) {
    const std::string inner = without_details(innermost_message());
    return failed(std::string(where), std::string(what) + (inner.empty() ? "" : " (" + inner + ")"),
                  std::string(hint));
}

File open_file(const std::string& path) {
    // The system's own reasons first: its words are clearer than those of the library.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw failed(path, "cannot be opened: " + system_error_text(errno));
    ::close(descriptor);

    Lock lock;
    std::string message;
    File file = try_open(path, true, message);
    // Held by a writer: "Resource temporarily unavailable". Any other failure to lock: a file system without
    // locks.
    const bool lockless = !file.valid() && contains(message, "unable to lock file") &&
                          !contains(message, "errno = " + std::to_string(EAGAIN) + ",");
    if (lockless) file = try_open(path, false, message);
    if (!file.valid()) throw why_not_opened(path, message);
    return file;
}

}  // namespace convoy::io::h5
