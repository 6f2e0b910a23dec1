// Objects, links and dimension scales of an HDF5 file.
#include <algorithm>
#include <cctype>

#include "io/hdf5/h5.hpp"

namespace convoy::io::h5 {

namespace {
H5O_info_t info(hid_t object) {
    H5O_info_t found{};
    check(H5Oget_info2(object, &found, H5O_INFO_BASIC), path_of(object), "object cannot be examined");
    return found;
}

/// Target of a soft or external link.
void read_target(hid_t group, const H5L_info_t& about, Link& link) {
    if (about.type != H5L_TYPE_SOFT && about.type != H5L_TYPE_EXTERNAL) return;
    std::vector<char> text(about.u.val_size + 1, '\0');
    if (H5Lget_val(group, link.name.c_str(), text.data(), about.u.val_size, H5P_DEFAULT) < 0) return;
    if (about.type == H5L_TYPE_SOFT) {
        link.target = text.data();
        return;
    }
    const char *file = nullptr, *path = nullptr;
    unsigned flags = 0;
    if (H5Lunpack_elink_val(text.data(), about.u.val_size, &flags, &file, &path) < 0) return;
    link.target_file = file;
    link.target = path;
}

Link::Kind kind_of_link(H5L_type_t type) {
    switch (type) {
        case H5L_TYPE_HARD:
            return Link::Kind::hard;
        case H5L_TYPE_SOFT:
            return Link::Kind::soft;
        case H5L_TYPE_EXTERNAL:
            return Link::Kind::external;
        default:
            return Link::Kind::other;
    }
}

herr_t add_link(hid_t group, const char* name, const H5L_info_t* about, void* list) {
    Link link{name, kind_of_link(about->type), {}, {}};
    read_target(group, *about, link);
    static_cast<std::vector<Link>*>(list)->push_back(std::move(link));
    return 0;
}

herr_t add_name(hid_t, const char* name, const H5A_info_t*, void* list) {
    static_cast<std::vector<std::string>*>(list)->push_back(name);
    return 0;
}

/// Room for decoded chunks, so that those at the joins of what is read are decoded once; one chunk at least.
std::size_t chunk_cache_bytes(hid_t dataset, hid_t creation) {
    std::vector<hsize_t> chunk(H5S_MAX_RANK);
    const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data());
    Type type(H5Dget_type(dataset));
    std::size_t bytes = H5Tget_size(type);
    for (int axis = 0; axis < rank; ++axis)
        bytes *= chunk[static_cast<std::size_t>(axis)];
    return std::max<std::size_t>(bytes, 64 << 20);
}

/// Path of the object that a reference points to, or "".
std::string referenced(hid_t dataset, const hobj_ref_t& reference) {
    Object target(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &reference));
    return target.valid() ? path_of(target) : std::string{};
}
}  // namespace

Object open_object(hid_t location, const std::string& path) {
    Lock lock;
    return Object(H5Oopen(location, path.c_str(), H5P_DEFAULT));
}

Dataset open_dataset(hid_t location, const std::string& path, std::string_view where) {
    Lock lock;
    Dataset dataset(check(H5Dopen2(location, path.c_str(), H5P_DEFAULT), where, "dataset cannot be opened"));
    Plist creation(H5Dget_create_plist(dataset));
    if (H5Pget_layout(creation) != H5D_CHUNKED) return dataset;
    Plist access(check(H5Pcreate(H5P_DATASET_ACCESS), where, "dataset cannot be opened"));
    check(H5Pset_chunk_cache(access, 12421, chunk_cache_bytes(dataset, creation), 1.0), where,
          "dataset cannot be opened");
    dataset.reset();  // a cache takes effect only where nobody has it open
    return Dataset(check(H5Dopen2(location, path.c_str(), access), where, "dataset cannot be opened"));
}

Identity identity(hid_t object) {
    Lock lock;
    const H5O_info_t found = info(object);
    return {found.fileno, found.addr};
}

ObjectKind kind_of(hid_t object) {
    Lock lock;
    switch (H5Iget_type(object)) {
        case H5I_GROUP:
        case H5I_FILE:
            return ObjectKind::group;
        case H5I_DATASET:
            return ObjectKind::dataset;
        default:
            return ObjectKind::other;
    }
}

std::string path_of(hid_t object) {
    Lock lock;
    const ssize_t length = H5Iget_name(object, nullptr, 0);
    if (length <= 0) return {};
    std::string path(static_cast<std::size_t>(length), '\0');
    H5Iget_name(object, path.data(), path.size() + 1);
    return path;
}

std::vector<Link> links(hid_t group, std::string_view where) {
    Lock lock;
    std::vector<Link> list;
    check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link, &list), where,
          "the group's entries cannot be listed");
    return list;
}

std::optional<Link> link_at(hid_t location, const std::string& path) {
    Lock lock;
    H5L_info_t about{};
    if (H5Lget_info(location, path.c_str(), &about, H5P_DEFAULT) < 0) return std::nullopt;
    Link link{path, kind_of_link(about.type), {}, {}};
    read_target(location, about, link);
    return link;
}

std::vector<std::string> attribute_names(hid_t object) {
    Lock lock;
    std::vector<std::string> names;
    check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names), path_of(object),
          "attributes cannot be listed");
    return names;
}

bool has_attribute(hid_t object, const std::string& name) {
    Lock lock;
    return H5Aexists(object, name.c_str()) > 0;
}

std::vector<std::vector<std::string>> dimension_scales(hid_t dataset) {
    Lock lock;
    const auto dims = dataset_extents(dataset);
    std::vector<std::vector<std::string>> scales(dims ? dims->size() : 0);
    if (scales.empty() || !has_attribute(dataset, "DIMENSION_LIST")) return scales;
    Attribute list(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT));
    if (!list.valid()) return scales;
    Type stored(H5Aget_type(list));
    Space space(H5Aget_space(list));
    Type element(H5Tget_class(stored) == H5T_VLEN ? H5Tget_super(stored) : H5I_INVALID_HID);
    const bool references = element.valid() && H5Tget_class(element) == H5T_REFERENCE &&
                            H5Tequal(element, H5T_STD_REF_OBJ) > 0 &&
                            H5Sget_simple_extent_npoints(space) == static_cast<hssize_t>(scales.size());
    if (!references) return scales;
    std::vector<hvl_t> found(scales.size());
    if (H5Aread(list, stored, found.data()) < 0) return scales;
    for (std::size_t axis = 0; axis < found.size(); ++axis)
        for (std::size_t i = 0; i < found[axis].len; ++i) {
            std::string path = referenced(dataset, static_cast<const hobj_ref_t*>(found[axis].p)[i]);
            if (!path.empty()) scales[axis].push_back(std::move(path));
        }
    H5Dvlen_reclaim(stored, space, H5P_DEFAULT, found.data());
    return scales;
}

bool is_scale(hid_t dataset) {
    const auto kind = attribute(dataset, "CLASS");
    return kind && kind->text() == "DIMENSION_SCALE";
}

std::string axis_label(hid_t dataset, int axis) {
    const auto labels = attribute(dataset, "DIMENSION_LABELS");
    const auto index = static_cast<std::size_t>(axis);
    return labels && index < labels->texts.size() ? labels->texts[index] : std::string{};
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string last_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string join_path(const std::string& group, std::string_view name) {
    return (group == "/" ? "" : group) + "/" + std::string(name);
}

}  // namespace convoy::io::h5
