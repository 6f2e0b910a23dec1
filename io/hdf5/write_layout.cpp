// Everything in an HDF5 output but its samples, made before the first of them.
#include <algorithm>
#include <limits>

#include "io/hdf5/gathering.hpp"
#include "io/hdf5/source.hpp"
#include "io/hdf5/write.hpp"
#include "io/timestamp.hpp"

namespace convoy::io::h5 {

Change change_of(const OutputSpec& spec) {
    Change c;
    c.rate = spec.rate;
    c.first = spec.time_first;
    c.step = spec.time_step;
    c.up = spec.time_up;
    c.time_axis = spec.time_axis;
    c.frames_in = c.frames_out = spec.dims.empty() ? spec.shape.frames : spec.dims[spec.time_axis];
    c.channels_in = c.channels_out = spec.shape.lanes() / (spec.complex ? 2 : 1);
    if (!spec.source) return c;
    const Recording& r = spec.source->recording();
    c.frames_in = r.shape.frames;
    c.selected = spec.selected.empty() ? spec.source->origin().recording().selected : spec.selected;
    c.scaled = !spec.raw && !r.scaling.trivial();
    c.raw = spec.raw;
    c.start = r.start_time;
    return c;
}

namespace {

Type stored_type(const OutputSpec& spec) {
    const auto plain = [&] {
        switch (spec.type) {
            case SampleType::int16:
                return H5T_STD_I16LE;
            case SampleType::int32:
                return H5T_STD_I32LE;
            case SampleType::float32:
                return H5T_IEEE_F32LE;
            default:
                return H5T_IEEE_F64LE;
        }
    }();
    if (!spec.complex) return Type(H5Tcopy(plain));
    const std::size_t size = static_cast<std::size_t>(bytes_of(spec.type));
    Type complex(H5Tcreate(H5T_COMPOUND, 2 * size));
    H5Tinsert(complex, "r", 0, plain);  // as h5py and NumPy have it
    H5Tinsert(complex, "i", size, plain);
    return complex;
}

Dataset make_dataset(hid_t file, const OutputSpec& spec, const std::vector<Index>& chunk) {
    const std::string& where = spec.path;
    const std::string what = spec.dataset + " cannot be made";
    const std::vector<hsize_t> dims(spec.dims.begin(), spec.dims.end());
    Space space(check(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), where, what));
    Plist create(H5Pcreate(H5P_DATASET_CREATE));
    check(H5Pset_fill_time(create, H5D_FILL_TIME_NEVER), where, what);
    if (chunk.empty()) {
        check(H5Pset_layout(create, H5D_CONTIGUOUS), where, what);
        check(H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY), where, what);  // its place is fixed now
    } else {
        const std::vector<hsize_t> extents(chunk.begin(), chunk.end());
        check(H5Pset_chunk(create, static_cast<int>(extents.size()), extents.data()), where, what);
        if (const auto level = gzip_level(spec)) {
            check(H5Pset_shuffle(create), where, what);
            check(H5Pset_deflate(create, static_cast<unsigned>(*level)), where, what);
        }
    }
    for (std::string above = spec.dataset; above != "/"; above = parent_of(above)) {
        const Object there = open_object(file, above);
        if (there.valid() && (above == spec.dataset || kind_of(there) != ObjectKind::group))
            throw usage_error("the input has something else at " + above + ", which travels to the output",
                              "name the result with --out-dataset", where);
    }
    make_groups(file, parent_of(spec.dataset), where);
    return Dataset(check(
        H5Dcreate2(file, spec.dataset.c_str(), stored_type(spec), space, H5P_DEFAULT, create, H5P_DEFAULT),
        where, what));
}

void add_provenance(hid_t file, const OutputSpec& spec) {
    make_groups(file, "/convoy", spec.path);
    Object group = open_object(file, "/convoy");
    set_text(group, "version", CONVOY_VERSION, spec.path);
    for (const auto& [name, text] : spec.provenance)
        set_text(group, name, text, spec.path);
    if (!spec.identity.empty()) set_text(group, "identity", spec.identity, spec.path);
    if (spec.taps.empty()) return;
    const hsize_t count = spec.taps.size();
    Space space(H5Screate_simple(1, &count, nullptr));
    Dataset taps(
        check(H5Dcreate2(group, "taps", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              spec.path, "/convoy/taps cannot be made"));
    check(H5Dwrite(taps, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, spec.taps.data()), spec.path,
          "/convoy/taps cannot be written");
}

/// An HDF5 source, opened once more for what travels.
struct Origin {
    Source source;
    hid_t home, signal;
};
std::optional<Origin> origin_of(const OutputSpec& spec) {
    if (!spec.source) return std::nullopt;
    const Recording& r = spec.source->origin().recording();
    if (r.dataset.empty()) return std::nullopt;
    Source source = open_source(r.path, r.dataset);
    const hid_t home = source.home.valid() ? source.home : source.file, signal = source.dataset;
    return Origin{std::move(source), home, signal};
}

/// Attributes of the groups above the signal, for a result that does not stand in them: nearest first.
void inherit_attributes(Copier& copier, const Origin& origin, hid_t dataset) {
    copier.attributes(origin.signal, dataset);
    for (std::string path = path_of(origin.signal); path != "/";) {
        path = parent_of(path);
        Object group = open_object(origin.home, path);
        if (group.valid()) copier.attributes(group, dataset);
    }
    for (const char* name : {"DIMENSION_LABELS", "Dimensions", "dims"})  // of other axes
        if (has_attribute(dataset, name)) H5Adelete(dataset, name);
}

// CF: of the type that is stored.
void set_fill_value(hid_t dataset, const std::string& where) {
    constexpr const char* what = "attribute _FillValue cannot be written";
    constexpr std::int16_t value = std::numeric_limits<std::int16_t>::min();
    if (has_attribute(dataset, "_FillValue")) H5Adelete(dataset, "_FillValue");
    Space space(check(H5Screate(H5S_SCALAR), where, what));
    Attribute made(check(H5Acreate2(dataset, "_FillValue", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT),
                         where, what));
    check(H5Awrite(made, H5T_NATIVE_INT16, &value), where, what);
}

void describe(hid_t dataset, const OutputSpec& spec) {
    const std::string& where = spec.path;
    for (const auto& [name, text] : spec.attributes)
        set_text(dataset, name, text, where);
    if (spec.rate) set_number(dataset, "sampling_rate", *spec.rate, where);
    if (spec.scale_factor != 0) set_number(dataset, "scale_factor", spec.scale_factor, where);
    if (spec.marks_nan) set_fill_value(dataset, where);
    if (!spec.source) return;
    const Recording& r = spec.source->recording();
    for (const auto& [name, text] : r.tags)
        if (!has_attribute(dataset, name)) set_text(dataset, name, text, where);
    if (!r.start_time) return;
    // That of time 0 on the scale, which a part of a longer recording begins after.
    const auto start = parse_timestamp(*r.start_time);
    const double before = r.rate ? r.time_first : 0;
    if (!has_attribute(dataset, "start_time"))
        set_text(dataset, "start_time",
                 start && before != 0 ? to_iso8601(later(*start, -before)) : *r.start_time, where);
    if (!has_attribute(dataset, "start_time_source"))
        set_text(dataset, "start_time_source", r.start_time_source, where);
}

}  // namespace

File make_file(const PartFile& part) {
    Plist access(H5Pcreate(H5P_FILE_ACCESS)), create(H5Pcreate(H5P_FILE_CREATE));
    const std::string& where = part.final_path();
    // 1.8 is old enough for every reader, and holds attributes of any size.
    check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), where, "cannot be made");
    gather_writes(access, part.file().descriptor(), where);
    check(H5Pset_alignment(access, 1 << 16, 4096), where, "cannot be made");  // samples start on a page
    H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);  // netCDF wants it
    File made(check(H5Fcreate(part.path().c_str(), H5F_ACC_TRUNC, create, access), where, "cannot be made"));
    // ext4 writes a truncated file to the disk when it is closed next; here there is nothing in it yet.
    io::File::reading(part.path());
    return made;
}

Index samples_place(const PartFile& part, const OutputSpec& spec) {
    const auto refused = [&] {
        return failed(spec.path, part.path() + " is not what its journal tells", "--overwrite starts anew");
    };
    const Lock lock;
    Plist access(H5Pcreate(H5P_FILE_ACCESS));
    check(H5Pset_file_locking(access, false, true), spec.path, "cannot be opened");  // locked by ourselves
    const File file(H5Fopen(part.path().c_str(), H5F_ACC_RDONLY, access));
    if (!file.valid()) throw refused();
    const Dataset dataset(H5Dopen2(file, spec.dataset.c_str(), H5P_DEFAULT));
    if (!dataset.valid() || dataset_extents(dataset) != std::optional(spec.dims)) throw refused();
    const Type there(H5Dget_type(dataset)), here(stored_type(spec));
    const haddr_t place = H5Dget_offset(dataset);
    if (H5Tequal(there, here) <= 0 || place == HADDR_UNDEF) throw refused();
    return static_cast<Index>(place);
}

std::string identity_in(const std::string& path) {
    const Lock lock;
    const File file = open_file(path);
    const Object group = open_object(file, "/convoy");
    const auto identity = group.valid() ? attribute(group, "identity") : std::nullopt;
    return identity ? identity->text() : std::string{};
}

Dataset lay_out(hid_t file, const OutputSpec& spec, const std::vector<Index>& chunk) {
    const std::optional<Origin> origin = origin_of(spec);
    Change change = change_of(spec);
    std::vector<std::vector<std::string>> scales;
    if (!origin) {
        Dataset dataset = make_dataset(file, spec, chunk);
        attach_scales(file, dataset, spec, scales);
        describe(dataset, spec);
        add_provenance(file, spec);
        return dataset;
    }
    const auto extents = dataset_extents(origin->signal).value_or(std::vector<Index>{});
    change.channels_in = 1;
    for (std::size_t a = 0; a < extents.size(); ++a)
        if (static_cast<int>(a) == spec.time_axis && spec.signal)
            change.frames_in = extents[a];
        else
            change.channels_in *= extents[a];
    Type old(H5Dget_type(origin->signal)), now(stored_type(spec));
    change.retyped = H5Tequal(old, now) <= 0;
    Copier copier(origin->home, file, spec.source->origin().recording().label());
    const bool same_axes = spec.signal && !spec.own_axes;
    if (same_axes) travel(spec, change, copier, origin->home, origin->signal, file, scales);
    Dataset dataset = make_dataset(file, spec, chunk);
    if (same_axes)
        copier.attributes(origin->signal, dataset);
    else
        inherit_attributes(copier, *origin, dataset);
    make_true(dataset, change, Place::signal, spec.path);
    copier.finish();
    attach_scales(file, dataset, spec, scales);
    describe(dataset, spec);
    add_provenance(file, spec);
    return dataset;
}

}  // namespace convoy::io::h5
