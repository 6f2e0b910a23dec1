// The door to HDF5: the only header that includes hdf5.h. Identifiers close themselves, every status is
// checked and becomes an Error that ends in HDF5's own innermost message, and all calls are made one at a
// time.
#pragma once

#define H5_USE_110_API 1  // newer libraries then offer calls and structures as release 1.10 has them
#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/signal.hpp"

namespace convoy::io::h5 {

/// HDF5 may be built without thread safety: hold a Lock around calls of it (and around check(), which reads
/// the error stack that the call left). May be nested. Switches off HDF5's printing of errors.
class Lock {
  public:
    Lock();

  private:
    std::unique_lock<std::recursive_mutex> lock_;
};

/// An HDF5 identifier that closes itself. Converts to hid_t for calls.
template <herr_t (*Close)(hid_t)>
class Handle {
  public:
    Handle() = default;
    explicit Handle(hid_t id) : id_(id) {}
    Handle(Handle&& other) noexcept : id_(other.release()) {}
    Handle& operator=(Handle&& other) noexcept {
        if (this != &other) {
            reset();
            id_ = other.release();
        }
        return *this;
    }
    ~Handle() { reset(); }

    operator hid_t() const { return id_; }
    bool valid() const { return id_ >= 0; }
    hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }
    /// Closes; a failure is passed over (closing what was read loses nothing; writers call their close() and
    /// check).
    void reset() noexcept {
        if (id_ < 0) return;
        try {
            Lock lock;
            Close(release());
        } catch (...) {  // a mutex that cannot be locked
        }
    }

  private:
    hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Plist = Handle<H5Pclose>;
using Attribute = Handle<H5Aclose>;
using Object = Handle<H5Oclose>;  // group, dataset or named type

/// HDF5's most specific message about the last failed call of this thread; empty where there is none.
std::string innermost_message();

/// The Error for a failed call: "WHERE: WHAT (innermost message); HINT".
Error error(std::string_view where, std::string_view what, std::string_view hint = {});

/// Passes on what an HDF5 call returned; Error where that is negative.
template <class Status>
Status check(Status status, std::string_view where, std::string_view what, std::string_view hint = {}) {
    if (status < 0) throw error(where, what, hint);
    return status;
}

/// Opens a file for reading, without a lock where its file system has none. Error that tells apart: missing,
/// not readable, not HDF5, cut short (with both sizes), left open by a writer.
File open_file(const std::string& path);

/// Address of an object; two names with the same one are one object.
struct Identity {
    unsigned long file = 0;
    haddr_t address = 0;
    friend auto operator<=>(const Identity&, const Identity&) = default;
};
enum class ObjectKind { group, dataset, other };
/// Opens the object at `path` below `location`; an invalid handle where it is not there or its link leads
/// nowhere.
Object open_object(hid_t location, const std::string& path);
/// Opens a dataset (with external raw files looked for beside its file, as all openings of one dataset must
/// agree on). Error where that fails.
Dataset open_dataset(hid_t location, const std::string& path, std::string_view where);
Identity identity(hid_t object);
ObjectKind kind_of(hid_t object);
/// Absolute path by which the object was opened.
std::string path_of(hid_t object);

/// Paths in a file: "/a/b" of "/a/b/c" ("/" of "/c"), "c" of it, and the way back.
std::string parent_of(const std::string& path);
std::string last_of(const std::string& path);
std::string join_path(const std::string& group, std::string_view name);

/// One entry of a group, as it stands there: nothing is followed.
struct Link {
    enum class Kind { hard, soft, external, other };
    std::string name;
    Kind kind = Kind::hard;
    std::string target;       // path: of soft and external links
    std::string target_file;  // of external links
};
/// The entries of a group, in order of their names.
std::vector<Link> links(hid_t group, std::string_view where);
/// The entry at `path`, if it is there (whether or not it leads anywhere).
std::optional<Link> link_at(hid_t location, const std::string& path);

/// Extents of a dataspace; empty for a scalar.
std::vector<Index> extents(hid_t space);
/// Extents of a dataset; nullopt where its dataspace is null.
std::optional<std::vector<Index>> dataset_extents(hid_t dataset);
/// "int16", "float64 big-endian", "complex float32", "text", "compound": for people.
std::string type_text(hid_t type);
/// Whether a type is a compound of r, i or real, imag.
bool is_complex(hid_t type);

/// What a small attribute or dataset holds, whatever its stored type (integer or float of any width and byte
/// order, text of fixed or variable length) and shape.
struct Value {
    std::vector<Index> dims;             // empty: scalar
    std::vector<double> numbers;         // empty for text
    std::vector<std::int64_t> integers;  // the same, exact, where stored as integers
    std::vector<std::string> texts;      // empty for numbers

    /// The number, where there is exactly one.
    std::optional<double> number() const;
    /// The first text, or "".
    std::string text() const { return texts.empty() ? std::string{} : texts.front(); }
};
/// nullopt where there is no such attribute, it is of another kind (reference, compound, ...), or empty.
std::optional<Value> attribute(hid_t object, const std::string& name);
/// The same of a whole dataset of at most `most` elements.
std::optional<Value> value(hid_t dataset, Index most = 4096);
std::vector<std::string> attribute_names(hid_t object);
bool has_attribute(hid_t object, const std::string& name);

/// Dimension scales attached to each axis, as absolute paths in the dataset's file (may be several, or none).
std::vector<std::vector<std::string>> dimension_scales(hid_t dataset);
/// Whether the dataset is a dimension scale.
bool is_scale(hid_t dataset);
/// Label of an axis (H5DSset_label), or "".
std::string axis_label(hid_t dataset, int axis);

}  // namespace convoy::io::h5
