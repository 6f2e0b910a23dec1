// The dataset that is read: found, opened, and checked for what would make HDF5 give fill values instead of
// samples.
#pragma once

#include "io/hdf5/number.hpp"

namespace convoy::io::h5 {

/// An open signal. `home` is the file that the dataset lies in: another one than `file` behind an external
/// link.
struct Source {
    File file, home;
    Dataset dataset;
    std::string path;       // of the file, as given
    std::string name;       // absolute path of the dataset in `file`
    std::string home_path;  // of that file
    std::string home_name;  // absolute path in `home`: where its parents and siblings are
    std::string where;      // path:name, for messages
    std::vector<Index> dims;
    Element element;
};

/// Opens the dataset `wanted`; where that is empty or a group, the only dataset below it that can be a
/// signal. Error that says why not: missing, link that leads nowhere, several candidates (listed), no
/// numbers, no samples.
Source open_source(const std::string& path, const std::string& wanted);

/// Paths of the datasets at and below a group that can be signals: numbers, more than one, no dimension
/// scale, no coordinate of another one. Links are followed; each dataset comes once.
std::vector<std::string> candidates(hid_t file, const std::string& group);

/// How the samples lie in the file.
struct Storage {
    enum class Layout { compact, contiguous, chunked, virtual_ } layout = Layout::contiguous;
    bool external = false;     // raw samples in other files
    std::vector<Index> chunk;  // extents of a chunk; empty unless chunked
    struct Filter {
        H5Z_filter_t id = 0;
        std::vector<unsigned> values;
    };
    std::vector<Filter> filters;  // in the order of writing
    bool filtered_edges = true;   // partial chunks at the edge go through the filters, too
};

/// Describes a dataset's storage. Error where samples could not be had: a filter without plugin, an external
/// file or a virtual dataset's source that is missing or too short (HDF5 itself would give zeros there).
Storage check_storage(hid_t dataset, const std::string& file, const std::string& where);
/// The same for people: "chunks of 700 x 4, shuffle, gzip", "virtual".
std::string storage_text(const Storage& storage);

}  // namespace convoy::io::h5
