// The step `mix`: channels added up by a matrix, or their mean.
#include "core/arith/arith.hpp"
#include "core/base/error.hpp"
#include "pipelines/steps/arith_input.hpp"
#include "pipelines/steps/python.hpp"

namespace convoy::step {

namespace {

using pipelines::Execution;
using pipelines::Flow;
using pipelines::Planned;

constexpr Param params[] = {
    {.name = "matrix",
     .value = "ROWS",
     .help = "one row an output channel, one weight a channel: 0.5,0.5;1,-1"},
    {.name = "mean", .kind = Kind::flag, .help = "one channel: the mean of all"},
};

std::vector<std::vector<double>> matrix_of(const Params& p, Index channels, const std::string& label) {
    const bool mean = p.flag("mean") || p.text("matrix") == "mean";
    if (mean == (p.given("matrix") && p.text("matrix") != "mean"))
        throw usage_error("mix needs one of matrix and mean",
                          "write mix: mean, or mix: {matrix: [[0.5, 0.5]]}");
    const auto count = static_cast<std::size_t>(channels);
    if (mean) return {std::vector<double>(count, 1.0 / static_cast<double>(channels))};
    std::vector<std::vector<double>> rows;
    for (const std::string& text : split(p.text("matrix"), ';')) {
        auto& row = rows.emplace_back();
        for (const std::string& word : split(text, ',')) {
            const auto weight = parse_number(word);
            if (!weight) throw usage_error(p.spelled("matrix") + ": '" + word + "' is not a number");
            row.push_back(*weight);
        }
        if (row.size() != count)
            throw usage_error(
                p.spelled("matrix") + ": a row has " + to_text(static_cast<Index>(row.size())) +
                    " weights, and there " +
                    (channels == 1 ? "is one channel" : "are " + to_text(channels) + " channels"),
                "give one weight a channel", label);
    }
    return rows;
}

Planned plan(const Params& p, Flow& flow, const Execution& execution) {
    if (!flow.signal || flow.dims.size() > 2)
        throw usage_error("mix finds no axis of channels in what flows in",
                          "put it before steps that make images", flow.label);
    const arith::Input input = pipelines::arith_input(flow, execution);
    const auto matrix = matrix_of(p, input.channels(), flow.label);
    Planned planned;
    planned.stage = arith::mix(input, matrix);
    planned.notes = {{"matrix", p.given("matrix") ? p.text("matrix") : "mean"}};
    pipelines::computed(flow, *planned.stage);
    if (flow.dims.size() == 2) {
        const std::size_t axis = flow.time_axis == 0 ? 1 : 0;
        flow.dims[axis] = static_cast<Index>(matrix.size());
        flow.axes[axis] = {"channel", "", 0, 1, {}};
    } else if (matrix.size() > 1) {
        throw usage_error("mix makes several channels of a signal that has no axis for them", "give one row",
                          flow.label);
    }
    flow.selected.clear();
    flow.own_axes = true;
    return planned;
}

pipelines::Python python(const Params& p, const Flow& in, const Planned&) {
    namespace py = pipelines::python;
    const int axis = py::channel_axis(in);
    const Index channels = in.shape.lanes() / (in.complex ? 2 : 1);
    std::string rows;
    const auto matrix = matrix_of(p, channels, in.label);
    for (const std::vector<double>& row : matrix)
        rows += (rows.empty() ? "" : ", ") + py::list(row);
    if (axis < 0) return {"x = x * " + to_text(matrix[0][0]), {}};
    return {"x = np.moveaxis(np.tensordot([" + rows + "], x, axes=(1, " + std::to_string(axis) + ")), 0, " +
                std::to_string(axis) + ")",
            {}};
}

}  // namespace

extern constinit const Step mix{
    "mix", "add channels up, by a matrix or as their mean", params, plan, false, "matrix", true, python};

}  // namespace convoy::step
