// The step `select`: some channels, a part of the time.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "pipelines/steps/arith_input.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "channels", .value = "LIST", .help = "channels to keep, in that order: 0,2,5-9,100-1100:4"},
    {.name = "start",
     .kind = Kind::time,
     .value = "TIME",
     .help = "first moment that is kept, from the input's first sample"},
    {.name = "end", .kind = Kind::time, .value = "TIME", .help = "end, exclusive"},
    {.name = "duration", .kind = Kind::time, .value = "TIME", .help = "length of what is kept"},
};

// A time as frames of what flows in.
Index frames_of(const Params& p, std::string_view name, const Flow& flow) {
    const Time time = *p.time_if(name);
    if (time.unit == Time::Unit::absolute)
        throw usage_error(p.spelled(name) + " is a date",
                          "select takes seconds from the input's first sample");
    if (time.unit == Time::Unit::samples) return static_cast<Index>(time.value);
    return std::llround(time.value * flow.rate_for("select by time"));
}

Span frames_kept(const Params& p, const Flow& flow) {
    const Index all = flow.shape.frames;
    if (p.given("end") && p.given("duration"))
        throw usage_error(p.spelled("end") + " and " + p.spelled("duration") + " exclude each other",
                          "give one of them");
    const Index first = p.given("start") ? frames_of(p, "start", flow) : 0;
    Index end = all;
    if (p.given("end")) end = frames_of(p, "end", flow);
    if (p.given("duration")) end = first + frames_of(p, "duration", flow);
    end = std::min(end, all);
    if (first < 0 || first >= end)
        throw usage_error("select keeps nothing: from sample " + to_text(first) + " to " + to_text(end) +
                              " of " + to_text(all),
                          "choose a part within the signal", flow.label);
    return {first, end - first};
}

// The axis of channels; none in a signal that has only time.
std::size_t channel_axis(const Flow& flow) {
    if (!flow.signal || flow.dims.size() > 2)
        throw usage_error("select finds no axis of channels in what flows in",
                          "put it before steps that make images", flow.label);
    return flow.time_axis == 0 ? 1 : 0;
}

void keep_channels(const std::vector<Index>& kept, Flow& flow) {
    const std::size_t axis = channel_axis(flow);
    if (flow.dims.size() < 2) return;
    std::vector<Index> selected;
    std::vector<double> values;
    const auto& old = flow.axes[axis];
    for (const Index c : kept) {
        const auto i = static_cast<std::size_t>(c);
        selected.push_back(flow.selected.empty() ? c : flow.selected[i]);
        values.push_back(old.values.empty() ? old.first + static_cast<double>(c) * old.step : old.values[i]);
    }
    for (auto* list : {&flow.scaling.gain, &flow.scaling.offset}) {
        if (list->size() < 2) continue;
        const std::vector<double> all = *list;
        list->clear();
        for (const Index c : kept)
            list->push_back(all[static_cast<std::size_t>(c)]);
    }
    flow.selected = std::move(selected);
    flow.axes[axis].values = std::move(values);
    flow.dims[axis] = static_cast<Index>(kept.size());
}

Planned plan(const Params& p, Flow& flow, const Execution&) {
    const arith::Input input{flow.shape, flow.type, flow.complex, {}, flow.type, channel_rows(flow)};
    std::vector<Index> channels;
    if (p.given("channels")) {
        channel_axis(flow);
        channels = io::parse_channels(p.text("channels"), input.channels(), flow.label);
        if (channels.size() > 1 && flow.dims.size() < 2)
            throw usage_error("select makes several channels of a signal that has no axis for them",
                              "take one", flow.label);
    }
    const Span frames = frames_kept(p, flow);

    Planned planned;
    planned.stage = arith::pick(input, channels, frames);
    if (!channels.empty()) {
        planned.notes.emplace_back("channels", p.text("channels"));
        keep_channels(channels, flow);
    }
    planned.notes.emplace_back("first_frame", to_text(frames.first));
    planned.notes.emplace_back("frames", to_text(frames.count));
    const auto time = static_cast<std::size_t>(flow.time_axis);
    flow.shape = planned.stage->shape();
    flow.dims[time] = frames.count;
    flow.axes[time].first += static_cast<double>(frames.first) * flow.axes[time].step;
    flow.time_first += frames.first * flow.time_step;
    return planned;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned& planned) {
    namespace py = pipelines::python;
    std::string code;
    if (const int axis = py::channel_axis(in); p.given("channels") && axis >= 0) {
        const Index channels = in.shape.lanes() / (in.complex ? 2 : 1);
        code = "x = np.take(x, " + py::list(io::parse_channels(p.text("channels"), channels, in.label)) +
               ", axis=" + std::to_string(axis) + ")\n";
    }
    const Index first = parse_integer(py::note(planned, "first_frame")).value_or(0),
                count = parse_integer(py::note(planned, "frames")).value_or(0);
    return {code + "x = " + py::slice(in.time_axis, to_text(first) + ":" + to_text(first + count)), {}};
}

}  // namespace

extern constinit const Step select{
    "select", "keep some channels, or a part of the time", params, plan, false, "channels", true, python};

}  // namespace convoy::step
