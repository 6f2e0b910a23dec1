// The description of what flows between steps.
#include "core/base/error.hpp"
#include "pipelines/step.hpp"

namespace convoy::pipelines {

double Flow::rate_for(std::string_view step) const {
    if (!signal) {
        const io::Axis& time = axes[static_cast<std::size_t>(time_axis)];
        if (time.units == "s" && time.values.empty() && time.step > 0) return 1 / time.step;
        throw usage_error(
            std::string(step) + " needs the times of an image's columns, and they are not known",
            "put it before the steps that make images", label);
    }
    if (rate) return *rate;
    throw usage_error(std::string(step) + " needs the sample rate, and none was found" +
                          (rate_looked_for.empty() ? "" : " (looked for: " + rate_looked_for + ")"),
                      "give --rate HZ", label);
}

Flow flow_of(const io::Recording& r) {
    Flow f;
    f.label = r.label();
    f.dataset = r.dataset.empty() ? "/audio" : r.dataset;
    f.dims = r.dims;
    f.time_axis = r.time_axis;
    f.shape = r.shape;
    f.type = r.type;
    f.complex = r.complex;
    f.wide = r.wide;
    f.scaling = r.scaling;
    f.rate = r.rate;
    f.rate_looked_for = r.rate_looked_for;
    f.selected = r.selected;
    f.axes = r.axes;
    for (int axis = static_cast<int>(f.axes.size()); axis < static_cast<int>(r.dims.size()); ++axis) {
        io::Axis a;
        if (axis == r.time_axis) {
            a.name = "time";
            a.units = r.rate ? "s" : "sample";
            a.step = r.rate ? 1 / *r.rate : 1;
            a.first = r.time_first;
        } else {
            a.name = r.dims.size() == 2 ? "channel" : "axis_" + std::to_string(axis);
            for (const Index channel : r.selected)
                a.values.push_back(static_cast<double>(channel));
        }
        f.axes.push_back(std::move(a));
    }
    return f;
}

}  // namespace convoy::pipelines
