// What the axes of an image are.
#include <algorithm>
#include <array>
#include <cmath>

#include "io/hdf5/metadata.hpp"

namespace convoy::io::h5 {

namespace {

// Values that are kept: more of them (8 MiB) would not be small beside the image.
constexpr Index most_values = Index{1} << 20;

/// Values as a first one and a step, where they are: to the precision that a step of time stamps has.
bool is_uniform(const std::vector<double>& values, double step) {
    const double near = 1e-6 * std::abs(step);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!(std::abs(values[i] - (values[0] + static_cast<double>(i) * step)) <= near)) return false;
    return true;
}

std::optional<Axis> axis_of(const Source& source, const std::string& path, Index extent) {
    Object scale = open_object(source.home, path);
    if (!scale.valid() || dataset_extents(scale) != std::vector<Index>{extent}) return std::nullopt;
    Axis axis;
    axis.name = last_of(path);
    axis.units = units_of(scale);
    if (const auto even = even_scale(scale)) {
        axis.first = even->first;
        axis.step = even->step;
        return axis;
    }
    const auto values = value(scale, most_values);
    if (!values || values->numbers.empty()) return std::nullopt;
    axis.first = values->numbers[0];
    if (extent > 1)
        axis.step = (values->numbers.back() - values->numbers[0]) / static_cast<double>(extent - 1);
    if (!is_uniform(values->numbers, axis.step)) axis.values = values->numbers;
    return axis;
}

}  // namespace

std::optional<EvenScale> even_scale(hid_t scale) {
    const auto first = attribute(scale, "first"), step = attribute(scale, "step");
    if (!first || !step || !first->number() || !step->number()) return std::nullopt;
    return EvenScale{*first->number(), *step->number()};
}

std::vector<Axis> image_axes(const Source& source) {
    Lock lock;
    static constexpr std::array names = {"image", "channel", "row", "column"};
    const auto scales = dimension_scales(source.dataset);
    const std::size_t rank = source.dims.size();
    std::vector<Axis> axes;
    for (std::size_t a = 0; a < rank; ++a) {
        Axis axis;
        axis.name = rank - a <= names.size() ? names[names.size() - (rank - a)] : "axis_" + std::to_string(a);
        if (const std::string label = axis_label(source.dataset, static_cast<int>(a)); !label.empty())
            axis.name = label;
        for (const std::string& path : a < scales.size() ? scales[a] : std::vector<std::string>{})
            if (auto found = axis_of(source, path, source.dims[a])) {
                axis = std::move(*found);
                break;
            }
        axes.push_back(std::move(axis));
    }
    return axes;
}

}  // namespace convoy::io::h5
