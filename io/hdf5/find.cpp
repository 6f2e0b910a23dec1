// Finding the signal in a file.
#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <set>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "io/hdf5/source.hpp"

namespace convoy::io::h5 {

namespace {
Index product(const std::vector<Index>& dims) {
    return std::accumulate(dims.begin(), dims.end(), Index{1}, std::multiplies<>());
}

/// "a//b/" as "/a/b".
std::string normal(const std::string& path) {
    std::string out;
    for (const std::string& part : split(path, '/'))
        if (!part.empty() && part != ".") out += "/" + part;
    return out.empty() ? "/" : out;
}

/// Calls visit(path, object) for each group and dataset once: those reached by hard links first, under that
/// name.
void walk(hid_t file, const std::string& start, const std::function<void(const std::string&, hid_t)>& visit) {
    std::set<Identity> seen;
    std::deque<std::string> groups;
    std::vector<std::string> soft;  // soft and external links, for when hard links are through
    const auto enter = [&](const std::string& path) {
        Object object = open_object(file, path);
        if (!object.valid() || !seen.insert(identity(object)).second) return;
        if (kind_of(object) == ObjectKind::group) groups.push_back(path);
        visit(path, object);
    };
    enter(start);
    while (!groups.empty() || !soft.empty()) {
        if (groups.empty()) {
            const std::string next = soft.back();
            soft.pop_back();
            enter(next);
            continue;
        }
        const std::string group = groups.front();
        groups.pop_front();
        Object open = open_object(file, group);
        for (const Link& link : links(open, group)) {
            if (group == "/" && link.name == "convoy") continue;  // what made the file: taps, no signal
            if (link.kind == Link::Kind::hard)
                enter(join_path(group, link.name));
            else
                soft.push_back(join_path(group, link.name));
        }
    }
}

struct Candidate {
    std::string path;
    std::vector<Index> dims;
    bool rated_series = false;  // `data` of an NWB time series
};

std::optional<Candidate> as_candidate(const std::string& path, hid_t dataset) {
    Type type(H5Dget_type(dataset));
    const auto dims = dataset_extents(dataset);
    if (!element_of(type) || !dims || dims->empty() || product(*dims) == 1 || is_scale(dataset))
        return std::nullopt;
    static const std::set<std::string> auxiliary = {
        "time",         "times",      "timestamps",         "timestamp",
        "gps_time",     "posix_time", "channel_conversion", "electrodes",
        "starting_time"};
    const std::string name = last_of(path);
    if (auxiliary.contains(name) || name.ends_with("DataTime") || lower(name).ends_with("mask"))
        return std::nullopt;
    return Candidate{path, *dims, false};
}

bool is_nwb_series(hid_t file, const std::string& path) {
    if (last_of(path) != "data") return false;
    Object group = open_object(file, parent_of(path));
    const auto kind = group.valid() ? attribute(group, "neurodata_type") : std::nullopt;
    return kind && kind->text().ends_with("Series");
}

/// Leaves out vectors that run along an axis of another candidate: distances, channel numbers.
void drop_coordinates(std::vector<Candidate>& found) {
    std::set<Index> lengths;
    for (const Candidate& c : found)
        if (c.dims.size() > 1) lengths.insert(c.dims.begin(), c.dims.end());
    std::erase_if(found,
                  [&](const Candidate& c) { return c.dims.size() == 1 && lengths.contains(c.dims[0]); });
}

/// Why `path` cannot be opened, looked for from the root on.
Error why_not_there(hid_t file, const std::string& where, const std::string& path) {
    std::string at;
    for (const std::string& part : split(path.substr(1), '/')) {
        const std::string next = at + "/" + part;
        const auto link = link_at(file, next);
        if (!link) break;
        at = next;
        if (open_object(file, at).valid()) continue;
        if (link->kind == Link::Kind::external)
            return failed(
                where, "is a link to " + link->target_file + ":" + link->target + ", which cannot be opened",
                "put that file beside this one");
        if (link->kind == Link::Kind::soft)
            return failed(where, "is a link to " + link->target + ", which is not there");
        return error(where, "cannot be opened");
    }
    std::vector<std::string> names;
    for (const std::string& c : candidates(file, "/"))
        names.push_back(c);
    const std::string near = nearest(path, names);
    const std::string& offered = near.empty() && !names.empty() ? names.front() : near;
    return failed(where, "the file has no such dataset",
                  offered.empty() ? "h5ls -r lists what it has" : "it has " + offered);
}

/// All datasets at and below a group.
std::vector<std::string> datasets(hid_t file, const std::string& group) {
    std::vector<std::string> paths;
    walk(file, group, [&](const std::string& path, hid_t object) {
        if (kind_of(object) == ObjectKind::dataset) paths.push_back(path);
    });
    return paths;
}

std::string only_candidate(hid_t file, const std::string& path, const std::string& group) {
    const std::vector<std::string> found = candidates(file, group);
    const std::string where = group == "/" ? path : path + ":" + group;
    if (found.size() == 1) return found.front();
    if (found.empty()) {  // the only dataset that there is says itself why it is none
        if (const auto there = datasets(file, group); there.size() == 1) return there.front();
        throw failed(where, "no dataset in it can be a signal", "name one: FILE:/path/to/dataset");
    }
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 8); ++i)
        list += (i > 0 ? ", " : "") + found[i];
    if (found.size() > 8) list += ", ... (" + std::to_string(found.size()) + ")";
    throw failed(where, "several datasets can be the signal: " + list,
                 "name one: " + path + ":" + found.front());
}

std::string file_name(hid_t file, const std::string& where) {
    const ssize_t length = check(H5Fget_name(file, nullptr, 0), where, "cannot be opened");
    std::string name(static_cast<std::size_t>(length), '\0');
    check(H5Fget_name(file, name.data(), name.size() + 1), where, "cannot be opened");
    return name;
}

void check_signal(Source& source) {
    Type type(check(H5Dget_type(source.dataset), source.where, "the dataset's type cannot be read"));
    const auto element = element_of(type);
    const auto dims = dataset_extents(source.dataset);
    if (!element)
        throw failed(source.where, "holds " + type_text(type) + ", no samples that can be filtered",
                     "name a dataset of integers, floats, or complex numbers (r, i)");
    if (!dims) throw failed(source.where, "is empty: it has a type and no samples (null dataspace)");
    if (dims->empty()) throw failed(source.where, "holds a single value, no signal");
    if (product(*dims) == 0)
        throw failed(source.where, "is empty: no samples (its extent is " + extents_text(*dims) + ")");
    source.element = *element;
    source.dims = *dims;
}
}  // namespace

std::vector<std::string> candidates(hid_t file, const std::string& group) {
    Lock lock;
    std::vector<Candidate> found;
    walk(file, group, [&](const std::string& path, hid_t object) {
        if (kind_of(object) != ObjectKind::dataset) return;
        if (auto c = as_candidate(path, object)) {
            c->rated_series = is_nwb_series(file, path);
            found.push_back(std::move(*c));
        }
    });
    const auto series = [](const Candidate& c) { return c.rated_series; };
    if (std::any_of(found.begin(), found.end(), series)) std::erase_if(found, std::not_fn(series));
    drop_coordinates(found);
    std::vector<std::string> paths;
    for (const Candidate& c : found)
        paths.push_back(c.path);
    std::sort(paths.begin(), paths.end());
    return paths;
}

Source open_source(const std::string& path, const std::string& wanted) {
    Lock lock;
    Source source;
    source.path = path;
    source.file = open_file(path);
    source.name = normal(wanted);
    source.where = path + ":" + source.name;
    Object object = open_object(source.file, source.name);
    if (!object.valid()) throw why_not_there(source.file, source.where, source.name);
    if (kind_of(object) == ObjectKind::group) {
        source.name = only_candidate(source.file, path, source.name);
        source.where = path + ":" + source.name;
        object = open_object(source.file, source.name);
    }
    if (kind_of(object) != ObjectKind::dataset) throw failed(source.where, "is no dataset");

    object.reset();
    source.dataset = open_dataset(source.file, source.name, source.where);
    source.home = File(check(H5Iget_file_id(source.dataset), source.where, "cannot be opened"));
    source.home_path = file_name(source.home, path);
    source.home_name = path_of(source.dataset);
    check_signal(source);
    return source;
}

}  // namespace convoy::io::h5
