// What stands between a dataset and its samples: filters, external files, sources of virtual datasets.
#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "io/hdf5/source.hpp"

namespace convoy::io::h5 {

namespace fs = std::filesystem;

namespace {
std::string filter_name(H5Z_filter_t id) {
    static const std::map<H5Z_filter_t, std::string> names = {
        {1, "gzip"},      {2, "shuffle"},       {3, "fletcher32"},     {4, "szip"},
        {5, "nbit"},      {6, "scaleoffset"},   {307, "bzip2"},        {32000, "lzf"},
        {32001, "blosc"}, {32004, "lz4"},       {32008, "bitshuffle"}, {32013, "zfp"},
        {32015, "zstd"},  {32017, "sz"},        {32024, "sz3"},        {32026, "blosc2"},
        {32012, "jpeg"},  {32018, "fcidecomp"}, {32019, "jpeg-xr"},    {32022, "delta-rice"},
        {32029, "htj2k"}};
    const auto found = names.find(id);
    return found == names.end() ? "" : found->second;
}

Storage::Filter filter_at(hid_t creation, unsigned index, const std::string& where) {
    Storage::Filter out;
    unsigned flags = 0, config = 0;
    std::size_t count = 32;
    out.values.resize(count);
    char name[64] = "";
    out.id =
        check(H5Pget_filter2(creation, index, &flags, &count, out.values.data(), sizeof name, name, &config),
              where, "the dataset's filters cannot be read");
    out.values.resize(std::min<std::size_t>(count, 32));
    if (H5Zfilter_avail(out.id) > 0) return out;
    const std::string known = filter_name(out.id).empty() ? std::string(name) : filter_name(out.id);
    throw failed(
        where,
        "samples are compressed with HDF5 filter " + std::to_string(out.id) +
            (known.empty() ? "" : " (" + known + ")") + ", whose plugin is not installed",
        "install it and point HDF5_PLUGIN_PATH to its folder, or copy the dataset without that filter");
}

/// A file named by `file`: as such where absolute, else beside it, else from the working folder.
std::optional<std::string> beside(const std::string& file, const std::string& name) {
    std::error_code ignored;
    const fs::path folder = fs::path(file).parent_path();
    for (const fs::path& path :
         {fs::path(name).is_absolute() ? fs::path(name) : folder / name, folder / fs::path(name).filename()})
        if (fs::exists(path, ignored)) return path.string();
    return std::nullopt;
}

void check_external(hid_t creation, Index bytes, const std::string& file, const std::string& where) {
    const int count = check(H5Pget_external_count(creation), where, "external files cannot be listed");
    for (int i = 0; i < count && bytes > 0; ++i) {
        char name[4096] = "";
        off_t offset = 0;
        hsize_t size = 0;
        check(H5Pget_external(creation, static_cast<unsigned>(i), sizeof name - 1, name, &offset, &size),
              where, "external files cannot be listed");
        const fs::path path =
            fs::path(name).is_absolute() ? fs::path(name) : fs::path(file).parent_path() / name;
        const Index part = size == H5F_UNLIMITED ? bytes : std::min<Index>(bytes, static_cast<Index>(size));
        std::error_code problem;
        const auto present = fs::file_size(path, problem);
        if (problem)
            throw failed(
                where,
                "its samples are in " + std::string(name) + ", which cannot be opened: " + problem.message(),
                "put that file beside this one");
        if (static_cast<Index>(present) < offset + part)
            throw failed(where,
                         "its samples are in " + std::string(name) +
                             ", which is cut short: " + to_text(static_cast<Index>(present)) + " of " +
                             to_text(offset + part) + " bytes are there",
                         "copy that file again from where it is complete");
        bytes -= part;
    }
}

Storage examine(hid_t dataset, const std::string& file, const std::string& where, int depth);

/// Error where the source has not all the elements that are mapped from it. A source that is taken whole must
/// have as many as the part that it stands for; of others the selection must lie within.
void check_extent(hid_t creation, std::size_t index, hid_t source, const std::string& where,
                  const std::string& named) {
    Space mapped(H5Pget_virtual_vspace(creation, index)), selected(H5Pget_virtual_srcspace(creation, index));
    const auto dims = dataset_extents(source);
    if (!mapped.valid() || !selected.valid() || !dims) return;
    const auto short_of = [&](Index has, Index needs) {
        return failed(where, "virtual dataset's source " + named + " is too short: " + to_text(has) + " of " +
                                 to_text(needs) + " elements are there");
    };
    if (H5Sget_select_type(selected) == H5S_SEL_ALL) {
        Index present = 1;
        for (const Index extent : *dims)
            present *= extent;
        const Index needed = H5Sget_select_npoints(mapped);
        if (present < needed) throw short_of(present, needed);
        return;
    }
    std::vector<hsize_t> first(dims->size()), last(dims->size());
    if (H5Sget_simple_extent_ndims(selected) != static_cast<int>(dims->size())) return;
    if (H5Sget_select_bounds(selected, first.data(), last.data()) < 0) return;  // an unlimited selection
    for (std::size_t axis = 0; axis < dims->size(); ++axis)
        if (static_cast<Index>(last[axis]) >= (*dims)[axis])
            throw short_of((*dims)[axis], static_cast<Index>(last[axis]) + 1);
}

std::string virtual_name(ssize_t (*get)(hid_t, std::size_t, char*, std::size_t), hid_t creation,
                         std::size_t index, const std::string& where) {
    const ssize_t length = check(get(creation, index, nullptr, 0), where, "virtual sources cannot be listed");
    std::string name(static_cast<std::size_t>(length), '\0');
    check(get(creation, index, name.data(), name.size() + 1), where, "virtual sources cannot be listed");
    return name;
}

void check_virtual(hid_t creation, hid_t dataset, const std::string& file, const std::string& where,
                   int depth) {
    std::size_t count = 0;
    check(H5Pget_virtual_count(creation, &count), where, "virtual sources cannot be listed");
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = virtual_name(H5Pget_virtual_filename, creation, i, where);
        const std::string path = virtual_name(H5Pget_virtual_dsetname, creation, i, where);
        if (name.find('%') != std::string::npos || path.find('%') != std::string::npos)
            continue;  // numbered sources: the extent ends with the last one that is there
        const std::string named = name == "." ? path : name + ":" + path;
        const auto found = name == "." ? std::optional(file) : beside(file, name);
        if (!found)
            throw failed(where, "virtual dataset's source file " + name + " is missing",
                         "put it beside this one");
        File other = name == "." ? File(H5Iget_file_id(dataset)) : open_file(*found);
        Dataset source(H5Dopen2(other, path.c_str(), H5P_DEFAULT));
        if (!source.valid()) throw failed(where, "virtual dataset's source " + named + " is missing");
        check_extent(creation, i, source, where, named);
        examine(source, *found, where, depth + 1);
    }
}

void describe_chunks(hid_t creation, Storage& out, const std::string& where) {
    std::vector<hsize_t> chunk(H5S_MAX_RANK);
    const int rank =
        check(H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data()), where, "chunks cannot be examined");
    out.chunk.assign(chunk.begin(), chunk.begin() + rank);
    unsigned options = 0;
    if (H5Pget_chunk_opts(creation, &options) >= 0)
        out.filtered_edges = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0;
}
Storage examine(hid_t dataset, const std::string& file, const std::string& where, int depth) {
    if (depth > 16) throw failed(where, "virtual datasets refer to one another without end");
    Storage out;
    Plist creation(check(H5Dget_create_plist(dataset), where, "the dataset's storage cannot be examined"));
    switch (H5Pget_layout(creation)) {
        case H5D_COMPACT:
            out.layout = Storage::Layout::compact;
            break;
        case H5D_CONTIGUOUS:
            out.layout = Storage::Layout::contiguous;
            break;
        case H5D_CHUNKED:
            out.layout = Storage::Layout::chunked;
            break;
        case H5D_VIRTUAL:
            out.layout = Storage::Layout::virtual_;
            break;
        default:
            throw failed(where, "the dataset's layout is unknown to this HDF5 library",
                         "use a newer library");
    }
    const int filters = check(H5Pget_nfilters(creation), where, "the dataset's filters cannot be read");
    const bool written = H5Dget_storage_size(dataset) > 0;
    for (int i = 0; i < filters && written; ++i)
        out.filters.push_back(filter_at(creation, static_cast<unsigned>(i), where));
    if (out.layout == Storage::Layout::chunked) describe_chunks(creation, out, where);
    out.external = H5Pget_external_count(creation) > 0;
    if (out.external) {
        Type type(H5Dget_type(dataset));
        Index bytes = static_cast<Index>(H5Tget_size(type));
        for (const Index extent : dataset_extents(dataset).value_or(std::vector<Index>{0}))
            bytes *= extent;
        check_external(creation, bytes, file, where);
    }
    if (out.layout == Storage::Layout::virtual_) check_virtual(creation, dataset, file, where, depth);
    return out;
}
}  // namespace

Storage check_storage(hid_t dataset, const std::string& file, const std::string& where) {
    Lock lock;
    return examine(dataset, file, where, 0);
}

std::string storage_text(const Storage& storage) {
    if (storage.external) return "contiguous, in other files";
    std::string text;
    switch (storage.layout) {
        case Storage::Layout::compact:
            return "compact, in the header";
        case Storage::Layout::contiguous:
            return "contiguous";
        case Storage::Layout::virtual_:
            return "virtual, made of other datasets";
        case Storage::Layout::chunked:
            text = "chunks of " + extents_text(storage.chunk);
    }
    for (const Storage::Filter& filter : storage.filters) {
        const std::string known = filter_name(filter.id);
        text += ", " + (known.empty() ? "filter " + std::to_string(filter.id) : known);
    }
    return text;
}

}  // namespace convoy::io::h5
