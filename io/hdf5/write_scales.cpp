// Dimension scales of the output, and small helpers of the writer.
#include <hdf5_hl.h>

#include <algorithm>

#include "core/base/quantity.hpp"
#include "io/hdf5/write.hpp"

namespace convoy::io::h5 {
namespace {

/// Whether the values of a scale are worth their space: a long time axis of few channels would double the
/// file. Its scale then is a length with first value and step in attributes.
bool with_values(const Axis& axis, Index extent, const OutputSpec& spec) {
    const Index bytes = extent * Index{sizeof(double)}, data = spec.shape.samples() * bytes_of(spec.type);
    return !axis.values.empty() || bytes <= std::max<Index>(1 << 20, data / 16);
}

/// The values in pieces: beside many channels a scale may be as long as memory.
void write_values(hid_t scale, hid_t space, const Axis& axis, Index extent, const std::string& where,
                  const std::string& path) {
    constexpr Index piece = 1 << 15;
    std::vector<double> values;
    for (Index at = 0; at < extent; at += piece) {
        values.assign(static_cast<std::size_t>(std::min(piece, extent - at)), 0);
        for (Index i = 0; i < static_cast<Index>(values.size()); ++i)
            if (axis.values.empty())
                values[i] = axis.first + static_cast<double>(at + i) * axis.step;
            else if (at + i < static_cast<Index>(axis.values.size()))
                values[i] = axis.values[at + i];
        const auto first = static_cast<hsize_t>(at), count = static_cast<hsize_t>(values.size());
        const Space memory(check(H5Screate_simple(1, &count, nullptr), where, path + " cannot be written"));
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr), where,
              path + " cannot be written");
        check(H5Dwrite(scale, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), where,
              path + " cannot be written");
    }
}

Dataset make_scale(hid_t file, const std::string& path, const Axis& axis, Index extent,
                   const OutputSpec& spec) {
    const hsize_t length = static_cast<hsize_t>(extent);
    Space space(H5Screate_simple(1, &length, nullptr));
    Dataset scale(
        check(H5Dcreate2(file, path.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              spec.path, path + " cannot be made"));
    if (!axis.units.empty()) set_text(scale, "units", axis.units, spec.path);
    if (!with_values(axis, extent, spec)) {
        set_number(scale, "first", axis.first, spec.path);
        set_number(scale, "step", axis.step, spec.path);
        return scale;
    }
    write_values(scale, space, axis, extent, spec.path, path);
    return scale;
}

/// A dataset of that name that fits already, or a new one under the name, or one beside it.
std::string place_for(hid_t file, const std::string& group, const std::string& name, Index extent,
                      bool& there) {
    for (int attempt = 0;; ++attempt) {
        const std::string path =
            (group == "/" ? "" : group) + "/" + name + (attempt ? "_" + to_text(Index{attempt}) : "");
        Object found = open_object(file, path);
        there = found.valid() && kind_of(found) == ObjectKind::dataset &&
                dataset_extents(found) == std::vector<Index>{extent};
        if (there || !found.valid()) return path;
    }
}

}  // namespace

Index scale_bytes(const OutputSpec& spec) {
    Index bytes = 0;
    for (std::size_t a = 0; a < std::min(spec.axes.size(), spec.dims.size()); ++a)
        if (with_values(spec.axes[a], spec.dims[a], spec)) bytes += spec.dims[a] * Index{sizeof(double)};
    return bytes;
}

void attach_scales(hid_t file, hid_t dataset, const OutputSpec& spec,
                   const std::vector<std::vector<std::string>>& scales) {
    const std::string group = parent_of(spec.dataset);
    for (std::size_t a = 0; a < spec.dims.size(); ++a) {
        std::vector<std::string> paths = a < scales.size() ? scales[a] : std::vector<std::string>{};
        std::string name;
        if (paths.empty() && a < spec.axes.size()) {
            const Axis& axis = spec.axes[a];
            bool there = false;
            paths = {place_for(file, group, axis.name, spec.dims[a], there)};
            name = axis.name;
            if (!there) make_scale(file, paths[0], axis, spec.dims[a], spec);
        }
        for (const std::string& path : paths) {
            Dataset scale(
                check(H5Dopen2(file, path.c_str(), H5P_DEFAULT), spec.path, path + " is not there"));
            if (!is_scale(scale)) {
                if (name.empty()) name = last_of(path);
                check(H5DSset_scale(scale, name.c_str()), spec.path,
                      path + " cannot be made a dimension scale");
            }
            check(H5DSattach_scale(dataset, scale, static_cast<unsigned>(a)), spec.path,
                  path + " cannot be attached");
        }
        if (!name.empty() && axis_label(dataset, static_cast<int>(a)).empty())
            check(H5DSset_label(dataset, static_cast<unsigned>(a), name.c_str()), spec.path,
                  "axis cannot be labelled");
    }
}

void make_groups(hid_t file, const std::string& path, const std::string& where) {
    if (path == "/" || path.empty() || open_object(file, path).valid()) return;
    make_groups(file, parent_of(path), where);
    Plist create(H5Pcreate(H5P_GROUP_CREATE));
    H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);  // netCDF wants it
    Group made(check(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, create, H5P_DEFAULT), where,
                     path + " cannot be made"));
}

void set_text(hid_t object, const std::string& name, const std::string& text, const std::string& where) {
    const std::string what = "attribute " + name + " cannot be written";
    if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
    Type type(check(H5Tcopy(H5T_C_S1), where, what));
    check(H5Tset_size(type, H5T_VARIABLE), where, what);
    check(H5Tset_cset(type, H5T_CSET_UTF8), where, what);
    Space space(check(H5Screate(H5S_SCALAR), where, what));
    Attribute made(
        check(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), where, what));
    const char* data = text.c_str();
    check(H5Awrite(made, type, &data), where, what);
}

void set_number(hid_t object, const std::string& name, double number, const std::string& where) {
    const std::string what = "attribute " + name + " cannot be written";
    if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
    Space space(check(H5Screate(H5S_SCALAR), where, what));
    Attribute made(check(H5Acreate2(object, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT),
                         where, what));
    check(H5Awrite(made, H5T_NATIVE_DOUBLE, &number), where, what);
}

}  // namespace convoy::io::h5
