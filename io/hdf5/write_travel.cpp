// What travels from an HDF5 source: the tree around the signal with its attributes, dimension scales and
// small datasets, but not the bulk of other signals. Groups that hold such a one are left out whole: without
// it they would be broken.
#include <algorithm>
#include <map>
#include <set>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "io/hdf5/write_item.hpp"

namespace convoy::io::h5 {
namespace {

bool has_word(const std::string& name, std::initializer_list<std::string_view> words) {
    const std::string low = lower(name);
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view w) { return low.find(w) != low.npos; });
}
/// Names of what runs along time beside the samples: stamps, counters, marks of quality.
bool is_time_like(const std::string& name) {
    return has_word(name, {"time", "stamp", "clock", "gps", "utc", "epoch", "samplecount", "sample_count",
                           "sampleindex", "sample_index", "mask", "quality", "flag"});
}

class Walk {
  public:
    Walk(const OutputSpec& spec, const Change& change, Copier& copier, hid_t source, hid_t signal, hid_t file,
         std::vector<std::vector<std::string>>& scales)
        : spec_(spec),
          change_(change),
          copier_(copier),
          source_(source),
          file_(file),
          scales_(scales),
          where_(spec.source->origin().recording().label()),
          signal_(identity(signal)),
          signal_path_(path_of(signal)),
          dims_(dataset_extents(signal).value_or(std::vector<Index>{})) {
        const auto attached = dimension_scales(signal);
        scales_.assign(attached.size(), {});
        for (std::size_t axis = 0; axis < attached.size(); ++axis)
            for (const std::string& path : attached[axis])
                if (Object scale = open_object(source_, path); scale.valid())
                    scale_axes_[identity(scale)].insert(axis);
    }

    void run() {
        Object root = open_object(source_, "/");
        copier_.attributes(root, file_);
        make_true(file_, change_, Place::around, spec_.path);
        made_[identity(root)] = "/";
        group("/");
        for (const auto& [path, target] : soft_)
            if (open_object(file_, target[0] == '/' ? target : join_path(parent_of(path), target)).valid())
                H5Lcreate_soft(target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }

  private:
    bool above_signal(const std::string& path) const {
        return path == "/" || signal_path_.compare(0, path.size() + 1, path + "/") == 0;
    }

    /// A group of values about the signal, where the reader looks for its rate too.
    bool tells_of_signal(const std::string& path) const {
        const std::string name = last_of(path);
        return above_signal(parent_of(path)) &&
               has_word(name, {"meta", "header", "info", "server", "daq", "acquisition"});
    }

    void group(const std::string& path) {
        Object here = open_object(source_, path);
        for (const Link& link : links(here, where_)) {
            const std::string at = join_path(path, link.name);
            if (at == "/convoy") {
                earlier(at);
            } else if (link.kind == Link::Kind::soft) {
                soft_.emplace_back(at, link.target);
            } else if (link.kind == Link::Kind::hard) {
                object(at);
            }
        }
    }

    void object(const std::string& path) {
        Object from = open_object(source_, path);
        if (!from.valid() || identity(from) == signal_) return;
        const auto [known, first] = made_.try_emplace(identity(from), path);
        if (!first) {  // another name for what is there already
            if (open_object(file_, known->second).valid())
                H5Lcreate_hard(file_, known->second.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
            return;
        }
        switch (kind_of(from)) {
            case ObjectKind::group:
                return subgroup(from, path);
            case ObjectKind::dataset:
                return dataset(from, path);
            case ObjectKind::other:
                H5Ocopy(source_, path.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
                return;
        }
    }

    void subgroup(hid_t from, const std::string& path) {
        if (!above_signal(path))
            for (const Link& link : links(from, where_)) {
                Object inside = open_object(from, link.name);
                if (inside.valid() && kind_of(inside) == ObjectKind::dataset && identity(inside) != signal_ &&
                    !scale_axes_.count(identity(inside)) &&
                    is_bulk(inside, link.name, parent_of(path) == parent_of(signal_path_)))
                    return;
            }
        make_groups(file_, path, spec_.path);
        Object made = open_object(file_, path);
        copier_.attributes(from, made);
        if (above_signal(path))
            make_true(made, change_, Place::around, spec_.path);
        else if (tells_of_signal(path))
            make_true(made, change_, Place::apart, spec_.path);
        group(path);
    }

    void dataset(hid_t from, const std::string& path) {
        const auto axes = scale_axes_.find(identity(from));
        const bool beside = parent_of(path) == parent_of(signal_path_), scale = axes != scale_axes_.end();
        if (!scale && is_bulk(from, last_of(path), beside)) return;
        const auto extents = dataset_extents(from).value_or(std::vector<Index>{});
        Copier::Cut cut;
        if (scale && extents.size() == 1 && extents[0] == dims_[*axes->second.begin()])
            cut = {kept(*axes->second.begin())};
        else if (beside && !extents.empty())
            cut = {kept_beside(extents[0], last_of(path))};
        const bool times = !cut.empty() && cut[0].is_time, changed = !cut.empty() && !cut[0].all;
        const bool no_values = scale && has_attribute(from, "first") && has_attribute(from, "step");
        if ((times && !change_.within()) || (changed && no_values)) return;  // a new scale is made
        if (!copier_.dataset(from, path, cut)) return;
        Dataset made(H5Dopen2(file_, path.c_str(), H5P_DEFAULT));
        if (beside || scale) make_true(made, change_, Place::around, spec_.path);
        if (beside && last_of(path) == "channel_conversion" && change_.scaled) neutral(made);
        if (beside && last_of(path) == "starting_time" && change_.first != 0 && change_.rate)
            Item(file_, path, spec_.path, Item::Kind::dataset)
                .move(
                    static_cast<double>(change_.first) / static_cast<double>(change_.up) / change_.rate_in(),
                    0);
        const std::string group = parent_of(path);
        if (!scale && is_one(extents) && (above_signal(group) || tells_of_signal(group)))
            make_true(file_, path, change_, spec_.path);
        if (!scale) return;
        for (const std::size_t axis : axes->second)
            scales_[axis].push_back(path);
    }

    static bool is_one(const std::vector<Index>& extents) {
        return std::all_of(extents.begin(), extents.end(), [](Index n) { return n == 1; });
    }

    /// What stays along an axis of the signal.
    Copier::Kept kept(std::size_t axis) const {
        if (static_cast<int>(axis) == change_.time_axis && change_.moved())
            return {false, change_.first, change_.step, change_.frames_out, {}, true};
        if (static_cast<int>(axis) != change_.time_axis && !change_.selected.empty())
            return {false, 0, 1, 0, change_.selected, false};
        return {};
    }
    Copier::Kept kept_beside(Index extent, const std::string& name) const {
        if (extent == change_.frames_in && (is_time_like(name) || extent != change_.channels_in))
            return kept(static_cast<std::size_t>(change_.time_axis));
        if (extent == change_.channels_in && dims_.size() == 2 && extent > 1)
            return kept(change_.time_axis == 0 ? 1 : 0);
        return {};
    }

    /// Samples of another signal, or so much that it is none of a description.
    bool is_bulk(hid_t dataset, const std::string& name, bool beside) const {
        Type type(H5Dget_type(dataset));
        const auto extents = dataset_extents(dataset).value_or(std::vector<Index>{});
        Index count = 1;
        for (const Index extent : extents)
            count *= extent;
        const H5T_class_t kind = H5Tget_class(type);
        const bool numbers = kind == H5T_INTEGER || kind == H5T_FLOAT;
        const bool along_time = extents.size() == 1 && extents[0] == change_.frames_in;
        if (beside && along_time && (is_time_like(name) || !numbers)) return false;
        if (!numbers) return count * static_cast<Index>(H5Tget_size(type)) > (64 << 20);
        if (extents.empty() || count == 1 || is_scale(dataset)) return count > (1 << 24);
        // As many samples, the same name, or simply a lot: another signal.
        if (count > 65536 || (extents.size() > 1 && count > 8192) || name == last_of(signal_path_))
            return true;
        const bool as_long =
            std::any_of(extents.begin(), extents.end(), [&](Index n) { return n == change_.frames_in; });
        return as_long && (extents.size() > 1 || (!is_time_like(name) && extents[0] != change_.channels_in));
    }

    /// Factors that were applied: one each.
    void neutral(hid_t dataset) const {
        const auto extents = dataset_extents(dataset).value_or(std::vector<Index>{});
        Index count = 1;
        for (const Index extent : extents)
            count *= extent;
        const std::vector<double> ones(static_cast<std::size_t>(count), 1.0);
        check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data()), spec_.path,
              "channel_conversion cannot be rewritten");
    }

    /// How the source was made, where convoy made it. Piece by piece: H5Ocopy of HDF5 1.10 crashes on a group
    /// with more than eight attributes of variable length.
    void earlier(const std::string& path, const std::string& to = "/convoy/source") {
        Object from = open_object(source_, path);
        make_groups(file_, to, spec_.path);
        Object made = open_object(file_, to);
        copier_.attributes(from, made);
        for (const Link& link : links(from, where_)) {
            if (link.kind != Link::Kind::hard) continue;
            Object inside = open_object(source_, join_path(path, link.name));
            if (inside.valid() && kind_of(inside) == ObjectKind::group)
                earlier(join_path(path, link.name), join_path(to, link.name));
            if (inside.valid() && kind_of(inside) == ObjectKind::dataset)
                copier_.dataset(inside, join_path(to, link.name), {});
        }
    }

    const OutputSpec& spec_;
    const Change& change_;
    Copier& copier_;
    hid_t source_, file_;
    std::vector<std::vector<std::string>>& scales_;
    std::string where_;
    Identity signal_;
    std::string signal_path_;
    std::vector<Index> dims_;
    std::map<Identity, std::set<std::size_t>> scale_axes_;
    std::map<Identity, std::string> made_;
    std::vector<std::pair<std::string, std::string>> soft_;
};

}  // namespace

void travel(const OutputSpec& spec, const Change& change, Copier& copier, hid_t source, hid_t signal,
            hid_t file, std::vector<std::vector<std::string>>& scales) {
    Walk(spec, change, copier, source, signal, file, scales).run();
}

}  // namespace convoy::io::h5
