// Attributes and small datasets from one file to another, with their HDF5 types unchanged.
#include <algorithm>
#include <cstring>

#include "core/base/quantity.hpp"
#include "io/hdf5/write.hpp"

namespace convoy::io::h5 {
namespace {

constexpr std::string_view plumbing[] = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"};

bool has_class(hid_t type, H5T_class_t wanted) {
    return H5Tdetect_class(type, wanted) > 0;
}
/// Values in memory, as the file's own type describes them.
class Buffer {
  public:
    Buffer(hid_t type, hid_t space, Index count)
        : type_(type), space_(space), bytes_(static_cast<std::size_t>(count) * H5Tget_size(type) + 1) {}
    ~Buffer() {
        if (has_class(type_, H5T_VLEN) || has_class(type_, H5T_STRING) || has_class(type_, H5T_COMPOUND))
            H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, bytes_.data());
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    std::byte* data() { return bytes_.data(); }
    std::size_t size() const { return bytes_.size() - 1; }

  private:
    hid_t type_, space_;
    std::vector<std::byte> bytes_;
};

/// How many steps along an axis from `at` on are evenly spaced and forward, at most `most`.
Index even_steps(const Copier::Kept& kept, Index extent, Index at, Index most) {
    const Index end = std::min(kept.size(extent), at + most);
    if (kept.list.empty()) return end - at;
    Index next = at + 1;
    if (next < end && kept[next] > kept[at])
        while (next < end && kept[next] - kept[next - 1] == kept[at + 1] - kept[at])
            ++next;
    return next - at;
}

/// Selects `count` even steps along the first axis, and all of the others.
void select(hid_t space, const std::vector<Index>& dims, const Copier::Kept& kept, Index at, Index count) {
    std::vector<hsize_t> start(dims.size(), 0), stride(dims.size(), 1), extent(dims.begin(), dims.end());
    start[0] = static_cast<hsize_t>(kept[at]);
    if (count > 1) stride[0] = static_cast<hsize_t>(kept[at + 1] - kept[at]);
    extent[0] = static_cast<hsize_t>(count);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), stride.data(), extent.data(), nullptr), {},
          "selection");
}

/// Keeps the elements at `indices` of the second axis.
std::vector<std::byte> cut_columns(const std::byte* data, Index rows, Index columns, Index tail_bytes,
                                   const Copier::Kept& kept) {
    const Index count = kept.size(columns);
    std::vector<std::byte> result(static_cast<std::size_t>(rows * count * tail_bytes) + 1);
    std::byte* to = result.data();
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < count; ++c, to += tail_bytes)
            std::memcpy(to, data + (r * columns + kept[c]) * tail_bytes,
                        static_cast<std::size_t>(tail_bytes));
    return result;
}

/// A dataset like `from` with other extents: contiguous, and without the filters that a small one does not
/// need.
Dataset make_like(hid_t from, hid_t type, const std::vector<Index>& dims, hid_t file, const std::string& path,
                  const std::string& where) {
    const std::vector<hsize_t> extents(dims.begin(), dims.end());
    Space old_space(H5Dget_space(from));
    const H5S_class_t kind = H5Sget_simple_extent_type(old_space);
    Space space(kind == H5S_SIMPLE ? H5Screate_simple(static_cast<int>(dims.size()), extents.data(), nullptr)
                                   : H5Screate(kind));
    Plist create(H5Pcreate(H5P_DATASET_CREATE)), link(H5Pcreate(H5P_LINK_CREATE));
    check(H5Pset_create_intermediate_group(link, 1), where, path + " cannot be made");
    return Dataset(check(H5Dcreate2(file, path.c_str(), type, space, link, create, H5P_DEFAULT), where,
                         path + " cannot be made"));
}

}  // namespace

void Copier::translate(hid_t type, void* data) {
    switch (H5Tget_class(type)) {
        case H5T_REFERENCE: {
            if (H5Tequal(type, H5T_STD_REF_OBJ) <= 0) {
                std::memset(data, 0, H5Tget_size(type));  // a region in what may have been cut: none
                return;
            }
            char name[1024] = {};
            const bool named = H5Rget_name(source_, H5R_OBJECT, data, name, sizeof name) > 0;
            std::memset(data, 0, sizeof(hobj_ref_t));
            if (named && open_object(target_, name).valid()) H5Rcreate(data, target_, name, H5R_OBJECT, -1);
            return;
        }
        case H5T_COMPOUND:
            for (int m = 0; m < H5Tget_nmembers(type); ++m) {
                Type member(H5Tget_member_type(type, static_cast<unsigned>(m)));
                translate(member, static_cast<std::byte*>(data) +
                                      H5Tget_member_offset(type, static_cast<unsigned>(m)));
            }
            return;
        case H5T_ARRAY: {
            Type element(H5Tget_super(type));
            const std::size_t size = H5Tget_size(element), count = H5Tget_size(type) / size;
            for (std::size_t i = 0; i < count; ++i)
                translate(element, static_cast<std::byte*>(data) + i * size);
            return;
        }
        case H5T_VLEN: {
            Type element(H5Tget_super(type));
            auto* list = static_cast<hvl_t*>(data);
            for (std::size_t i = 0; i < list->len; ++i)
                translate(element, static_cast<std::byte*>(list->p) + i * H5Tget_size(element));
            return;
        }
        default:
            return;
    }
}

void Copier::attribute(hid_t from, hid_t to, const std::string& name) {
    const std::string what = "attribute " + name + " cannot be copied";
    Attribute old(check(H5Aopen(from, name.c_str(), H5P_DEFAULT), where_, what));
    Type type(check(H5Tcopy(Type(H5Aget_type(old))), where_, what));
    Space space(check(H5Aget_space(old), where_, what));
    Attribute made(check(H5Acreate2(to, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), where_, what));
    const Index count = std::max<Index>(0, H5Sget_simple_extent_npoints(space));
    if (H5Sget_simple_extent_type(space) == H5S_NULL || count == 0) return;
    const auto values = std::make_shared<Buffer>(type, space, count);
    check(H5Aread(old, type, values->data()), where_, what);
    if (!has_class(type, H5T_REFERENCE)) {
        check(H5Awrite(made, type, values->data()), where_, what);
        return;
    }
    struct Waiting {  // the buffer goes first
        Type type;
        Space space;
        Attribute made;
        std::shared_ptr<Buffer> values;
    };
    auto waiting =
        std::make_shared<Waiting>(Waiting{std::move(type), std::move(space), std::move(made), values});
    later_.push_back([this, waiting, count, what] {
        const std::size_t size = H5Tget_size(waiting->type);
        for (Index i = 0; i < count; ++i)
            translate(waiting->type, waiting->values->data() + static_cast<std::size_t>(i) * size);
        check(H5Awrite(waiting->made, waiting->type, waiting->values->data()), where_, what);
        waiting->values.reset();
    });
}

void Copier::attributes(hid_t from, hid_t to) {
    for (const std::string& name : attribute_names(from)) {
        if (std::find(std::begin(plumbing), std::end(plumbing), name) != std::end(plumbing)) continue;
        if (!has_attribute(to, name)) attribute(from, to, name);
    }
}

bool Copier::dataset(hid_t from, const std::string& path, const Cut& cut) {
    Type type(check(H5Tcopy(Type(H5Dget_type(from))), where_, path + " cannot be copied"));
    const auto stored = dataset_extents(from);
    std::vector<Index> dims = stored.value_or(std::vector<Index>{});
    Cut kept = cut;
    kept.resize(std::max<std::size_t>(1, dims.size()));
    Index total = stored ? 1 : 0;
    for (std::size_t a = 0; a < dims.size(); ++a)
        total *= dims[a] = kept[a].size(dims[a]);
    Dataset made = make_like(from, type, dims, target_, path, where_);
    attributes(from, made);
    Plist create(H5Dget_create_plist(from));
    const bool nothing = H5Dget_storage_size(from) == 0 && H5Pget_layout(create) != H5D_VIRTUAL;
    if (total == 0 || nothing) return true;  // a length without values
    if (!has_class(type, H5T_REFERENCE)) return values(from, made, kept, path);
    auto both = std::make_shared<std::pair<Dataset, Dataset>>(
        Dataset(
            check(H5Dopen2(source_, path_of(from).c_str(), H5P_DEFAULT), where_, path + " cannot be copied")),
        std::move(made));
    later_.push_back([this, both, kept, path] { values(both->first, both->second, kept, path); });
    return true;
}

/// The values of a dataset that is made, piece by piece.
bool Copier::values(hid_t from, hid_t made, const Cut& kept, const std::string& path) {
    Type type(H5Dget_type(from));
    const std::vector<Index> dims = *dataset_extents(from), out_dims = *dataset_extents(made);
    Index row = 1;  // elements of one step along the first axis, as stored
    for (std::size_t a = 1; a < dims.size(); ++a)
        row *= dims[a];
    const Index size = static_cast<Index>(H5Tget_size(type)), rows = dims.empty() ? 1 : out_dims[0];
    const Index most = std::max<Index>(1, (4 << 20) / std::max<Index>(1, row * size));
    const bool refers = has_class(type, H5T_REFERENCE);
    for (Index at = 0, count = 0; at < rows; at += count) {
        count = dims.empty() ? 1 : even_steps(kept[0], dims[0], at, most);
        Space in(H5Dget_space(from)), out(H5Dget_space(made));
        if (!dims.empty()) {
            select(in, dims, kept[0], at, count);
            select(out, out_dims, {}, at, count);
        }
        const hsize_t flat = static_cast<hsize_t>(count * row);
        Space memory(H5Screate_simple(1, &flat, nullptr));
        Buffer buffer(type, memory, count * row);
        if (H5Dread(from, type, memory, in, H5P_DEFAULT, buffer.data()) < 0) {
            warn(where_, path + " cannot be read and is left out (" + innermost_message() + ")");
            H5Ldelete(target_, path.c_str(), H5P_DEFAULT);
            return false;
        }
        for (Index i = 0; refers && i < count * row; ++i)
            translate(type, buffer.data() + i * size);
        herr_t status = 0;
        if (dims.size() > 1 && !kept[1].all) {
            const Index tail = row / dims[1];
            const auto part = cut_columns(buffer.data(), count, dims[1], tail * size, kept[1]);
            const hsize_t less = static_cast<hsize_t>(count * out_dims[1] * tail);
            Space narrow(H5Screate_simple(1, &less, nullptr));
            status = H5Dwrite(made, type, narrow, out, H5P_DEFAULT, part.data());
        } else {
            status = H5Dwrite(made, type, memory, out, H5P_DEFAULT, buffer.data());
        }
        check(status, where_, path + " cannot be copied");
    }
    return true;
}

void Copier::finish() {
    for (const auto& act : later_)
        act();
    later_.clear();
}

}  // namespace convoy::io::h5
